import type { ClientOptions } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, START, useApi } from './clients.js';
import { hangUp, json, type Reply, refusal } from './serve-api.js';

const api = useApi();

/** A clock that stands still until `advance`. */
function createClock() {
  let time = START;
  let sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => time,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((wake, reject) => {
        sleepers.push({ at: time + ms, wake });
        signal.addEventListener('abort', () => {
          sleepers = sleepers.filter((sleeper) => sleeper.wake !== wake);
          reject(signal.reason);
        });
      }),
    sleeping: () => sleepers.map(({ at }) => at - time),
    advance(ms: number) {
      time += ms;
      const due = sleepers.filter(({ at }) => at <= time);
      sleepers = sleepers.filter(({ at }) => at > time);
      for (const { wake } of due) wake();
    },
  };
}

/** A service with a window of 60 s that starts at the first request and clears all at once (section 8.3). */
function limited(limit: number, now: () => number) {
  let [resetAt, used] = [0, 0];
  const counts: number[] = [];
  const reply: Reply = (response, seen) => {
    if (now() >= resetAt) [resetAt, used] = [now() + 60_000, 0];
    used += 1;
    counts.push(used);
    const headers = rateHeaders(limit, Math.max(0, limit - used), Math.ceil(resetAt / 1000));
    const seconds = String(Math.ceil((resetAt - now()) / 1000));
    const refused = refusal('rate_limit_exceeded', 429, {}, { ...headers, 'retry-after': seconds });
    (used <= limit ? json({}, 200, headers) : refused)(response, seen);
  };
  return { reply, counts };
}

function setUp(limit: number, options?: Partial<ClientOptions>) {
  const clock = createClock();
  const service = limited(limit, clock.now);
  api.replies.push(...Array(100).fill(service.reply));
  const { now, sleep } = clock;
  const { client } = clientOf(api.url, { now, sleep, limiter: true, timeoutMs: 600_000, ...options });
  return { client, clock, counts: service.counts };
}

