import type { Answer } from './answer.js';
import { ClientError } from './client-error.js';
import { type CallOptions, type RequestFunction, segment } from './create-request.js';
import { checkChanges, checkEndpoint, type EndpointSettings } from './endpoint-settings.js';
import { objectsIn } from './json.js';
import { isServiceApiError } from './service-api-error.js';
import { faultyField, WEBHOOK_ENDPOINT, type WebhookEndpoint } from './shown.js';
import { isSigningSecret, type SigningSecret } from './signing-secret.js';

/** The answer to the creation of an endpoint: the only one with its signing secret. */
export interface CreatedEndpoint extends Answer {
  /** Shown this once: `reveal()` it, and keep it where the receiver reads it. */
  signingSecret: SigningSecret;
}

/** The account's webhook endpoints (specification, sections 4.3 to 4.6). Account keys only. */
export interface Webhooks {
  /** Scope `webhooks:read`. The layout is not shown; {@link endpointsIn} finds the endpoints in it. */
  list<T = unknown>(options?: CallOptions): Promise<Answer<T>>;
  /** Scope `webhooks:write`. It is never sent a second time unless it is known that the first had no effect. */
  create(endpoint: EndpointSettings, options?: CallOptions): Promise<CreatedEndpoint>;
  /** Scope `webhooks:write`. Changes what is given; the signing secret stays. */
  update<T = unknown>(id: string, changes: Partial<EndpointSettings>, options?: CallOptions): Promise<Answer<T>>;
  /** Scope `webhooks:write`. With its delivery history. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const PATH = '/api/v1/account/webhooks';

export function createWebhooks(request: RequestFunction): Webhooks {
  return {
    list: (options) => request({ ...options, path: PATH }),
    async create(endpoint, options) {
      const answer = await request({ ...options, method: 'POST', path: PATH, body: checkEndpoint(endpoint) });
      const signingSecret = objectsIn(answer.data).find(isSigningSecret);
      if (signingSecret !== undefined) return { ...answer, signingSecret };
      const { status, requestId, attempts } = answer;
      const found = `POST ${PATH}: ${status}, and no signing_secret`;
      throw new ClientError('unexpected_answer', found, { status, requestId, attempts });
    },
    async update(id, changes, options) {
      const path = `${PATH}/${segment('id', id)}`;
      return request({ ...options, method: 'PATCH', path, body: checkChanges(changes), repeatable: true });
    },
    async delete(id, options) {
      try {
        await request({ ...options, method: 'DELETE', path: `${PATH}/${segment('id', id)}` });
      } catch (error) {
        // It was there when the first try went out, of which the answer was lost.
        if (!(isServiceApiError(error) && error.is('not_found') && error.attempts > 1)) throw error;
      }
    },
  };
}

/** The endpoints in the answer of {@link Webhooks.list}, wherever they are in it: what has the fields of section 2.3. */
export function endpointsIn(data: unknown): WebhookEndpoint[] {
  const isEndpoint = (value: object): value is WebhookEndpoint => faultyField(value, WEBHOOK_ENDPOINT) === undefined;
  return objectsIn(data).filter(isEndpoint);
}
