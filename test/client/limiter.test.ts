import type { ClientOptions } from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf, failureOf, START } from './clients.js';
import { type Api, hangUp, json, type Reply, refusal, serveApi } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

/** A clock that stands still until it is told to go on. */
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
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(Math.max(0, limit - used)),
      'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
    };
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
  const { client } = clientOf(api.url, { ...clock, limiter: true, timeoutMs: 600_000, ...options });
  return { client, clock, counts: service.counts };
}

/** Until so many requests have arrived, and then some turns of the event loop in which one too many could. */
async function arrived(count: number): Promise<void> {
  for (let turns = 0; turns < 10; turns += api.seen.length < count ? 0 : 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(api.seen).toHaveLength(count);
}

describe('a client with a limiter', () => {
  it('sends what a window has room for, and the rest in the next ones', async () => {
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

  it('runs into none of the 429s that it would get without', async () => {
    const { client, counts } = setUp(2, { limiter: false, maxAttempts: 1 });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.voices()));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(3);
    expect(counts).toEqual([1, 2, 3, 4, 5]);
  });

  it('counts what others use of the same account', async () => {
    const { client, clock, counts } = setUp(5);
    await client.voices();
    const other = clientOf(api.url, { ...clock });
    for (let i = 0; i < 3; i += 1) await other.client.voices();
    await client.voices();
    const last = client.voices();
    await arrived(5);
    clock.advance(60_000);
    await last;
    expect(counts).toEqual([1, 2, 3, 4, 5, 1]);
  });

  it('has everyone wait where a 429 comes all the same', async () => {
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

  it('says so at once where the wait would be longer than the call may take', async () => {
    const { client, clock, counts } = setUp(1);
    await client.voices();
    clock.advance(20_000);
    expect(await failureOf(client.voices({ timeoutMs: 30_000 }))).toMatchObject({
      code: 'limit_reached',
      message: 'limit_reached: GET /v1/voices: no request left for 40000 ms',
      attempts: 0,
      nothingDone: true,
    });
    expect(await failureOf(client.voices({ timeoutMs: 40_000 }))).toMatchObject({ code: 'limit_reached' });
    expect(counts).toEqual([1]);
  });

  it('waits for an answer that may make room, although the next window would be too late', async () => {
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

  it('goes on after a failure that is no rate limit, whatever its Retry-After says', async () => {
    const { client, clock } = setUp(5, { maxAttempts: 1 });
    api.replies.unshift(refusal('service_unavailable', 503, {}, { 'retry-after': '30' }));
    await failureOf(client.voices());
    await client.voices();
    expect(clock.sleeping()).toEqual([]);
  });

  it.each([
    ['does not say what is left', { 'x-ratelimit-remaining': '' }],
    ['is of a window that is over', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(START / 1000) }],
  ])('learns nothing from an answer that %s', async (_, headers) => {
    const { client, clock } = setUp(5);
    const reset = String(START / 1000 + 60);
    api.replies.unshift(json({}, 200, { 'x-ratelimit-limit': '5', 'x-ratelimit-reset': reset, ...headers }));
    await client.voices();
    const answers = held(2);
    const calls = [client.voices(), client.voices()];
    await arrived(2);
    answers[0]?.(left(5, 4, clock.now()));
    await arrived(3);
    answers[1]?.(json({}));
    await Promise.all(calls);
  });

  it('lets a call that waits be aborted, and the others go on', async () => {
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

  it('sends one first to find out, and the next where that one finds nothing out', async () => {
    const { client, counts } = setUp(5, { maxAttempts: 1 });
    api.replies.unshift(hangUp, json({}));
    const calls = Promise.allSettled(Array.from({ length: 5 }, () => client.voices()));
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', ...Array(4).fill('fulfilled')]);
    expect(counts).toEqual([1, 2, 3]);
  });

  it('waits for no more than a window, however wrong a clock is', async () => {
    const { client, clock } = setUp(5);
    const headers = { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' };
    api.replies.unshift(json({}, 200, headers));
    await client.voices();
    const next = client.voices();
    await expect.poll(() => clock.sleeping()).toEqual([60_000]);
    clock.advance(60_000);
    await next;
  });

  it('is not held up by an answer for those without an account', async () => {
    const { client, clock } = setUp(5);
    const nobody = { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' };
    api.replies.unshift(refusal('invalid_api_key', 401, {}, nobody));
    await failureOf(client.voices());
    await client.voices();
    expect(clock.sleeping()).toEqual([]);
  });

  it('goes by the least that was left where answers come in another order', async () => {
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

  it('goes by the later window where the service has begun one before it was due', async () => {
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

  it('goes on when a long answer has come, or when the window resets before that', async () => {
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

  it('does not count in a new window what is still to come of the old one', async () => {
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

/** The next requests wait for what they are given here. */
function held(count: number): ((reply: Reply) => void)[] {
  const answers: ((reply: Reply) => void)[] = [];
  const reply: Reply = (response, seen) => void answers.push((answer) => answer(response, seen));
  api.replies.unshift(...Array(count).fill(reply));
  return answers;
}

/** An answer of a window that has begun now. */
function left(limit: number, remaining: number, now: number): Reply {
  const [total, rest, reset] = [limit, remaining, Math.ceil(now / 1000) + 60].map(String) as [string, string, string];
  return json({}, 200, { 'x-ratelimit-limit': total, 'x-ratelimit-remaining': rest, 'x-ratelimit-reset': reset });
}