/** Waits until this many requests have arrived, and then some turns of the event loop in which another one could. */
async function arrived(count: number): Promise<void> {
  for (let turns = 0; turns < 10; turns += api.seen.length < count ? 0 : 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(api.seen).toHaveLength(count);
}

describe('a client with a limiter', () => {
  it('each window gets as many requests as it has left', async () => {
    const { client, clock, counts } = setUp(5);
    const calls = Promise.all(Array.from({ length: 12 }, () => client.voices()));
    await arrived(5);
    clock.advance(60_000);
    await arrived(10);
    expect(counts).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
    clock.advance(60_000);
    expect(await calls).toHaveLength(12);
    expect(counts).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
    expect(clock.sleeping()).toEqual([]);
  });

  it('the same calls are refused with 429 where the option is off', async () => {
    const { client, counts } = setUp(2, { limiter: false, maxAttempts: 1 });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.voices()));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect(counts).toEqual([1, 2, 3, 4, 5]);
  });

  it('requests of other clients on the same account count', async () => {
    const { client, clock, counts } = setUp(5);
    await client.voices();
    const other = clientOf(api.url, { now: clock.now, sleep: clock.sleep });
    for (let i = 0; i < 3; i += 1) await other.client.voices();
    await client.voices();
    const last = client.voices();
    await arrived(5);
    clock.advance(60_000);
    await last;
    expect(counts).toEqual([1, 2, 3, 4, 5, 1]);
  });

  it('all calls wait after a 429', async () => {
    const { client, clock, counts } = setUp(5);
    api.replies.unshift(refusal('rate_limit_exceeded', 429, {}, { 'retry-after': '30' }));
    const [first, second] = [client.voices(), client.voices()];
    await arrived(1);
    await expect.poll(() => clock.sleeping().toSorted()).toEqual([30_000, 30_500]);
    clock.advance(30_000);
    await second;
    clock.advance(500);
    await first;
    expect(counts).toEqual([1, 2]);
  });

  it('a wait beyond the time limit is refused at once', async () => {
    const { client, clock, counts } = setUp(1);
    await client.voices();
    clock.advance(20_000);
    expect(await failureOf(client.voices({ timeoutMs: 30_000 }))).toMatchObject({
      code: 'limit_reached',
      message: expect.stringContaining('GET /v1/voices failed: the limit leaves no request for 40000 ms. '),
      attempts: 0,
      nothingDone: true,
    });
    expect(await failureOf(client.voices({ timeoutMs: 40_000 }))).toMatchObject({ code: 'limit_reached' });
    expect(counts).toEqual([1]);
  });

  it('a call waits for an answer that may make room before its time limit', async () => {
    const { client, clock } = setUp(2);
    await client.voices();
    const answers = held(1);
    const slow = client.voices();
    await arrived(2);
    const next = client.voices({ timeoutMs: 30_000 });
    await expect.poll(() => clock.sleeping()).toEqual([60_000]);
    answers[0]?.(json({}));
    await Promise.all([slow, next]);
  });

  it.each([
    ['does not say what is left', rateHeaders(5, '', START / 1000 + 60)],
    ['belongs to a window that is over', rateHeaders(5, 0, START / 1000)],
  ])('rate headers are ignored where the answer %s', async (_, headers) => {
    const { client, clock } = setUp(5);
    api.replies.unshift(json({}, 200, headers));
    await client.voices();
    const answers = held(2);
    const calls = [client.voices(), client.voices()];
    await arrived(2);
    answers[0]?.(left(5, 4, clock.now()));
    await arrived(3);
    answers[1]?.(json({}));
    await Promise.all(calls);
  });

  it('an abort ends a waiting call and leaves the others', async () => {
    const { client, clock } = setUp(1);
    await client.voices();
    const controller = new AbortController();
    const aborted = failureOf(client.voices({ signal: controller.signal }));
    const patient = client.voices();
    await arrived(1);
    controller.abort();
    expect(await aborted).toMatchObject({ name: 'AbortError' });
    clock.advance(60_000);
    await patient;
  });

  it('one request goes first to learn the limit, then another if it fails', async () => {
    const { client, counts } = setUp(5, { maxAttempts: 1 });
    api.replies.unshift(hangUp, json({}));
    const calls = Promise.allSettled(Array.from({ length: 5 }, () => client.voices()));
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
    expect(counts).toEqual([1, 2, 3]);
  });

  it('a reset time far in the future is waited for no longer than a window', async () => {
    const { client, clock } = setUp(5);
    api.replies.unshift(json({}, 200, rateHeaders(5, 0, 9_999_999_999)));
    await client.voices();
    const next = client.voices();
    await expect.poll(() => clock.sleeping()).toEqual([60_000]);
    clock.advance(60_000);
    await next;
  });

  it.each(['100000000000', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'a Retry-After of %s delays requests by a day and no longer',
    async (value) => {
      const DAY_MS = 86_400_000;
      const { client, clock, counts } = setUp(5, { maxAttempts: 1 });
      api.replies.unshift(refusal('daily_limit_exceeded', 429, {}, { 'retry-after': value }));
      expect(await failureOf(client.voices())).toMatchObject({ retryAfter: 86_400 });
      expect(await failureOf(client.voices())).toMatchObject({
        code: 'limit_reached',
        message: expect.stringContaining(`the limit leaves no request for ${DAY_MS} ms`),
      });
      const next = client.voices({ timeoutMs: DAY_MS + 1 });
      await expect.poll(() => clock.sleeping()).toEqual([DAY_MS]);
      clock.advance(DAY_MS);
      await next;
      expect(counts).toEqual([1]);
    },
  );

  it.each<[what: string, reply: Reply]>([
    ['a 503 with Retry-After', refusal('service_unavailable', 503, {}, { 'retry-after': '30' })],
    ['an invalid key, whose limit is 0', refusal('invalid_api_key', 401, {}, rateHeaders(0, 0, 9_999_999_999))],
    ['an unreadable Retry-After', refusal('rate_limit_exceeded', 429, {}, { 'retry-after': '1e11' })],
    ['an unreadable reset time', json({}, 200, rateHeaders(5, 0, '9'.repeat(400)))],
  ])('no call is delayed by %s', async (_, reply) => {
    const { client, clock } = setUp(5, { maxAttempts: 1 });
    api.replies.unshift(reply);
    await client.voices().catch(() => {});
    await client.voices();
    expect(clock.sleeping()).toEqual([]);
  });

  it('a clock that is set back by years delays no request', async () => {
    const { client, clock } = setUp(1);
    await client.voices();
    clock.advance(-5 * 365 * 86_400_000);
    api.replies.unshift(json({}));
    await client.voices();
    expect(clock.sleeping()).toEqual([]);
  });

  it('a fetch that never settles makes room at its time limit', async () => {
    const answers: (() => Promise<Response>)[] = [() => new Promise(() => {}), async () => new Response('{}')];
    const fetch = async () => (answers.shift() ?? expect.unreachable('a third request'))();
    const { client } = clientOf(api.url, { limiter: true, fetch });
    expect(await failureOf(client.voices({ timeoutMs: 1 }))).toMatchObject({ code: 'timed_out' });
    expect(await client.voices()).toMatchObject({ status: 200 });
  });

  it('the smallest number left counts where answers arrive out of order', async () => {
    const { client, clock } = setUp(3);
    await client.voices();
    const answers = held(2);
    const calls = [client.voices()];
    await arrived(2);
    calls.push(client.voices());
    await arrived(3);
    answers[1]?.(left(3, 0, clock.now()));
    await calls[1];
    answers[0]?.(left(3, 1, clock.now()));
    await calls[0];
    const next = client.voices();
    await arrived(3);
    clock.advance(60_000);
    await next;
  });

  it('the later window counts where the service starts one early', async () => {
    const { client, clock } = setUp(5);
    await client.voices();
    const answers = held(2);
    const calls = [client.voices()];
    await arrived(2);
    calls.push(client.voices());
    await arrived(3);
    answers[0]?.(left(5, 1, clock.now()));
    await calls[0];
    clock.advance(10_000);
    answers[1]?.(left(5, 4, clock.now()));
    await calls[1];
    const later = held(4);
    calls.push(...Array.from({ length: 4 }, () => client.voices()));
    await arrived(7);
    for (const answer of later) answer(json({}));
    await Promise.all(calls);
  });

  it('a waiting call goes on at a slow answer, or at the reset before it', async () => {
    const { client, clock } = setUp(2);
    await client.voices();
    let answers = held(1);
    const slow = client.voices();
    await arrived(2);
    const next = client.voices();
    await arrived(2);
    answers[0]?.(json({}));
    await Promise.all([slow, next]);
    expect(clock.sleeping()).toEqual([]);

    clock.advance(60_000);
    await client.voices();
    answers = held(1);
    const slower = client.voices();
    await arrived(5);
    const other = client.voices();
    await arrived(5);
    clock.advance(60_000);
    await other;
    answers[0]?.(json({}));
    await slower;
  });

  it('an answer of the old window is not counted in the new one', async () => {
    const { client, clock } = setUp(2);
    const old = left(2, 1, clock.now());
    await client.voices();
    const answers = held(4);
    const calls = [client.voices()];
    await arrived(2);
    clock.advance(60_000);
    calls.push(client.voices(), client.voices());
    await arrived(4);
    calls.push(client.voices());
    answers[0]?.(old);
    await arrived(4);
    answers[1]?.(left(2, 0, clock.now()));
    await expect.poll(() => clock.sleeping()).toEqual([60_000]);
    clock.advance(60_000);
    await arrived(5);
    for (const answer of answers.slice(2)) answer(json({}));
    await Promise.all(calls);
  });
});

/** Holds the next requests back; each is answered by a call of the function in its place. */
function held(count: number): ((reply: Reply) => void)[] {
  const answers: ((reply: Reply) => void)[] = [];
  const reply: Reply = (response, seen) => void answers.push((answer) => answer(response, seen));
  api.replies.unshift(...Array(count).fill(reply));
  return answers;
}

/** An answer of a window that begins at this time. */
function left(limit: number, remaining: number, now: number): Reply {
  return json({}, 200, rateHeaders(limit, remaining, Math.ceil(now / 1000) + 60));
}

function rateHeaders(limit: number, remaining: number | '', reset: number | string) {
  return { 'x-ratelimit-limit': `${limit}`, 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${reset}` };
}
