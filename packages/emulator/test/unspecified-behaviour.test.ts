import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';

// The choices in docs/emulator.md, "Where the specification shows nothing", that no other test is about.

const URL = 'https://app.example/webhooks';
const LIMITS = '/api/v1/account/api-limits';
const WEBHOOKS = '/api/v1/account/webhooks';
const SETTINGS = { url: URL, events: ['stt.completed'] };

let emulator: Emulator;
let status: number;
let received: Request[];
afterEach(() => emulator.close());

/** An emulator whose receiver answers with `status`, which a test may change. */
function create(options: EmulatorOptions = {}) {
  status = 500;
  received = [];
  emulator = createEmulator({
    fetch: (request) => {
      received.push(request);
      return new Response(null, { status });
    },
    ...options,
  });
  return emulator;
}

async function call(path: string, method = 'GET', body?: unknown, headers: Record<string, string> = {}) {
  const init = { method, headers: { 'x-api-key': emulator.apiKey, 'content-type': 'application/json', ...headers } };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await emulator.fetch(new Request(`http://api.test${path}`, { ...init, ...content }));
  const text = await answer.text();
  const parsed = text === '' ? {} : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body: parsed, code: parsed.error?.code };
}

describe('deliveries where the specification shows nothing', () => {
  it('one event has the same Idempotency-Key at every endpoint', async () => {
    create();
    emulator.endpoints.create({ url: URL });
    emulator.endpoints.create({ url: URL });
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    const keys = received.map(({ headers }) => headers.get('idempotency-key'));
    expect([keys.length, new Set(keys).size, keys[0] === keys[1]]).toEqual([4, 2, true]);
  });

  it('a redelivery that dies again counts toward the pause and can be redelivered', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const delivery = deliveries[0]?.id ?? '';
    for (const round of [1, 2]) {
      emulator.deliveries.redeliver(delivery);
      await emulator.runUntilIdle();
      expect(emulator.deliveries.get(delivery)).toMatchObject({ state: 'dead', attempts: 6, redeliveries: round });
      expect(emulator.endpoints.get(id)?.deadInARow).toBe(1 + round);
    }
  });

  it('a successful test resets the count of dead deliveries, and a failed one does not change it', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    await emulator.sendTest(id);
    await emulator.settled();
    expect(emulator.endpoints.get(id)?.deadInARow).toBe(1);
    status = 200;
    await emulator.sendTest(id);
    await emulator.settled();
    expect(emulator.endpoints.get(id)?.deadInARow).toBe(0);
  });

  it('a dead test can be redelivered, and is sent once more', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    const test = await emulator.sendTest(id);
    await emulator.settled();
    emulator.deliveries.redeliver(test.id);
    await emulator.runUntilIdle();
    expect(received).toHaveLength(2);
    expect(emulator.deliveries.get(test.id)).toMatchObject({ state: 'dead', attempts: 1, redeliveries: 1 });
  });

  it('an endpoint that is not healthy can be enabled, and its count restarts', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    for (let i = 0; i < 20; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.endpoints.get(id)).toMatchObject({ state: 'paused', deadInARow: 20 });
    emulator.endpoints.enable(id);
    expect(emulator.endpoints.get(id)).toMatchObject({ state: 'active', deadInARow: 0 });
  });

  it('pending deliveries continue at a changed URL, and also after changed event types', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.update(id, { url: 'https://new.example/', events: ['stt.failed'] });
    await emulator.advance(30_000);
    expect(received.map(({ url }) => url)).toEqual([URL, 'https://new.example/']);
  });

  it('a redelivery waits while its endpoint is paused', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    emulator.endpoints.pause(id);
    expect(emulator.deliveries.redeliver(deliveries[0]?.id ?? '')).toMatchObject({ state: 'waiting', attempts: 0 });
    status = 200;
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });
});

