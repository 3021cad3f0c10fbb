import { open, unlink } from 'node:fs/promises';
import type { SigningSecret } from '../../client/index.js';
import { Failure, fileFailure } from '../failure.js';

/** A file that waits for a signing secret, so that it is known to be there before the service shows one. */
export interface NewSecretFile {
  write(secret: SigningSecret): Promise<void>;
  /** There is no secret after all. */
  discard(): Promise<void>;
}

/** Readable for its owner alone. @throws Failure where there is none, or one already */
export async function newSecretFile(path: string | undefined): Promise<NewSecretFile> {
  if (path === undefined) {
    throw new Failure(
      'usage',
      'the service shows the signing secret this once: say where to keep it, --save-secret FILE.',
    );
  }
  const failed = (error: unknown) => fileFailure(path, error);
  const file = await open(path, 'wx', 0o600).catch((error) => Promise.reject(failed(error)));
  return {
    async write(secret) {
      try {
        await file.writeFile(`${secret.reveal()}\n`);
        await file.sync();
      } catch (error) {
        throw failed(error);
      } finally {
        await file.close();
      }
    },
    async discard() {
      await file.close();
      await unlink(path).catch(() => {});
    },
  };
}
