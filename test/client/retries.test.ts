import { API_ERRORS, type ApiErrorCode, type ClientOptions, type ClientRequest } from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sleep } from '../../src/client/time-limit.js';
import { clientOf, failureOf, START } from './clients.js';
import { type Api, breakOff, hangUp, json, type Reply, refusal, serveApi, text } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

const GET = { path: '/v1/voices' };
const POST = { method: 'POST', path: '/v1/voices', body: {} };

/** How it ended, how often it was sent, and the waits between. */
async function run(request: ClientRequest, replies: Reply[], options?: Partial<ClientOptions>) {
  const { client, waits } = clientOf(api.url, options);
  api.reset();
  api.replies.push(...replies);
  const ended = await client.request(request).then(
    ({ attempts }) => `ok at ${attempts}`,
    ({ code, attempts }) => `${code} at ${attempts}`,
  );
  return [ended, api.seen.length, waits];
}

const of = (code: string, headers = {}) => refusal(code, API_ERRORS[code as ApiErrorCode].status, {}, headers);
const times = <T>(count: number, value: T): T[] => Array(count).fill(value);

describe('a GET is sent again', () => {
  it.each(['internal_error', 'server_error', 'service_unavailable', 'worker_error', 'upstream_error'])(
    'after %s, with waits that double',
    async (code) => {
      expect(await run(GET, times(3, of(code)))).toEqual(['ok at 4', 4, [500, 1000, 2000]]);
    },
  );

  it.each<[what: string, reply: Reply]>([
    ['an empty 500', text('', 500)],
    ['the error page of a proxy', text('<title>Bad Gateway</title>', 502)],
    ['a connection that is cut off', hangUp],
    ['an answer that is cut off', breakOff],
  ])('after %s', async (_, reply) => {
    expect(await run(GET, [reply])).toEqual(['ok at 2', 2, [500]]);
  });

  it('with jitter: half of each wait is left to chance', async () => {
    const replies = times(3, of('internal_error'));
    expect(await run(GET, replies, { random: () => 0 })).toEqual(['ok at 4', 4, [250, 500, 1000]]);
    expect(await run(GET, replies, { random: () => 0.5 })).toEqual(['ok at 4', 4, [375, 750, 1500]]);
  });

  it('five times at most, or as often as it is said', async () => {
    const replies = times(20, of('internal_error'));
    expect(await run(GET, replies)).toEqual(['internal_error at 5', 5, [500, 1000, 2000, 4000]]);
    expect(await run(GET, replies, { maxAttempts: 1 })).toEqual(['internal_error at 1', 1, []]);
    const [, , waits] = await run(GET, replies, { maxAttempts: 8 });
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 16_000]);
  });
});

describe('a rate limit', () => {
  it.each(['rate_limit_exceeded', 'rate_limited', 'rate_limit'])(
    '%s is waited for as Retry-After says',
    async (code) => {
      const reply = of(code, { 'retry-after': '7' });
      expect(await run(GET, [reply])).toEqual(['ok at 2', 2, [7500]]);
      expect(await run(POST, [reply])).toEqual(['ok at 2', 2, [7500]]); // refused, so nothing was created
    },
  );

  it('may have a date for a Retry-After, or a wrong one', async () => {
    const date = new Date(START + 9_000).toUTCString();
    expect(await run(GET, [of('rate_limited', { 'retry-after': date })])).toEqual(['ok at 2', 2, [9500]]);
    const past = [of('rate_limited', { 'retry-after': new Date(START - 9_000).toUTCString() })];
    expect(await run(GET, past)).toEqual(['ok at 2', 2, [500]]);
    for (const wrong of ['soon', '-5', '1.5', '', 'Saturday, 21 Nov 2026 13:00:00 GMT', 'Sat, 21']) {
      expect(await run(GET, [of('rate_limited', { 'retry-after': wrong })])).toEqual(['ok at 2', 2, [500]]);
      api.replies.push(of('rate_limited', { 'retry-after': wrong }));
      const failure = await failureOf(clientOf(api.url, { maxAttempts: 1 }).client.voices());
      expect(failure.retryAfter).toBeUndefined();
    }
  });

  it('is waited for no shorter than another failure would be, and not by all at once', async () => {
    const reply = of('rate_limited', { 'retry-after': '0' });
    expect(await run(GET, times(2, reply), { random: () => 0.5 })).toEqual(['ok at 3', 3, [375, 750]]);
    const later = of('rate_limited', { 'retry-after': '7' });
    expect(await run(GET, [later], { random: () => 0.5 })).toEqual(['ok at 2', 2, [7250]]);
  });

  it('of the day is not waited for where the time limit comes first', async () => {
    const reply = of('daily_limit_exceeded', { 'retry-after': '3600' });
    expect(await run(GET, [reply])).toEqual(['daily_limit_exceeded at 1', 1, []]);
    expect(await run({ ...GET, timeoutMs: 4_000_000 }, [reply])).toEqual(['ok at 2', 2, [3_600_500]]);
  });

  it.each(['concurrency_limit_exceeded', 'account_limited'])('%s is not: waiting alone does not help', async (code) => {
    expect(await run(GET, [of(code, { 'retry-after': '1' })])).toEqual([`${code} at 1`, 1, []]);
  });
});

