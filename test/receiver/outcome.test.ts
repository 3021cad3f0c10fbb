import {
  ERRORS,
  PermanentError,
  type ReceiverOptions,
  WebhookError,
  type WebhookErrorCode,
  type WebhookRequest,
} from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { REFUSED_WITH, toResponse } from '../../src/receiver/outcome.js';
import { aDelivery, aReceiver, aRequest, aStore, bodyOf, NOW, never, SECRET } from '../support/deliveries.js';
import { fits } from '../support/schemas.js';
import { failing } from './traps.js';

interface Case {
  request?: () => WebhookRequest;
  options?: Partial<ReceiverOptions>;
  /** How many attempts come before the one that is looked at. */
  before?: number;
  advanceMs?: number;
}

const hanging = { on: { '*': never } };
const throwing = failing(new Error('CANARY-cause'))['*'];

/** One for every error that is answered. */
const REFUSALS: Record<string, Case> = {
  'missing_signature 401': { request: () => ({ ...aRequest(), headers: {} }) },
  'malformed_signature 401': { request: () => aRequest({ headers: { 'x-service-signature-v2': 't=CANARY' } }) },
  'signature_mismatch 401': { request: () => aRequest({ secret: 'whsec_another' }) },
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
  'delivery_in_progress 409': { options: hanging, before: 1 },
  'handler_failed 500': { options: { on: { '*': throwing } } },
  'body_already_parsed 500': {
    request: () => ({ ...aRequest(), body: { CANARY: 'CANARY' } as never, rawBodyFix: 'CANARY' }),
  },
  'body_already_read 500': { request: () => ({ ...aRequest(), body: undefined, rawBodyFix: 'CANARY' }) },
  'invalid_secret 500': { options: { secret: async () => [' CANARY'] } },
  'handler_timeout 503': { options: hanging, advanceMs: 15_000 },
  'store_unavailable 503': { options: { dedupe: { store: aStore({ claim: throwing as never }), name: 'clips' } } },
  'secret_unavailable 503': { options: { secret: throwing as never } },
};

const HEADERS: Record<string, Record<string, string>> = {
  401: { 'www-authenticate': 'Webhook' },
  405: { allow: 'POST' },
  409: { 'retry-after': '25' },
  503: { 'retry-after': '30' },
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

describe.each(Object.entries(REFUSALS))('a request that a receiver refuses with %s', (name, parts) => {
  const [code, status] = name.split(' ') as [WebhookErrorCode, string];

  it('the answer is the error object of the service, with a fixed sentence', async () => {
    const { response } = await answerTo(parts);
    const body = JSON.parse(response.body);
    const type = status === '401' ? 'authentication_error' : status < '500' ? 'invalid_request_error' : 'api_error';
    expect(body).toEqual({ error: { type, code, message: ERRORS[code].message, status: Number(status) } });
    expect(response.status).toBe(Number(status));
    expect(response.headers).toEqual({ 'content-type': 'application/json', ...HEADERS[status] });
    const schema = `openapi.json#/components/responses/${status}/content/application~1json/schema`;
    expect(fits(schema, body)).toBe(true);
    expect(fits(schema, { error: { code: 'another' } })).toBe(false);
  });

  it('the answer reveals no hint, cause, time, secret, signature or piece of the body', async () => {
    const { response, outcomes } = await answerTo(parts);
    const text = JSON.stringify(response);
    const last = outcomes.at(-1) as { error: { hint: string } };
    expect(last.error.hint).not.toBe('');
    for (const hidden of [last.error.hint, 'CANARY', SECRET, '400 s', 'evt_1']) expect(text).not.toContain(hidden);
    expect(text).not.toMatch(/[0-9a-f]{32}/);
  });

  it('the observer gets an error without the secret, the expected signature and the body', async () => {
    const { outcomes } = await answerTo(parts);
    const { error } = outcomes.at(-1) as { error: Error & { code: string; hint: string } };
    expect(error.code).toBe(code);
    const said = `${error.message} ${error.hint} ${error.stack}`;
    const signatures = Object.values(aDelivery().headers).map((value) => value.slice(-64));
    for (const hidden of [SECRET, ...signatures, bodyOf().slice(10, 40)]) expect(said).not.toContain(hidden);
  });
});

describe('the answer to an error that this version of the package does not know', () => {
  const error = Object.assign(new WebhookError('handler_failed'), { code: 'of_tomorrow', status: 422 });
  const answer = () => toResponse({ kind: 'failed', error: error as WebhookError });

  it('the body has the code in place of the sentence', () => {
    const response = answer();
    const { code, message } = JSON.parse(response.body).error;
    expect([response.status, code, message]).toEqual([422, 'of_tomorrow', 'of_tomorrow']);
  });

  it('the response has the error under a symbol that no copy takes along', () => {
    const response = answer();
    expect(Reflect.get(response, Symbol.for('service-webhooks.refused-with'))).toBe(error);
    expect(Object.getOwnPropertySymbols({ ...response })).not.toContain(REFUSED_WITH);
  });
});

describe("a receiver's answer to an accepted delivery", () => {
  it.each<[string, Case, Record<string, string>]>([
    ['handled', {}, {}],
    ['ignored', { options: { on: {} } }, {}],
    ['duplicate', { before: 1 }, { 'idempotency-replayed': 'true' }],
    ['discarded', { options: { on: failing(new PermanentError('CANARY')) } }, {}],
  ])('the body has the outcome %s and nothing else', async (outcome, parts, headers) => {
    const { response, answers } = await answerTo(parts);
    expect(response).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ outcome }),
    });
    expect(answers().at(-1)).toBe(outcome);
  });

  it.each([204, 205])('the answer has no body where the handler returns status %d', async (status) => {
    const { response } = await answerTo({ options: { on: { '*': () => ({ status }) } } });
    expect(response).toEqual({ status, headers: { 'content-type': 'application/json' }, body: '' });
  });
});

it.each([
  [25_000, '25'],
  [24_001, '25'],
  [1_001, '2'],
  [1_000, '1'],
  [1, '1'],
  [0, '1'],
  [-5_000, '1'],
])("a receiver's 409 to an event whose lease ends in %d ms has Retry-After: %s", async (retryAfterMs, expected) => {
  const seen = { fingerprint: 'x' };
  const store = aStore({ claim: async () => ({ status: 'in_progress', fence: 1, retryAfterMs, seen }) });
  const { response } = await answerTo({ options: { dedupe: { store } } });
  expect([response.status, response.headers['retry-after']]).toEqual([409, expected]);
});
