import {
  ERRORS,
  PermanentError,
  type ReceiverOptions,
  WEBHOOK_EVENT_TYPES,
  type WebhookErrorCode,
  type WebhookRequest,
} from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aDelivery, aReceiver, aRequest, aStore, bodyOf, NOW, never, SECRET } from '../support/deliveries.js';
import { fits } from '../support/schemas.js';

const throwing = (): never => {
  throw new Error('CANARY-cause');
};

const mismatch = () => aRequest({ secret: 'whsec_another' });

interface Case {
  request?: () => WebhookRequest;
  options?: Partial<ReceiverOptions>;
  /** How many attempts come before the one that is looked at. */
  before?: number;
  advanceMs?: number;
}

/** One for every answer there is. */
const CASES: Record<string, Case> = {
  'missing_signature 401': { request: () => ({ ...aRequest(), headers: {} }) },
  'malformed_signature 401': { request: () => aRequest({ headers: { 'x-service-signature-v2': 't=CANARY' } }) },
  'signature_mismatch 401': { request: mismatch },
  'timestamp_too_old 401': { request: () => aRequest({ at: NOW - 400_000 }) },
  'timestamp_in_future 401': { request: () => aRequest({ at: NOW + 400_000 }) },
  'legacy_not_accepted 401': { request: () => aRequest({ scheme: 'legacy' }) },
  'invalid_encoding 400': { request: () => aRequest({ body: Buffer.from('{"CANARY":"\xff"}', 'latin1') }) },
  'invalid_json 400': { request: () => aRequest({ body: '{"CANARY":CANARY}' }) },
  'invalid_envelope 400': { request: () => aRequest({ body: '{"id":"CANARY"}' }) },
  'body_incomplete 400': {
    request: () => ({ ...aRequest(), body: new ReadableStream({ start: (c) => c.error(new Error('CANARY')) }) }),
  },
  'method_not_allowed 405': { request: () => ({ ...aRequest(), method: 'CANARY' }) },
  'body_timeout 408': { request: () => ({ ...aRequest(), body: new ReadableStream() }), advanceMs: 10_000 },
  'body_too_large 413': { options: { maxBodyBytes: 10 } },
  'unsupported_content_encoding 415': { request: () => aRequest({ headers: { 'content-encoding': 'CANARY' } }) },
  'delivery_in_progress 409': { options: { on: { '*': never } }, before: 1 },
  'handler_failed 500': { options: { on: { '*': throwing } } },
  'body_already_parsed 500': {
    request: () => ({ ...aRequest(), body: { CANARY: 'CANARY' } as never, rawBodyFix: 'CANARY' }),
  },
  'body_already_read 500': { request: () => ({ ...aRequest(), body: undefined, rawBodyFix: 'CANARY' }) },
  'invalid_secret 500': { options: { secret: async () => [' CANARY'] } },
  'handler_timeout 503': { options: { on: { '*': never } }, advanceMs: 15_000 },
  'store_unavailable 503': { options: { dedupe: { store: aStore({ claim: throwing }), name: 'clips' } } },
  'secret_unavailable 503': { options: { secret: throwing } },
};

async function answerTo({ request = aRequest, options = {}, before = 0, advanceMs = 0 }: Case) {
  vi.useFakeTimers();
  const watched = aReceiver(options);
  for (let i = 0; i < before; i++) void watched.receiver(request());
  await vi.advanceTimersByTimeAsync(0);
  const answer = watched.receiver(request());
  await vi.advanceTimersByTimeAsync(advanceMs);
  return { response: await answer, ...watched };
}

