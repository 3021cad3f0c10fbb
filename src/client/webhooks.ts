import type { EventType } from '../event.js';
import { check, checkKnownOptions, checkObject } from '../option-checks.js';
import type { Answer } from './answer.js';
import {
  isSigningSecret,
  objectsIn,
  type SigningSecret,
  WEBHOOK_ENDPOINT,
  type WebhookEndpoint,
  wrongField,
} from './answer-data.js';
import { ClientError, isServiceApiError } from './errors.js';
import { type CallOptions, type SendRequest, segment } from './request.js';

/** The address of an endpoint and the events that it receives. */
export interface EndpointSettings {
  /** A public `https://` address. The service refuses any other. */
  url: string;
  /** At least one event type. Types of a later version of the service are allowed. */
  events: readonly (EventType | (string & {}))[];
}

/** The answer to the creation of an endpoint: the only answer that shows its signing secret. */
export interface CreatedEndpoint extends Answer {
  /**
   * The signing secret, which the service shows only now: store the result of `reveal()` where the receiver reads it.
   */
  signingSecret: SigningSecret;
}

/** The account's webhook endpoints. They need an account key. */
export interface Webhooks {
  /**
   * Lists the endpoints. Scope `webhooks:read`. The layout is not documented: {@link endpointsIn} finds the endpoints
   * in it.
   */
  list<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /**
   * Creates an endpoint. Scope `webhooks:write`. Retried only where the first attempt is known to have had no effect.
   */
  create(endpoint: EndpointSettings, options?: CallOptions): Promise<CreatedEndpoint>;
  /** Changes the given settings and keeps the signing secret. Scope `webhooks:write`. */
  update<T = unknown>(id: string, changes: Partial<EndpointSettings>, options?: CallOptions): Promise<Answer<T>>;
  /** Deletes the endpoint and its delivery history. Scope `webhooks:write`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const PATH = '/api/v1/account/webhooks';

export function createWebhooks(sendRequest: SendRequest): Webhooks {
  return {
    list: (options) => sendRequest({ path: PATH }, options),
    async create(endpoint, options) {
      const answer = await sendRequest({ method: 'POST', path: PATH, body: checkEndpoint(endpoint) }, options);
      const signingSecret = objectsIn(answer.data).find(isSigningSecret);
      if (signingSecret !== undefined) return { ...answer, signingSecret };
      const { status, requestId, attempts } = answer;
      const found = `POST ${PATH} failed: the answer (status ${status}) has no signing_secret.`;
      throw new ClientError('unexpected_answer', found, { status, requestId, attempts });
    },
    async update(id, changes, options) {
      const path = `${PATH}/${segment('id', id)}`;
      return sendRequest({ method: 'PATCH', path, body: checkChanges(changes), repeatable: true }, options);
    },
    async delete(id, options) {
      try {
        await sendRequest({ method: 'DELETE', path: `${PATH}/${segment('id', id)}` }, options);
      } catch (error) {
        // An earlier attempt, whose answer was lost, has deleted the endpoint.
        if (!(isServiceApiError(error) && error.is('not_found') && error.attempts > 1)) throw error;
      }
    },
  };
}

/**
 * Returns the endpoints in the answer of {@link Webhooks.list}, wherever they are in it: every object that has the
 * fields of {@link WebhookEndpoint}.
 *
 * @example
 * const { data } = await client.webhooks.list();
 * for (const { id, url } of endpointsIn(data)) console.log(id, url);
 */
export function endpointsIn(data: unknown): WebhookEndpoint[] {
  return objectsIn(data).filter(isEndpoint);
}

function isEndpoint(value: unknown): value is WebhookEndpoint {
  return wrongField(value, WEBHOOK_ENDPOINT) === undefined;
}

const SETTINGS: readonly (keyof EndpointSettings)[] = ['url', 'events'];

/** @throws WebhookError `invalid_option` */
export function checkEndpoint(endpoint: EndpointSettings): EndpointSettings {
  checkObject('endpoint', endpoint);
  checkKnownOptions('endpoint', endpoint, SETTINGS);
  const { url, events } = endpoint;
  checkUrl(url);
  checkEvents(events);
  return { url, events };
}

/** @throws WebhookError `invalid_option` */
function checkChanges(changes: Partial<EndpointSettings>): object {
  checkObject('changes', changes);
  checkKnownOptions('changes', changes, SETTINGS);
  const { url, events } = changes;
  check(url !== undefined || events !== undefined, 'url or events must be given');
  if (url !== undefined) checkUrl(url);
  if (events !== undefined) checkEvents(events);
  return { url, events }; // JSON leaves out undefined fields
}

function checkUrl(url: unknown): void {
  check(typeof url === 'string' && URL.canParse(url), 'url must be a URL');
}

function checkEvents(events: unknown): void {
  const areTypes = Array.isArray(events) && events.length > 0 && events.every((type) => typeof type === 'string');
  check(areTypes, 'events must be a list of event types, at least one');
}
