import { describe, expect, it } from 'vitest';
import { LIMITS, SETTINGS, startApi, WEBHOOKS } from './client.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Half a second after nine o'clock. */
const START = Date.UTC(2026, 6, 11, 9) + 500;

describe("the limit of requests per minute of the emulator's API", () => {
  it('a minute is the 60 s from its first request on', async () => {
    const { emulator, call } = startApi({ account: { requestsPerMinute: 2 } });
    await call(LIMITS);
    await emulator.advance(MINUTE - 1);
    expect((await call(LIMITS)).status).toBe(200);
    expect((await call(LIMITS)).error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    await emulator.advance(1);
    expect([(await call(LIMITS)).status, (await call(LIMITS)).status, (await call(LIMITS)).status]).toEqual([
      200, 200, 429,
    ]);
  });

  it('a request that does not count, to an unknown path, does not start the minute', async () => {
    const { emulator, call } = startApi({ account: { requestsPerMinute: 1 } });
    await call('/nowhere');
    await emulator.advance(50_000);
    await call(LIMITS);
    await emulator.advance(59_999);
    expect((await call(LIMITS)).status).toBe(429);
    await emulator.advance(1);
    expect((await call(LIMITS)).status).toBe(200);
  });

  it('the headers report the full limit again when the minute is over', async () => {
    const { emulator, call } = startApi({ account: { requestsPerMinute: 2 } });
    await call(LIMITS);
    await emulator.advance(MINUTE);
    expect((await call('/nowhere')).headers['x-ratelimit-remaining']).toBe('2');
  });

  it.each([
    [0, '60'],
    [1, '60'],
    [1_000, '59'],
    [59_999, '1'],
  ])('a request refused %i ms after the minute began has Retry-After: %s', async (ms, seconds) => {
    const { emulator, call } = startApi({ startAt: START, account: { requestsPerMinute: 1 } });
    expect((await call(LIMITS)).headers).toMatchObject({ 'x-ratelimit-reset': String((START + 60_500) / 1_000) });
    await emulator.advance(ms);
    expect(await call(LIMITS)).toMatchObject({ status: 429, headers: { 'retry-after': seconds } });
  });
});

describe("the limit of requests per day of the emulator's API", () => {
  it('requests are refused until 00:00 UTC, with this error also where the minute is used up too', async () => {
    const { emulator, call } = startApi({ account: { requestsPerDay: 1, requestsPerMinute: 1 } });
    await call(LIMITS);
    await emulator.advance(15 * HOUR - 1_500);
    expect(await call(LIMITS)).toMatchObject({
      status: 429,
      code: 'daily_limit_exceeded',
      headers: { 'retry-after': '2' },
    });
    await emulator.advance(1_499);
    expect((await call(LIMITS)).headers['retry-after']).toBe('1');
    await emulator.advance(1);
    expect((await call('/nowhere')).headers['x-daily-requests-used']).toBe('0');
    expect((await call(LIMITS)).headers['x-daily-requests-used']).toBe('1');
  });

  it('all keys of an account share one count', async () => {
    const { emulator, call } = startApi();
    await call(LIMITS, { key: emulator.keys.create() });
    expect((await call(LIMITS)).body.limits.daily_requests_used).toBe(2);
  });

  it('a request refused by a limit does not count', async () => {
    const { call } = startApi({ account: { requestsPerMinute: 1 } });
    for (let i = 0; i < 3; i += 1) await call(LIMITS);
    expect((await call(LIMITS)).headers['x-daily-requests-used']).toBe('1');
  });

  it('only a request with a valid key on a known route counts, whatever the answer', async () => {
    const { emulator, call } = startApi();
    const sandbox = emulator.keys.create({ kind: 'sandbox' });
    const unscoped = emulator.keys.create({ scopes: [] });
    emulator.script({ path: '/v1/free' });
    emulator.script({ path: '/v1/counted', authenticate: true });
    const counted = [
      await call(WEBHOOKS, { method: 'POST', json: {} }),
      await call(`${WEBHOOKS}/wh_0`, { method: 'DELETE' }),
      await call(WEBHOOKS, { method: 'POST', json: SETTINGS, key: sandbox }),
      await call(WEBHOOKS, { key: unscoped }),
      await call('/v1/counted'),
    ];
    expect(counted.map(({ status }) => status)).toEqual([422, 404, 400, 403, 200]);
    await call('/v1/free');
    await call('/nowhere');
    await call(LIMITS, { key: null });
    await call(LIMITS, { key: 'acct_unknown_key' });
    await call(LIMITS, { key: emulator.keys.create({ kind: 'platform' }) });
    await call(WEBHOOKS, { method: 'POST', json: {}, headers: { 'content-length': '200000001' } });
    expect((await call(LIMITS)).headers['x-daily-requests-used']).toBe('6');
  });

  it('only a refusal by a limit has Retry-After', async () => {
    const { call } = startApi({ account: { requestsPerMinute: 1 } });
    for (const path of [LIMITS, '/nowhere']) expect((await call(path)).headers).not.toHaveProperty('retry-after');
    expect((await call(LIMITS)).headers).toHaveProperty('retry-after');
  });
});
