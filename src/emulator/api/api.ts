import { API_ERRORS } from '../../service/api-errors.js';
import type { Random } from '../random.js';
import type { Clock } from '../time/clock.js';
import type { Totals } from '../totals.js';
import { ApiError, type ErrorParts, errorObject } from './api-error.js';
import type { ApiAnswer, ApiRequest } from './api-request.js';
import { type Authenticate, type Caller, checkAccess, checkScope } from './authenticate.js';
import { SCRIPTED_RETRY_AFTER } from './not-shown.js';
import { countRequest, rateHeaders, retryAfter } from './rate-limits.js';
import { matchPath, ROUTES } from './routes.js';
import type { ReadyScript, Scripts } from './scripts.js';
import type { RouteHandler } from './webhook-routes.js';

export interface ApiParts {
  clock: Clock;
  random: Random;
  totals: Totals;
  scripts: Scripts;
  authenticate: Authenticate;
  handlers: Readonly<Record<string, RouteHandler>>;
  headerPrefix: string;
  /** Addresses that get nothing but `ip_blocked`. */
  deniedIps: readonly string[];
  maxBodyBytes: number;
}

/** Answers a request as the service would. Never rejects. */
export type Api = (request: ApiRequest) => Promise<ApiAnswer>;

export function createApi(parts: ApiParts): Api {
  const { clock, random, totals, scripts, authenticate, handlers, headerPrefix, deniedIps, maxBodyBytes } = parts;

  return async (request) => {
    totals.requests += 1;
    const requestId = random.id('req', totals.requests);
    const caller = identify(request);
    const known = caller instanceof ApiError ? undefined : caller;
    try {
      return await decide();
    } catch (thrown) {
      return refuse(thrown instanceof ApiError ? thrown : new ApiError('internal_error'));
    }

    /** The line that every request goes along. @throws ApiError */
    async function decide(): Promise<ApiAnswer> {
      if (request.refusal !== undefined) throw request.refusal;
      if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw new ApiError('file_too_large');
      if (deniedIps.includes(request.ip)) throw new ApiError('ip_blocked');
      const script = scripts.find(request.method, request.path);
      if (script?.authenticate === false) return play(script);
      const target = script ?? findRoute(request);
      if (target === undefined) throw new ApiError('unknown_endpoint');
      if (caller instanceof ApiError) throw caller;
      checkAccess(caller);
      countRequest(caller.account, clock.now());
      checkScope(caller, target.scope);
      if ('use' in target) return play(target);
      if (target.answer === 'usage' && caller.key.role === 'member') throw new ApiError('forbidden');
      if (!target.sandbox && caller.key.kind === 'sandbox') throw new ApiError('sandbox_unsupported_route');
      const { status, content } = await (handlers[target.answer] as RouteHandler)(caller, request, target.id);
      return json(status, content);
    }

    function play(script: ReadyScript): ApiAnswer {
      script.use();
      const { status, error, headers, body } = script;
      const answer = error === undefined ? json(status, {}) : explain(error);
      const wait = status === 429 ? { 'retry-after': String(SCRIPTED_RETRY_AFTER) } : {};
      return { status, headers: { ...answer.headers, ...wait, ...headers }, body: body ?? answer.body };
    }

    function refuse({ code, message, param }: ApiError): ApiAnswer {
      const seconds = retryAfter(code, known?.account, clock.now());
      const wait = seconds === undefined ? undefined : { 'retry-after': String(seconds) };
      return explain({ ...API_ERRORS[code], code, message, param }, wait);
    }

    function explain(error: ErrorParts, headers?: Record<string, string>): ApiAnswer {
      return json(error.status, errorObject(error, requestId, request.baseUrl), headers);
    }

    function json(status: number, content: object, headers?: Record<string, string>): ApiAnswer {
      return {
        status,
        headers: {
          'content-type': 'application/json',
          'x-request-id': requestId,
          ...rateHeaders(known, clock.now()),
          ...(known?.key.kind === 'sandbox' && { [`${headerPrefix}-sandbox`]: 'true' }),
          ...headers,
        },
        body: JSON.stringify(content),
      };
    }
  };

  function identify({ headers }: ApiRequest): Caller | ApiError {
    try {
      return authenticate(headers);
    } catch (error) {
      return error as ApiError;
    }
  }
}

function findRoute({ method, path }: ApiRequest) {
  for (const route of ROUTES) {
    const values = route.method === method ? matchPath(route.path, path) : undefined;
    if (values !== undefined) return { ...route, id: values[0] ?? '' };
  }
  return undefined;
}
