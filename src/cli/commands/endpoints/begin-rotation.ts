import { type Client, endpointsIn, type WebhookEndpoint } from '../../../client/index.js';
import { called } from '../../api-options.js';
import { Failure } from '../../failure.js';
import { keepingSecrets } from './keeping-secrets.js';
import type { Rotation } from './rotation-file.js';
import { sameUrl } from './same-url.js';

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
  const others = endpoints.filter(({ id, url }) => id !== first.id && sameUrl(url, first.url)).map(({ id }) => id);
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
  const endpoints = endpointsIn((await called(client.webhooks.list())).data);
  const created = endpoints.find((other) => other.id !== first.id && sameUrl(other.url, url));
  if (created !== undefined) return { first: first.id, second: created.id, secretFile: saveSecret, begunAt: begunAt() };
  throw new Failure('no', `the second endpoint is not in the list yet: run this again with --second and its id.`);
}
