import { API_ERRORS } from 'service-webhooks/service';
import type { Random } from '../random.js';
import type { Clock } from '../time/clock.js';
import type { Totals } from '../totals.js';
import { ApiError, type ErrorParts, errorObject } from './api-error.js';
import type { ApiAnswer, ApiRequest } from './api-request.js';
import { type Authenticate, type Caller, checkAccess, checkScope } from './authentication.js';
import { countRequest, rateHeaders, retryAfter } from './rate-limits.js';
import { findRoute, type Route } from './routes.js';
import type { ReadyScript, Scripts } from './scripts.js';

export interface ApiParts {
  clock: Clock;
  random: Random;
  totals: Totals;
  scripts: Scripts;
  authenticate: Authenticate;
  routes: readonly Route[];
  headerPrefix: string;
  /** Addresses that are answered with `ip_blocked`. */
  deniedIps: readonly string[];
  maxBodyBytes: number;
}

/** Answers a request as the service does. Never rejects. */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

/** The part of an answer that depends on the route, the script or the error. */
interface Decision {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The JSON body. */
  readonly content?: object | undefined;
  /** The body where it is an error object. */
  readonly error?: ErrorParts | undefined;
  /** A body that replaces both. */
  readonly body?: string | Uint8Array | undefined;
}

export function createApi(parts: ApiParts): Api {
  const { clock, random, totals, scripts, authenticate, routes, headerPrefix, deniedIps, maxBodyBytes } = parts;

  return async (request) => {
    totals.requests += 1;
    const requestId = random.id('req', totals.requests);
    const caller = authenticate(request.headers);
    const known = caller instanceof ApiError ? undefined : caller;
    const decision = await decide(request, caller).catch((thrown) => refuse(thrown, known));
    const { status, headers, content = {}, error, body } = decision;
    return {
      status,
      headers: {
        'content-type': 'application/json',
        'x-request-id': requestId,
        ...rateHeaders(known, clock.now()),
        ...(known?.key.kind === 'sandbox' && { [`${headerPrefix}-sandbox`]: 'true' }),
        ...headers,
      },
      body: body ?? JSON.stringify(error ? errorObject(error, requestId, request.baseUrl) : content),
    };
  };

  /** The checks of a request, in their order. @throws ApiError from the first check that fails */
  async function decide(request: ApiRequest, caller: Caller | ApiError): Promise<Decision> {
    if (request.refusal !== undefined) throw request.refusal;
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw new ApiError('file_too_large');
    if (deniedIps.includes(request.ip)) throw new ApiError('ip_blocked');
    const script = scripts.find(request.method, request.path);
    if (script !== undefined) {
      if (script.authenticate) admit(caller, script.scope);
      return play(script);
    }
    const found = findRoute(routes, request);
    if (found === undefined) throw new ApiError('unknown_endpoint');
    const { route, id } = found;
    const admitted = admit(caller, route.scope);
    if (!route.sandbox && admitted.key.kind === 'sandbox') throw new ApiError('sandbox_unsupported_route');
    return route.handle(admitted, request, id);
  }

  /** Checks the key and the scope and counts the request. @throws ApiError */
  function admit(caller: Caller | ApiError, scope: string | undefined): Caller {
    if (caller instanceof ApiError) throw caller;
    checkAccess(caller);
    countRequest(caller.account, clock.now());
    checkScope(caller, scope);
    return caller;
  }

  function refuse(thrown: unknown, caller: Caller | undefined): Decision {
    const { code, message, param } = thrown instanceof ApiError ? thrown : new ApiError('internal_error');
    const error = { ...API_ERRORS[code], code, message, param };
    const seconds = retryAfter(code, caller?.account, clock.now());
    return { status: error.status, error, ...(seconds !== undefined && { headers: retryHeader(seconds) }) };
  }
}

/** `Retry-After` of a scripted 429, in seconds. */
const SCRIPTED_RETRY_AFTER = 30;

function play({ use, status, error, headers, body }: ReadyScript): Decision {
  use();
  return { status, error, body, headers: { ...(status === 429 && retryHeader(SCRIPTED_RETRY_AFTER)), ...headers } };
}

function retryHeader(seconds: number): Record<string, string> {
  return { 'retry-after': String(seconds) };
}
