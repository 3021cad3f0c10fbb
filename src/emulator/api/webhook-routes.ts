import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import type { EndpointRecord, Endpoints } from '../delivery/endpoints.js';
import { refusedUrl } from '../wire/public-url.js';
import { ApiError } from './api-error.js';
import type { ApiRequest } from './api-request.js';
import type { Caller } from './authenticate.js';
import { readJsonObject } from './json-body.js';
import {
  CREATED_STATUS,
  createdEndpoint,
  deletedEndpoint,
  endpointList,
  endpointRecord,
  REFUSED_URL_CODE,
  usageRecord,
} from './not-shown.js';
import { limitsRecord } from './rate-limits.js';
import type { Route } from './routes.js';

/** What a route says when nothing is wrong with the request. */
export interface Content {
  status: number;
  content: object;
}

export type RouteHandler = (caller: Caller, request: ApiRequest, id: string) => Content | Promise<Content>;

export interface WebhookRoutesParts {
  endpoints: Endpoints;
  allowLoopback: boolean;
  remove(endpoint: EndpointRecord): void;
}

/** What the routes of the table answer (specification, sections 4.1 to 4.6). */
export function createRouteHandlers(parts: WebhookRoutesParts): Record<Route['answer'], RouteHandler> {
  const { endpoints, allowLoopback, remove } = parts;

  /** @throws ApiError `not_found`, also for an endpoint of another account */
  const own = ({ account }: Caller, id: string): EndpointRecord => {
    const endpoint = endpoints.get(id);
    if (endpoint?.accountId !== account.id)
      throw new ApiError('not_found', 'There is no webhook endpoint with this id.');
    return endpoint;
  };
  const readUrl = (value: unknown): string => {
    const reason = refusedUrl(value, allowLoopback);
    if (reason !== undefined) throw new ApiError(REFUSED_URL_CODE, `url ${reason}.`, 'url');
    return value as string;
  };

  return {
    apiLimits: ({ account }) => ok(limitsRecord(account)),
    usage: ({ account }) => ok(usageRecord(limitsRecord(account))),
    list: ({ account }) => ok(endpointList(endpoints.of(account.id), WEBHOOK_EVENT_TYPES)),
    async create({ account }, request) {
      const { url, events } = await readJsonObject(request);
      const given = { accountId: account.id, url: readUrl(url), events: readEvents(events) };
      return { status: CREATED_STATUS, content: createdEndpoint(endpoints.create(given)) };
    },
    async update(caller, request, id) {
      const endpoint = own(caller, id);
      const { url, events } = await readJsonObject(request);
      if (url === undefined && events === undefined) throw new ApiError('invalid_body', 'Give url, events or both.');
      const changes = {
        ...(url !== undefined && { url: readUrl(url) }),
        ...(events !== undefined && { events: readEvents(events) }),
      };
      return ok(endpointRecord(Object.assign(endpoint, changes)));
    },
    remove(caller, _request, id) {
      remove(own(caller, id));
      return ok(deletedEndpoint(id));
    },
  };
}

const ok = (content: object): Content => ({ status: 200, content });

function readEvents(value: unknown): string[] {
  const types: readonly unknown[] = WEBHOOK_EVENT_TYPES;
  if (!Array.isArray(value) || value.length === 0) {
    throw new ApiError('validation_error', 'events must be an array of event types, not an empty one.', 'events');
  }
  const unknown = value.findIndex((type) => !types.includes(type));
  if (unknown !== -1) throw new ApiError('validation_error', `events[${unknown}] is no event type.`, 'events');
  return [...new Set<string>(value)];
}
