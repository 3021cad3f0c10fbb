import { readFile, unlink, writeFile } from 'node:fs/promises';
import { type Client, isSameUrl, type WebhookEndpoint } from 'service-webhooks/client';
import { called, listEndpoints } from '../../api-options.js';
import { Failure, fileFailure } from '../../failure.js';
import { jsonFields } from '../../http/json-fields.js';
import { keepingSecrets } from './new-secret-file.js';

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

export interface RotationSettings {
  /** An endpoint with the new secret that is there already. */
  second?: string | undefined;
  /** Where the new secret is put. */
  saveSecret?: string | undefined;
}

/** @throws Failure where the other endpoints with this URL are not what the settings say */
export function checkBeginning(
  first: WebhookEndpoint,
  endpoints: readonly WebhookEndpoint[],
  { second }: RotationSettings,
): void {
  const others = endpoints.filter(({ id, url }) => id !== first.id && isSameUrl(url, first.url)).map(({ id }) => id);
  if (second !== undefined && !others.includes(second)) {
    throw new Failure('no', `${second} is no other endpoint with the URL ${first.url}.`);
  }
  if (second === undefined && others.length > 0) {
    const advice = 'If you have its secret, go on with --second; or else delete it.';
    throw new Failure('no', `${others.join(', ')} has the same URL already. ${advice}`);
  }
}

/** Makes the second endpoint, with the URL and the events of the first, unless it is there. @throws Failure */
export async function beginRotation(
  client: Client,
  first: WebhookEndpoint,
  { second, saveSecret }: RotationSettings,
  now: () => number,
): Promise<Rotation> {
  const begunAt = () => new Date(now()).toISOString();
  if (second !== undefined) return { first: first.id, second, begunAt: begunAt() };
  const { url, events } = first;
  await called(keepingSecrets(client, saveSecret).webhooks.create({ url, events }));
  // The answer to the creation may not show the id.
  const created = (await listEndpoints(client)).find((other) => other.id !== first.id && isSameUrl(other.url, url));
  if (created !== undefined) return { first: first.id, second: created.id, secretFile: saveSecret, begunAt: begunAt() };
  throw new Failure('no', `the second endpoint is not in the list yet: run this again with --second and its id.`);
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
  const { first, second, secretFile, begunAt } = jsonFields(text);
  const isRotation = [first, second, begunAt].every((value) => typeof value === 'string');
  if (!isRotation || !Number.isFinite(Date.parse(String(begunAt)))) return undefined;
  return { first, second, secretFile, begunAt } as Rotation;
}
