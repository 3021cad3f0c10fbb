import { API_ERRORS, type ApiErrorCode, type ClientOptions, type ClientRequest } from 'service-webhooks/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../support/server-process.js';
import { clientOf, failureOf, useApi } from './clients.js';
import { breakOff, hangUp, json, type Reply, refusal, text } from './serve-api.js';

const api = useApi();

const GET = { path: '/v1/voices' };
const POST = { method: 'POST', path: '/v1/voices', body: {} };

/** Returns how the call ended, how many requests were sent, and the waits between them. */
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

describe('a GET', () => {
  it.each(['internal_error', 'server_error', 'service_unavailable', 'worker_error', 'upstream_error'])(
    'waits double after %s',
    async (code) => {
      expect(await run(GET, times(3, of(code)))).toEqual(['ok at 4', 4, [500, 1000, 2000]]);
    },
  );

  it.each<[what: string, reply: Reply]>([
    ['an empty 500', text('', 500)],
    ['the error page of a proxy', text('<title>Bad Gateway</title>', 502)],
    ['a connection that is cut off', hangUp],
    ['an answer that is cut off', breakOff],
  ])('another attempt follows %s', async (_, reply) => {
    expect(await run(GET, [reply])).toEqual(['ok at 2', 2, [500]]);
  });

  it('half of each wait is random', async () => {
    const replies = times(3, of('internal_error'));
    expect(await run(GET, replies, { random: () => 0 })).toEqual(['ok at 4', 4, [250, 500, 1000]]);
    expect(await run(GET, replies, { random: () => 0.5 })).toEqual(['ok at 4', 4, [375, 750, 1500]]);
  });

  it('five attempts are made at most, or maxAttempts', async () => {
    const replies = times(20, of('internal_error'));
    expect(await run(GET, replies)).toEqual(['internal_error at 5', 5, [500, 1000, 2000, 4000]]);
    expect(await run(GET, replies, { maxAttempts: 1 })).toEqual(['internal_error at 1', 1, []]);
    const [, , waits] = await run(GET, replies, { maxAttempts: 8 });
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 16_000]);
  });
});

describe('a rate limit', () => {
  it.each(['rate_limit_exceeded', 'rate_limited', 'rate_limit'])(
    '%s is waited out as long as Retry-After says',
    async (code) => {
      const reply = of(code, { 'retry-after': '7' });
      expect(await run(GET, [reply])).toEqual(['ok at 2', 2, [7500]]);
      expect(await run(POST, [reply])).toEqual(['ok at 2', 2, [7500]]); // refused, so nothing was created
    },
  );

  it('a wait for Retry-After has jitter and the usual wait as its minimum', async () => {
    const reply = of('rate_limited', { 'retry-after': '0' });
    expect(await run(GET, times(2, reply), { random: () => 0.5 })).toEqual(['ok at 3', 3, [375, 750]]);
    const later = of('rate_limited', { 'retry-after': '7' });
    expect(await run(GET, [later], { random: () => 0.5 })).toEqual(['ok at 2', 2, [7250]]);
  });

  it('a daily limit is waited out only within the time limit of the call', async () => {
    const reply = of('daily_limit_exceeded', { 'retry-after': '3600' });
    expect(await run(GET, [reply])).toEqual(['daily_limit_exceeded at 1', 1, []]);
    expect(await run({ ...GET, timeoutMs: 4_000_000 }, [reply])).toEqual(['ok at 2', 2, [3_600_500]]);
  });

  it.each(['concurrency_limit_exceeded', 'account_limited'])(
    'no other attempt follows %s, because waiting does not help',
    async (code) => {
      expect(await run(GET, [of(code, { 'retry-after': '1' })])).toEqual([`${code} at 1`, 1, []]);
    },
  );
});

describe('a permanent failure', () => {
  it.each<[what: string, reply: Reply]>([
    ['an answer that is not JSON', text('<html>')],
    ['a redirect', text('', 307, { location: '/' })],
    ['a 504 of a proxy', text('', 504)],
  ])('a GET is not sent again after %s', async (_, reply) => {
    expect((await run(GET, [reply]))[1]).toBe(1);
  });
});