describe.each(Object.entries(CASES))('the answer %s', (name, parts) => {
  const [code, status] = name.split(' ') as [string, string];

  it("the answer %s is the service's error object with the code and one fixed sentence", async () => {
    const { response } = await answerTo(parts);
    expect(response.status).toBe(Number(status));
    expect(JSON.parse(response.body)).toEqual({
      error: {
        type: status === '401' ? 'authentication_error' : Number(status) < 500 ? 'invalid_request_error' : 'api_error',
        code,
        message: ERRORS[code as WebhookErrorCode].message,
        status: Number(status),
      },
    });
  });

  it('the answer %s is what the OpenAPI document says of its status', async () => {
    const { response } = await answerTo(parts);
    const place = `openapi.json#/components/responses/${status}/content/application~1json/schema`;
    expect(fits(place, JSON.parse(response.body))).toBe(true);
    expect(fits(place, { error: { code: 'another' } })).toBe(false);
  });

  it('the answer %s has the headers that go with its status, and no others', async () => {
    const more: Record<string, Record<string, string>> = {
      401: { 'www-authenticate': 'Webhook' },
      405: { allow: 'POST' },
      409: { 'retry-after': '25' },
      503: { 'retry-after': '30' },
    };
    const { response } = await answerTo(parts);
    expect(response.headers).toEqual({ 'content-type': 'application/json', ...more[status] });
  });

  it('the answer %s reveals nothing: no hint, no cause, no time, no secret, no signature, no piece of the body', async () => {
    const { response, outcomes } = await answerTo(parts);
    const text = JSON.stringify(response);
    const last = outcomes.at(-1) as { error: { hint: string; message: string } };
    expect(last.error.hint).not.toBe('');
    expect(text).not.toContain(last.error.hint);
    expect(text).not.toContain('CANARY');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('400 s');
    expect(text).not.toMatch(/[0-9a-f]{32}/);
    expect(text).not.toContain('evt_1');
  });

  it('the answer %s is reported to the observer once, with an error that holds no secret and no expected signature', async () => {
    const { outcomes } = await answerTo(parts);
    const { error } = outcomes.at(-1) as { error: Error & { code: string; hint: string } };
    expect(error.code).toBe(code);
    const said = `${error.message} ${error.hint} ${error.stack}`;
    expect(said).not.toContain(SECRET);
    for (const mac of Object.values(aDelivery().headers)) expect(said).not.toContain(mac.slice(-64));
    expect(said).not.toContain(bodyOf().slice(10, 40));
  });
});

describe('the answer to what was accepted', () => {
  it.each<[string, Case, Record<string, unknown>]>([
    ['handled', {}, { status: 200, headers: { 'content-type': 'application/json' } }],
    ['ignored', { options: { on: {} } }, { status: 200, headers: { 'content-type': 'application/json' } }],
    [
      'duplicate',
      { before: 1 },
      { status: 200, headers: { 'content-type': 'application/json', 'idempotency-replayed': 'true' } },
    ],
    [
      'discarded',
      {
        options: {
          on: {
            '*': () => {
              throw new PermanentError('CANARY');
            },
          },
        },
      },
      { status: 200, headers: { 'content-type': 'application/json' } },
    ],
  ])('the answer to an accepted delivery says that it was %s, and no more', async (outcome, parts, expected) => {
    const { response, answers } = await answerTo(parts);
    expect(response).toEqual({ ...expected, body: JSON.stringify({ outcome }) });
    expect(answers().at(-1)).toBe(outcome);
  });

  it.each([204, 205])(
    'the answer to an accepted delivery has no body where the handler asks for %d',
    async (status) => {
      const { response } = await answerTo({ options: { on: { '*': () => ({ status }) } } });
      expect(response).toMatchObject({ status, body: '' });
    },
  );
});

describe('Retry-After of a delivery in progress', () => {
  const retryAfter = async (retryAfterMs: number) => {
    const seen = { fingerprint: 'x' };
    const store = aStore({ claim: async () => ({ status: 'in_progress', fence: 1, retryAfterMs, seen }) });
    const { response } = await answerTo({ options: { dedupe: { store } } });
    expect(response.status).toBe(409);
    return response.headers['retry-after'];
  };

  it('Retry-After of a delivery in progress is in whole seconds, rounded up, and at least one', async () => {
    expect(await retryAfter(25_000)).toBe('25');
    expect(await retryAfter(24_001)).toBe('25');
    expect(await retryAfter(1_001)).toBe('2');
    expect(await retryAfter(1_000)).toBe('1');
    expect(await retryAfter(1)).toBe('1');
    expect(await retryAfter(0)).toBe('1');
    expect(await retryAfter(-5_000)).toBe('1');
  });
});

it('every event type is answered alike', async () => {
  const { receiver } = aReceiver();
  for (const [i, type] of WEBHOOK_EVENT_TYPES.entries()) {
    expect(await receiver(aRequest({ event: { id: `evt_${i}`, type } }))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"outcome":"handled"}',
    });
  }
});
