import { readFile, unlink, writeFile } from 'node:fs/promises';
import { Failure, fileFailure } from '../../failure.js';

/** A rotation that has begun: what the account's list of endpoints does not say. No secret is in it. */
export interface Rotation {
  /** Id of the endpoint whose secret is replaced. */
  first: string;
  /** Id of the endpoint with the new secret. */
  second: string;
  /** Where the new secret was put; none where the second endpoint was there before. */
  secretFile?: string | undefined;
  /** Since when both deliver, as ISO 8601. */
  begunAt: string;
}

/** The rotation of one endpoint, in the current directory, so that another run continues it. */
export interface RotationFile {
  path: string;
  /** @throws Failure for a file that is none */
  read(): Promise<Rotation | undefined>;
  write(rotation: Rotation): Promise<void>;
  remove(): Promise<void>;
}

export function rotationFile(first: string): RotationFile {
  const path = `rotation-${encodeURIComponent(first)}.json`;
  const failed = (error: unknown) => Promise.reject(fileFailure(path, error));
  return {
    path,
    async read() {
      const text = await readFile(path, 'utf8').catch((error) => (error.code === 'ENOENT' ? undefined : failed(error)));
      if (text === undefined) return undefined;
      const rotation = parsed(text);
      if (rotation?.first === first) return rotation;
      throw new Failure(
        'file',
        `${path}: no rotation of ${first}; delete the file, and name the second with --second.`,
      );
    },
    write: (rotation) => writeFile(path, `${JSON.stringify(rotation)}\n`, { flag: 'wx', mode: 0o600 }).catch(failed),
    remove: () => unlink(path).catch(failed),
  };
}

function parsed(text: string): Rotation | undefined {
  try {
    const { first, second, secretFile, begunAt } = JSON.parse(text);
    const areTexts = [first, second, begunAt].every((value) => typeof value === 'string');
    if (areTexts && Number.isFinite(Date.parse(begunAt))) return { first, second, secretFile, begunAt };
  } catch {}
  return undefined;
}
