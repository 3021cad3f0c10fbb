// The content of schemas/openapi.json: the deliveries of the service and the answers of a receiver.
import { envelope, typedEvents } from './event-schema.mjs';
import { eventTypes } from './event-types.mjs';

/** The codes of each status (docs/errors.md). */
const refusals = {
  400: {
    when: 'The signature is valid, but the body is not an event; or the upload broke off.',
    codes: ['invalid_encoding', 'invalid_json', 'invalid_envelope', 'body_incomplete'],
  },
  401: {
    when: 'The signature does not match, or its time is outside the tolerance.',
    codes: [
      'missing_signature',
      'malformed_signature',
      'signature_mismatch',
      'timestamp_too_old',
      'timestamp_in_future',
      'legacy_not_accepted',
    ],
  },
  405: { when: 'The method is not POST.', codes: ['method_not_allowed'] },
  408: { when: 'The upload took too long.', codes: ['body_timeout'] },
  409: { when: 'Another attempt of the event is in progress.', codes: ['delivery_in_progress'] },
  413: { when: 'The body is too large.', codes: ['body_too_large'] },
  415: { when: 'The body is compressed.', codes: ['unsupported_content_encoding'] },
  500: {
    when: 'The receiver failed. The service retries the delivery.',
    codes: [
      'handler_failed',
      'unexpected_data',
      'body_already_parsed',
      'body_already_read',
      'wrong_adapter',
      'invalid_secret',
      'invalid_option',
    ],
  },
  503: {
    when: 'The receiver cannot handle the event now. The service retries the delivery.',
    codes: ['handler_timeout', 'store_unavailable', 'queue_unavailable', 'secret_unavailable'],
  },
};

const retryAfter = { 'Retry-After': { description: 'In seconds.', schema: { type: 'integer', minimum: 1 } } };
const responseHeaders = {
  401: { 'WWW-Authenticate': { schema: { const: 'Webhook' } } },
  405: { Allow: { schema: { const: 'POST' } } },
  409: retryAfter,
  503: retryAfter,
};

/** The headers of a delivery (specification, section 6.2). The service always sends all of them. */
const parameters = {
  'X-Service-Signature-V2': {
    description: 'HMAC-SHA256 over "<t>.<body>", where t is the time of the signature in Unix seconds.',
    schema: { type: 'string', pattern: '^t=[0-9]+,v1=[0-9a-f]{64}$' },
  },
  'X-Service-Signature': {
    description: 'HMAC-SHA256 over the body alone: legacy, without replay protection.',
    schema: { type: 'string', pattern: '^sha256=[0-9A-Fa-f]{64}$' },
  },
  'X-Service-Timestamp': {
    description: 'Unix seconds, the same as t. Not signed.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'X-Service-Webhook-Id': { description: 'Id of the receiving endpoint. Not signed.', schema: { type: 'string' } },
  'X-Service-Attempt': {
    description: 'Counted from 1. Not signed.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Idempotency-Key': {
    description: 'The same on all attempts of an event. Not signed.',
    schema: { type: 'string' },
  },
};

const json = (schema) => ({ 'application/json': { schema } });
const ref = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });
const mapped = (object, make) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(key, value)]));

function webhook({ type, fires }) {
  return {
    post: {
      operationId: type,
      summary: fires,
      parameters: Object.keys(parameters).map((name) => ref('parameters', name)),
      requestBody: { required: true, content: json(ref('schemas', type)) },
      responses: {
        '2XX': ref('responses', 'Accepted'),
        ...mapped(refusals, (status) => ref('responses', `${status}`)),
      },
    },
  };
}

function refusal(status, { when, codes }) {
  const schema = {
    allOf: [ref('schemas', 'Refusal')],
    properties: { error: { properties: { code: { enum: codes }, status: { const: Number(status) } } } },
  };
  const headers = responseHeaders[status];
  return { description: when, ...(headers && { headers }), content: json(schema) };
}

export const openapi = {
  openapi: '3.1.1',
  info: {
    title: 'Webhooks of the service',
    description:
      'The deliveries that the service sends to an endpoint, and how a receiver of service-webhooks answers.',
    version: '2026-07-11',
  },
  webhooks: Object.fromEntries(eventTypes.map((event) => [event.type, webhook(event)])),
  components: {
    parameters: mapped(parameters, (name, parameter) => ({ name, in: 'header', required: true, ...parameter })),
    schemas: {
      WebhookEvent: envelope,
      ...typedEvents('#/components/schemas/WebhookEvent'),
      Acceptance: {
        type: 'object',
        required: ['outcome'],
        properties: { outcome: { enum: ['handled', 'ignored', 'duplicate', 'discarded'] } },
      },
      Refusal: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['type', 'code', 'message', 'status'],
            properties: {
              type: { enum: ['authentication_error', 'invalid_request_error', 'api_error'] },
              code: { type: 'string' },
              message: { type: 'string' },
              status: { description: 'The same as the HTTP status.', type: 'integer' },
            },
          },
        },
      },
    },
    responses: {
      Accepted: {
        description: 'The event is handled, or was handled before. The service does not retry it.',
        headers: {
          'Idempotency-Replayed': { description: 'Sent for a duplicate.', schema: { const: 'true' } },
        },
        content: json(ref('schemas', 'Acceptance')),
      },
      ...mapped(refusals, refusal),
    },
  },
};
