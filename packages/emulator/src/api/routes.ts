import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import type { EndpointRecord, Endpoints } from '../delivery/endpoints.js';
import { refusedUrl } from '../wire/public-url.js';
import { ApiError } from './api-error.js';
import { type ApiRequest, readJsonObject } from './api-request.js';
import type { Caller } from './authentication.js';
import { limitsRecord } from './rate-limits.js';

/** A route of the API. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** The scope that a key needs; undefined for none. */
  readonly scope: string | undefined;
  /** Whether a sandbox key may call it. */
  readonly sandbox: boolean;
  /** Answers a caller that may call the route; `id` is the last one in the path. Throws an ApiError to refuse. */
  handle(caller: Caller, request: ApiRequest, id: string): RouteAnswer | Promise<RouteAnswer>;
}

export interface RouteAnswer {
  readonly status: number;
  readonly content: object;
}

export interface RoutesParts {
  endpoints: Endpoints;
  allowLoopback: boolean;
  remove(endpoint: EndpointRecord): void;
}

const WEBHOOKS = '/api/v1/account/webhooks';

/** Returns the routes of the account: its limits, usage and webhook endpoints. */
export function createRoutes({ endpoints, allowLoopback, remove }: RoutesParts): readonly Route[] {
  /** @throws ApiError `not_found`, also for an endpoint of another account */
  const endpointOf = ({ account }: Caller, id: string): EndpointRecord => {
    const endpoint = endpoints.byId.get(id);
    if (endpoint?.accountId !== account.id) {
      throw new ApiError('not_found', 'There is no webhook endpoint with this id.');
    }
    return endpoint;
  };
  const readUrl = (value: unknown): string => {
    const reason = refusedUrl(value, allowLoopback);
    if (reason !== undefined) throw new ApiError('validation_error', `url ${reason}.`, 'url');
    return value as string;
  };

  return [
    {
      method: 'GET',
      path: '/api/v1/account/api-limits',
      scope: undefined,
      sandbox: true,
      handle: ({ account }) => ok(limitsRecord(account)),
    },
    {
      method: 'GET',
      path: '/api/v1/usage',
      scope: 'analytics:read',
      sandbox: true,
      handle({ account, key }) {
        if (key.role === 'member') throw new ApiError('forbidden');
        const { credits, limits } = limitsRecord(account);
        return ok({ credits, limits });
      },
    },
    {
      method: 'GET',
      path: WEBHOOKS,
      scope: 'webhooks:read',
      sandbox: true,
      handle({ account }) {
        const webhooks = endpoints.ofAccount(account.id).map(showEndpoint);
        return ok({ webhooks, event_types: WEBHOOK_EVENT_TYPES });
      },
    },
    {
      method: 'POST',
      path: WEBHOOKS,
      scope: 'webhooks:write',
      sandbox: false,
      async handle({ account }, request) {
        const { url, events } = await readJsonObject(request);
        const settings = { url: readUrl(url), events: readEvents(events) };
        const created = endpoints.create({ accountId: account.id, ...settings });
        return { status: 201, content: { ...showEndpoint(created), signing_secret: created.secret } };
      },
    },
    {
      method: 'PATCH',
      path: `${WEBHOOKS}/{id}`,
      scope: 'webhooks:write',
      sandbox: false,
      async handle(caller, request, id) {
        const endpoint = endpointOf(caller, id);
        const { url, events } = await readJsonObject(request);
        if (url === undefined && events === undefined) throw new ApiError('invalid_body', 'Give url, events or both.');
        const changes = {
          url: url === undefined ? endpoint.url : readUrl(url),
          events: events === undefined ? endpoint.events : readEvents(events),
        };
        return ok(showEndpoint(Object.assign(endpoint, changes)));
      },
    },
    {
      method: 'DELETE',
      path: `${WEBHOOKS}/{id}`,
      scope: 'webhooks:write',
      sandbox: false,
      handle(caller, _request, id) {
        remove(endpointOf(caller, id));
        return ok({ id, deleted: true });
      },
    },
  ];
}

const ok = (content: object): RouteAnswer => ({ status: 200, content });

const showEndpoint = ({ id, url, events }: EndpointRecord) => ({ id, url, events });

function readEvents(value: unknown): string[] {
  const types: readonly unknown[] = WEBHOOK_EVENT_TYPES;
  if (!Array.isArray(value) || value.length === 0) {
    throw new ApiError('validation_error', 'events must be a non-empty array of event types.', 'events');
  }
  const unknown = value.findIndex((type) => !types.includes(type));
  if (unknown !== -1)
    throw new ApiError('validation_error', `events[${unknown}] is not an event type of the service.`, 'events');
  return [...new Set<string>(value)];
}

/** Returns the route of a request, and the last id in its path. */
export function findRoute(routes: readonly Route[], { method, path }: ApiRequest) {
  for (const route of routes) {
    const values = route.method === method ? matchPath(route.path, path) : undefined;
    if (values !== undefined) return { route, id: values.at(-1) ?? '' };
  }
  return undefined;
}

/**
 * Matches a path against a pattern such as `/v1/dubbing/jobs/{id}`, where `{…}` stands for one segment. Returns the
 * values of these segments; undefined where the path does not match.
 */
export function matchPath(pattern: string, path: string): readonly string[] | undefined {
  const wanted = pattern.split('/');
  const found = path.split('/');
  if (wanted.length !== found.length) return undefined;
  const values: string[] = [];
  for (const [i, segment] of wanted.entries()) {
    const value = found[i] ?? '';
    if (segment.startsWith('{') && segment.endsWith('}') && value !== '') values.push(value);
    else if (segment !== value) return undefined;
  }
  return values;
}