describe('a POST', () => {
  it.each(['storage_error', 'conversion_failed', 'generation_failed'])(
    'another attempt follows %s, which says that nothing was done',
    async (code) => {
      expect(await run(POST, [of(code)])).toEqual(['ok at 2', 2, [500]]);
    },
  );

  it('another attempt follows a refused connection, because nothing was sent', async () => {
    const { client, waits } = clientOf(`http://127.0.0.1:${await freePort()}`);
    const failure = await failureOf(client.request(POST));
    expect(failure).toMatchObject({ code: 'no_connection', attempts: 5, nothingDone: true, status: undefined });
    expect(failure.message).toContain('ECONNREFUSED');
    expect(waits).toHaveLength(4);
  });

  it.each<[what: string, reply: Reply]>([
    ['a connection that was cut off', hangUp],
    ['an answer that was cut off', breakOff],
    ['internal_error', of('internal_error')],
    ['service_unavailable', of('service_unavailable')],
    ['clone_error', of('clone_error')],
    ['the error page of a proxy', text('<title>Bad Gateway</title>', 502)],
  ])('no other attempt follows %s, because the effect could be doubled', async (_, reply) => {
    const [ended, sent] = await run(POST, [reply]);
    expect([ended, sent]).toEqual([expect.stringMatching(/ at 1$/), 1]);
    expect((await run({ ...POST, method: 'PATCH' }, [reply]))[1]).toBe(1);
  });

  it('the option repeatable allows or forbids another attempt', async () => {
    expect((await run({ ...POST, repeatable: true }, [hangUp]))[1]).toBe(2);
    expect((await run({ ...GET, repeatable: false }, [hangUp]))[1]).toBe(1);
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('a failed connection is repeated for %s', async (method) => {
    expect((await run({ path: '/v1/voices', method }, [hangUp]))[1]).toBe(2);
  });

  it('nothingDone says whether the request had no effect', async () => {
    api.replies.push(hangUp, of('invalid_body'), of('internal_error'));
    for (const nothingDone of [false, true, false]) {
      expect(await failureOf(api.client.request(POST))).toMatchObject({ nothingDone, attempts: 1 });
    }
  });
});

describe('the end of a call', () => {
  const silent: Reply = () => {};

  it('an aborted signal rejects with its reason, whatever is waited for', async () => {
    const reason = new Error('enough');
    expect(await failureOf(api.client.voices({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(api.seen).toEqual([]);

    for (const reply of [silent, ((response) => response.write('{')) satisfies Reply]) {
      const controller = new AbortController();
      api.replies.push((response, seen) => {
        reply(response, seen);
        controller.abort(reason);
      });
      expect(await failureOf(api.client.voices({ signal: controller.signal }))).toBe(reason);
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

  it('nothing is sent after an abort, even where fetch and sleep ignore the signal', async () => {
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

  it('a server or a fetch that never answers is timed out', async () => {
    api.replies.push(silent);
    expect(await failureOf(api.client.voices({ timeoutMs: 50 }))).toMatchObject({
      code: 'timed_out',
      message: 'GET /v1/voices failed: no answer in 50 ms. Raise timeoutMs, or ask for less. (timed_out)',
      attempts: 1,
      nothingDone: false,
    });
    const deaf = clientOf(api.url, { fetch: () => new Promise(() => {}), timeoutMs: 1 });
    expect(await failureOf(deaf.client.voices())).toMatchObject({ code: 'timed_out' });
  });

  it('a wait beyond the time limit is not begun', async () => {
    const replies = times(20, of('internal_error'));
    expect(await run({ ...GET, timeoutMs: 3400 }, replies)).toEqual(['internal_error at 3', 3, [500, 1000]]);
    expect(await run({ ...GET, timeoutMs: 3500 }, replies)).toEqual(['internal_error at 3', 3, [500, 1000]]);
    expect(await run({ ...GET, timeoutMs: 3501 }, replies)).toEqual(['internal_error at 4', 4, [500, 1000, 2000]]);
  });

  it('many calls with one signal add one listener to it', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const listen = vi.spyOn(signal, 'addEventListener');
    await Promise.all(Array.from({ length: 12 }, () => api.client.voices({ signal })));
    const aborted = [0, 1].map(() => failureOf(api.client.voices({ signal })));
    controller.abort();
    for (const failure of await Promise.all(aborted)) expect(failure).toMatchObject({ name: 'AbortError' });
    expect(listen).toHaveBeenCalledTimes(1);
  });
});

it('a client without the option sleep waits by a timer', async () => {
  api.replies.push(of('internal_error'), json({}));
  const { client } = clientOf(api.url, { sleep: undefined, now: undefined, random: () => -0.99 });
  expect(await client.voices()).toMatchObject({ attempts: 2 });
});

it('a call that has ended leaves no timer', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const fetch = vi.fn(async () => {
    expect(vi.getTimerCount()).toBe(1);
    return new Response('{}');
  });
  await clientOf(api.url, { fetch }).client.voices();
  expect(fetch).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
