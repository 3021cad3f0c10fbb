import { Command, Option } from '@commander-js/extra-typings';
import { type Client, createClient, isClientError, isServiceApiError } from '../../client/index.js';
import { Failure } from '../failure.js';
import { checkSource, readSecret, SOURCES } from '../secrets.js';
import type { Session } from '../session.js';

const KEY_ENV = 'SERVICE_API_KEY';
const URL_ENV = 'SERVICE_URL';

/** Where the API is, and where its key is. Never the key. */
export interface ApiOptions {
  key: string;
  baseUrl?: string | undefined;
  headerPrefix: string;
}

export function keyOption() {
  return new Option('--key <source>', `where the API key is: ${SOURCES}`)
    .argParser(checkSource)
    .default(`env:${KEY_ENV}`);
}

export function baseUrlOption() {
  return new Option('--base-url <url>', `where the API is; env:${URL_ENV}`);
}

/** A command about the account. */
export function apiCommand(name: string) {
  return new Command(name)
    .addOption(keyOption())
    .addOption(baseUrlOption())
    .option('--header-prefix <prefix>', 'what the names of the service’s headers begin with', 'x-service');
}

/** Somebody is waiting for it. */
const TIMEOUT_MS = 30_000;

/** @throws Failure, WebhookError */
export async function openClient(session: Session, { key, baseUrl, headerPrefix }: ApiOptions): Promise<Client> {
  const url = baseUrl ?? session.env[URL_ENV];
  if (url === undefined) throw new Failure('usage', `where is the API? Set ${URL_ENV}, or give --base-url https://….`);
  const apiKey = await readSecret(session, key);
  if (typeof apiKey !== 'string') throw new Failure('usage', 'the API key is no text; look at where it comes from.');
  return createClient({ apiKey, baseUrl: url, headerPrefix, timeoutMs: TIMEOUT_MS, maxAttempts: 3 });
}

/** What a call gives; what it rejects with as a Failure, where the client says what that is. @throws Failure */
export async function called<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isServiceApiError(error)) {
      const { code, message, requestId, retryAfter } = error;
      const later = retryAfter === undefined ? '' : ` Try again in ${retryAfter} s.`;
      throw new Failure('no', `the service says no: ${code}: ${message}${later}${requestId ? ` (${requestId})` : ''}`);
    }
    if (isClientError(error)) throw new Failure('network', `${error.message}. ${error.hint}`);
    throw error;
  }
}
