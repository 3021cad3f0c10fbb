import { validateHeaderName, validateHeaderValue } from 'node:http';
import { check, checkKnownOptions, checkObject, checkPositiveInteger } from 'service-webhooks/option-checks';
import { API_ERRORS, type ApiErrorCode, type ApiErrorType } from 'service-webhooks/service';
import type { ErrorParts } from './api-error.js';
import { matchPath } from './routes.js';

/** A fixed answer to a route, which replaces the emulator's own. */
export interface Script {
  /** The HTTP method. Default: every method. */
  method?: string | undefined;
  /** The path, such as `/v1/dubbing/jobs/{id}`, where `{…}` stands for one segment. */
  path: string;
  /** The status of the answer. Default: 200, or the status of the error. */
  status?: number | undefined;
  /** A code of the service, or another code with its type and status. */
  error?: ApiErrorCode | (Partial<Omit<ErrorParts, 'code'>> & { code: string }) | undefined;
  /** Headers that are added to those of every answer, or replace them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The body. Text and bytes are sent unchanged, everything else as JSON. With an error, it replaces the error object.
   */
  body?: unknown;
  /** How many requests it answers before it is removed. Default: no limit. */
  times?: number | undefined;
  /**
   * Whether a request needs a valid key, as on the emulator's own routes. Default: true with `scope`, false without.
   */
  authenticate?: boolean | undefined;
  /** The scope that the key needs. Default: none. */
  scope?: string | undefined;
}

/** A checked script with its defaults. */
export interface ReadyScript {
  readonly status: number;
  readonly error: ErrorParts | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly authenticate: boolean;
  readonly scope: string | undefined;
  /** Counts an answer, and removes the script after the last one. */
  use(): void;
}

export interface Scripts {
  /** Adds a script, which takes precedence over earlier ones. Returns a function that removes it. */
  add(script: Script): () => void;
  /** Returns the script that answers a request. */
  find(method: string, path: string): ReadyScript | undefined;
}

export function createScripts(): Scripts {
  let entries: readonly Entry[] = [];
  return {
    add(script) {
      const ready = makeReady(script);
      let left = script.times ?? Number.POSITIVE_INFINITY;
      const remove = () => {
        entries = entries.filter((other) => other !== entry);
      };
      const use = () => {
        left -= 1;
        if (left === 0) remove();
      };
      const entry: Entry = { method: script.method?.toUpperCase(), path: script.path, ready: { ...ready, use } };
      entries = [entry, ...entries];
      return remove;
    },
    find: (method, path) =>
      entries.find((entry) => (entry.method ?? method) === method && matchPath(entry.path, path) !== undefined)?.ready,
  };
}

interface Entry {
  readonly method: string | undefined;
  readonly path: string;
  readonly ready: ReadyScript;
}

const OPTIONS = ['method', 'path', 'status', 'error', 'headers', 'body', 'times', 'authenticate', 'scope'];

/** @throws WebhookError `invalid_option` */
function makeReady(script: Script): Omit<ReadyScript, 'use'> {
  checkObject('script', script);
  checkKnownOptions('script', script, OPTIONS);
  const { method = 'GET', path, times, headers = {}, body, authenticate = script.scope !== undefined, scope } = script;
  check(typeof method === 'string' && method !== '', 'method must be like GET');
  check(typeof path === 'string' && path.startsWith('/'), 'path must begin with a slash');
  check(!/[?#]/.test(path), 'path must be without a query: no route reads it');
  checkObject('headers', headers);
  if (times !== undefined) checkPositiveInteger('times', times);
  const error = errorOf(script);
  const status = script.status ?? error?.status ?? 200;
  check(Number.isInteger(status) && status >= 200 && status <= 599, 'status must be from 200 to 599');
  return {
    status,
    error: error && { ...error, status },
    headers: readHeaders(headers),
    body: typeof body === 'string' || body instanceof Uint8Array ? body : toJson(body),
    authenticate,
    scope,
  };
}

function toJson(body: unknown): string | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch {}
  check(text !== undefined || body === undefined, 'body cannot be written as JSON');
  return text;
}

function readHeaders(headers: object): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  for (const [name, value] of entries) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      check(false, `headers.${JSON.stringify(name)} cannot be sent`);
    }
  }
  return Object.fromEntries(entries);
}

function errorOf({ error, status }: Script): ErrorParts | undefined {
  if (error === undefined) return undefined;
  const given = typeof error === 'string' ? { code: error } : error;
  checkObject('error', given);
  checkKnownOptions('error', given, ['code', 'type', 'message', 'status', 'param']);
  const row = Object.hasOwn(API_ERRORS, given.code) ? API_ERRORS[given.code as ApiErrorCode] : undefined;
  const type: ApiErrorType | undefined = given.type ?? row?.type;
  const own = given.status ?? status ?? row?.status;
  check(
    type !== undefined && own !== undefined,
    `error: ${given.code} is not in the table, so give its type and status`,
  );
  return { ...given, type, status: own, message: given.message ?? row?.condition ?? given.code };
}