describe('nothing is sent again', () => {
  it.each(
    Object.entries(API_ERRORS)
      .filter(([, { retry }]) => retry === 'never')
      .map(([code]) => code),
  )('after %s', async (code) => {
    const [ended, sent] = await run(GET, [of(code)]);
    expect([ended, sent]).toEqual([expect.stringMatching(/^\w+ at 1$/), 1]);
  });

  it.each<[what: string, reply: Reply]>([
    ['an answer that is no JSON', text('<html>')],
    ['a redirect', text('', 307, { location: '/' })],
    ['a 504 of a proxy', text('', 504)],
  ])('after %s', async (_, reply) => {
    expect((await run(GET, [reply]))[1]).toBe(1);
  });
});

describe('a POST is sent again', () => {
  it.each(['storage_error', 'conversion_failed', 'generation_failed'])(
    'after %s, by which nothing was done',
    async (code) => {
      expect(await run(POST, [of(code)])).toEqual(['ok at 2', 2, [500]]);
    },
  );

  it('after a connection that was refused, so that nothing was sent', async () => {
    const gone = await serveApi();
    await gone.close();
    const { client, waits } = clientOf(gone.url);
    expect(await failureOf(client.request(POST))).toMatchObject({ code: 'no_connection', attempts: 5 });
    expect(waits).toHaveLength(4);
  });

  it.each<[what: string, reply: Reply]>([
    ['a connection that was cut off', hangUp],
    ['an answer that was cut off', breakOff],
    ['internal_error', of('internal_error')],
    ['service_unavailable', of('service_unavailable')],
    ['clone_error', of('clone_error')],
    ['the error page of a proxy', text('<title>Bad Gateway</title>', 502)],
  ])('never after %s: it could create twice', async (_, reply) => {
    const [ended, sent] = await run(POST, [reply]);
    expect([ended, sent]).toEqual([expect.stringMatching(/ at 1$/), 1]);
    expect((await run({ ...POST, method: 'PATCH' }, [reply]))[1]).toBe(1);
  });

  it('wherever the caller says that it does the same', async () => {
    expect((await run({ ...POST, repeatable: true }, [hangUp]))[1]).toBe(2);
    expect((await run({ ...GET, repeatable: false }, [hangUp]))[1]).toBe(1);
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('or a %s, which does the same twice', async (method) => {
    expect((await run({ path: '/v1/voices', method }, [hangUp]))[1]).toBe(2);
  });

  it('and its error says whether it may have had an effect', async () => {
    const { client } = clientOf(api.url);
    api.replies.push(hangUp, of('invalid_body'), of('internal_error'));
    for (const nothingDone of [false, true, false]) {
      expect(await failureOf(client.request(POST))).toMatchObject({ nothingDone, attempts: 1 });
    }
  });
});

describe('a call ends', () => {
  const silent: Reply = () => {};

  it('with the reason of its signal, wherever it is', async () => {
    const reason = new Error('enough');
    const { client } = clientOf(api.url);
    expect(await failureOf(client.voices({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(api.seen).toEqual([]);

    for (const reply of [silent, ((response) => response.write('{')) satisfies Reply]) {
      const controller = new AbortController();
      api.replies.push((response, seen) => {
        reply(response, seen);
        controller.abort(reason);
      });
      expect(await failureOf(client.voices({ signal: controller.signal }))).toBe(reason);
    }

    const controller = new AbortController();
    const sleep = async (_: number, signal: AbortSignal) => {
      controller.abort(reason);
      expect(signal.aborted).toBe(true);
    };
    api.replies.push(of('internal_error'));
    expect(await failureOf(clientOf(api.url, { sleep }).client.voices({ signal: controller.signal }))).toBe(reason);
    expect(api.seen).toHaveLength(3);
  });

  it('and sends nothing after that, although nothing heeds the signal', async () => {
    const controller = new AbortController();
    let [sent, slept] = [0, Promise.resolve()];
    const fetch = async () => {
      sent += 1;
      return new Response('', { status: 500 });
    };
    const sleep = () => {
      controller.abort();
      slept = new Promise(setImmediate);
      return slept;
    };
    const { client } = clientOf(api.url, { fetch, sleep });
    expect(await failureOf(client.voices({ signal: controller.signal }))).toMatchObject({ name: 'AbortError' });
    await slept;
    await new Promise(setImmediate);
    expect(sent).toBe(1);
  });

  it('when its time is over, although the server or fetch never does', async () => {
    api.replies.push(silent);
    const { client } = clientOf(api.url);
    expect(await failureOf(client.voices({ timeoutMs: 50 }))).toMatchObject({
      code: 'timed_out',
      message: 'timed_out: GET /v1/voices: no answer in 50 ms',
      attempts: 1,
      nothingDone: false,
    });
    const deaf = clientOf(api.url, { fetch: () => new Promise(() => {}), timeoutMs: 1 });
    expect(await failureOf(deaf.client.voices())).toMatchObject({ code: 'timed_out' });
  });

  it('before a wait that would end too late', async () => {
    const replies = times(20, of('internal_error'));
    expect(await run({ ...GET, timeoutMs: 3400 }, replies)).toEqual(['internal_error at 3', 3, [500, 1000]]);
    expect(await run({ ...GET, timeoutMs: 3500 }, replies)).toEqual(['internal_error at 3', 3, [500, 1000]]);
    expect(await run({ ...GET, timeoutMs: 3501 }, replies)).toEqual(['internal_error at 4', 4, [500, 1000, 2000]]);
  });

  it('and has one listener at the signal, however many have the same', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const listen = vi.spyOn(signal, 'addEventListener');
    const { client } = clientOf(api.url);
    await Promise.all(Array.from({ length: 12 }, () => client.voices({ signal })));
    const aborted = [0, 1].map(() => failureOf(client.voices({ signal })));
    controller.abort();
    for (const failure of await Promise.all(aborted)) expect(failure).toMatchObject({ name: 'AbortError' });
    expect(listen).toHaveBeenCalledTimes(1);
  });
});

it('waits by a timer unless it is told otherwise', async () => {
  api.replies.push(of('internal_error'), json({}));
  const { client } = clientOf(api.url, { sleep: undefined, now: undefined, random: () => -0.99 });
  expect(await client.voices()).toMatchObject({ attempts: 2 });
});

describe('leaves no timer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  it('when a wait is aborted', async () => {
    const controller = new AbortController();
    const slept = sleep(60_000, controller.signal);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort();
    await expect(slept).rejects.toMatchObject({ name: 'AbortError' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('when a call has ended', async () => {
    const during = vi.fn(async () => {
      expect(vi.getTimerCount()).toBe(1);
      return new Response('{}');
    });
    await clientOf(api.url, { fetch: during }).client.voices();
    expect(during).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });
});
