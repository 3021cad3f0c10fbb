import { Command, Option } from '@commander-js/extra-typings';
import {
  type CallOptions,
  type Client,
  createClient,
  endpointsIn,
  isClientError,
  isSameUrl,
  isServiceApiError,
  type WebhookEndpoint,
} from 'service-webhooks/client';
import { Failure } from './failure.js';
import { allowKey, findAddress, URL_ENV } from './key-destination.js';
import { checkSource, readSource, SOURCES } from './secrets.js';
import type { Session } from './session.js';

const KEY_SOURCE = 'env:SERVICE_API_KEY';

/** The address of the API and the source of its key, never the key itself. */
export interface ApiOptions {
  key?: string | undefined;
  baseUrl?: string | undefined;
  headerPrefix: string;
}

/** Returns a command about the account. */
export function apiCommand(name: string) {
  return new Command(name)
    .addOption(
      new Option('--key <source>', `the source of the API key: ${SOURCES}`).argParser(checkSource).default(KEY_SOURCE),
    )
    .option('--base-url <url>', `the address of the API; env:${URL_ENV}`)
    .option('--header-prefix <prefix>', 'the prefix of the service’s header names', 'x-service');
}

/** A person waits for the answer, so the limit is shorter than the client's default. */
const TIMEOUT_MS = 30_000;

/** Opens the client of a command, once the key may go to its address. @throws Failure, WebhookError */
export async function openClient(session: Session, options: ApiOptions): Promise<Client> {
  const { key = KEY_SOURCE, baseUrl, headerPrefix } = options;
  const address = findAddress(session, baseUrl);
  const apiKey = await readSource(session, key);
  if (typeof apiKey !== 'string') throw new Failure('usage', 'the API key is no text; look at where it comes from.');
  const { url } = address;
  const client = createClient({ apiKey, baseUrl: url, headerPrefix, timeoutMs: TIMEOUT_MS, maxAttempts: 3 });
  await allowKey(session, key, address);
  return client;
}

/** Awaits a client call and turns client errors into a Failure. @throws Failure */
export async function called<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isServiceApiError(error)) {
      const { code, message, requestId, retryAfter } = error;
      const later = retryAfter === undefined ? '' : ` Try again in ${retryAfter} s.`;
      throw new Failure('no', `the service says no: ${code}: ${message}${later}${requestId ? ` (${requestId})` : ''}`);
    }
    if (isClientError(error)) throw new Failure('network', error.message);
    throw error;
  }
}

/** Returns the endpoints of the account. @throws Failure */
export async function listEndpoints(
  { webhooks }: Pick<Client, 'webhooks'>,
  options: CallOptions = {},
): Promise<WebhookEndpoint[]> {
  const { data } = await called(webhooks.list(options));
  return endpointsIn(data);
}

/** Returns the ids of the endpoints with a URL, in any spelling. @throws Failure */
export async function idsWithUrl(
  client: Pick<Client, 'webhooks'>,
  url: string,
  options?: CallOptions,
): Promise<string[]> {
  const endpoints = await listEndpoints(client, options);
  return endpoints.filter((one) => isSameUrl(one.url, url)).map(({ id }) => id);
}

export function noEndpoint(id: string): Failure {
  return new Failure('no', `there is no endpoint ${id}: endpoints list shows all.`);
}