describe('the API where the specification shows nothing', () => {
  it('an update without url and events is refused, and other fields are ignored', async () => {
    create();
    const { id } = emulator.endpoints.create(SETTINGS);
    expect(await call(`${WEBHOOKS}/${id}`, 'PATCH', { name: 'mine' })).toMatchObject({
      status: 400,
      code: 'invalid_body',
    });
    expect((await call(`${WEBHOOKS}/${id}`, 'PATCH', { ...SETTINGS, name: 'mine' })).body).toEqual({ id, ...SETTINGS });
    expect((await call(WEBHOOKS, 'POST', { ...SETTINGS, name: 'mine' })).status).toBe(201);
  });

  it.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])('the method %s on a known path is unknown', async (method) => {
    create();
    expect((await call(LIMITS, method)).status).toBe(404);
  });

  it.each([
    ['POST', '/v1/voices'],
    ['GET', '/api/v1/voices'],
    ['GET', '/v1/models'],
    ['GET', '/v1/speech-to-speech'],
    ['POST', '/v1/speech-to-text/stream/token'],
    ['GET', '/v1/dubbing/jobs/dub_1'],
    ['GET', '/v1/workflows/wf_1/runs/run_1'],
  ])('only a script answers %s %s', async (method, path) => {
    create();
    expect(await call(path, method)).toMatchObject({ status: 404, code: 'unknown_endpoint' });
    emulator.script({ method, path, status: 202 });
    expect((await call(path, method)).status).toBe(202);
  });

  it.each(['transcription_timeout', 'unsupported_media', 'insufficient_credits', 'workflow_empty'] as const)(
    'a script answers the code %s',
    async (error) => {
      create();
      emulator.script({ path: '/v1/jobs', error });
      expect((await call('/v1/jobs')).code).toBe(error);
    },
  );

  it('requests with a valid key on a known route count, whatever the answer', async () => {
    create();
    const sandbox = emulator.keys.create({ kind: 'sandbox' });
    const platform = emulator.keys.create({ kind: 'platform' });
    emulator.script({ path: '/v1/free' });
    emulator.script({ path: '/v1/counted', authenticate: true });
    const counted = [
      await call(WEBHOOKS, 'POST', {}),
      await call(`${WEBHOOKS}/wh_0`, 'DELETE'),
      await call(WEBHOOKS, 'POST', SETTINGS, { 'x-api-key': sandbox }),
      await call('/v1/counted'),
    ];
    expect(counted.map((answer) => answer.status)).toEqual([422, 404, 400, 200]);
    await call('/v1/free');
    await call('/nowhere');
    await call(LIMITS, 'GET', undefined, { 'x-api-key': platform });
    await call(LIMITS, 'GET', undefined, { 'x-api-key': 'acct_unknown_key' });
    await call(WEBHOOKS, 'POST', {}, { 'content-length': '200000001' });
    expect((await call(LIMITS)).headers.get('x-daily-requests-used')).toBe('5');
  });

  it('the path is checked before the key, and the key before the body', async () => {
    create();
    const none = { 'x-api-key': '' };
    expect((await call('/nowhere', 'GET', undefined, none)).code).toBe('unknown_endpoint');
    expect((await call(WEBHOOKS, 'POST', {}, none)).code).toBe('missing_api_key');
    const key = emulator.keys.create({ scopes: ['webhooks:read'] });
    expect((await call(WEBHOOKS, 'POST', {}, { 'x-api-key': key })).code).toBe('insufficient_scope');
  });

  it('a body of 200 000 000 bytes is accepted, and one more byte is refused', async () => {
    create();
    const declared = (length: string) => call('/nowhere', 'POST', {}, { 'content-length': length });
    expect((await declared('200000000')).code).toBe('unknown_endpoint');
    expect(await declared('200000001')).toMatchObject({ status: 413, code: 'file_too_large' });
  });

  it('a plan without API access reports one key', async () => {
    create({ account: { plan: 'FREE' } });
    expect((await call(LIMITS)).body.limits.max_keys_per_account).toBe(1);
  });

  it('the minute of x-ratelimit-reset starts with the request', async () => {
    create({ startAt: 5_000 });
    expect((await call(LIMITS)).headers.get('x-ratelimit-reset')).toBe('65');
  });
});
