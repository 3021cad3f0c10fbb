import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilAnswered } from '../../src/queue/postgres.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const log = { outcome: () => {}, warn: vi.fn() };
const errorOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
/** An error of `pg`: one of the server has a severity. */
const failing = (code?: string, severity?: string) =>
  Object.assign(new Error('the server is away'), { code, severity });

describe('a query of a worker on PostgreSQL', () => {
  it.each([
    ['ECONNREFUSED', undefined],
    ['EPIPE', undefined],
    [undefined, undefined],
    ['57P01', 'FATAL'],
    ['57P03', 'FATAL'],
    ['53300', 'FATAL'],
    ['08006', 'ERROR'],
    ['40P01', 'ERROR'],
  ])('the worker repeats it until the server answers after the code %s', async (code, severity) => {
    const query = vi.fn(async () => 'answer').mockRejectedValueOnce(failing(code, severity));
    const answer = untilAnswered(query, { log, limitMs: 60_000 });
    await vi.advanceTimersByTimeAsync(500);
    expect(await answer).toBe('answer');
    expect(log.warn.mock.lastCall?.[1]).toContain('the server is away');
  });

  it.each(['42P01', '42501', '22021', '23505', 'P0001', 'XX000'])(
    'the worker does not repeat it after the refusal %s',
    async (code) => {
      const query = vi.fn(async () => Promise.reject(failing(code, 'ERROR')));
      expect(await errorOf(untilAnswered(query, { log, limitMs: 60_000 }))).toMatchObject({ code });
      expect(query).toHaveBeenCalledTimes(1);
    },
  );

  it('the query ends with its time limit or with the worker', async () => {
    const query = async () => Promise.reject(failing());
    const late = errorOf(untilAnswered(query, { log, limitMs: 60_000 }));
    await vi.advanceTimersByTimeAsync(60_500);
    expect(await late).toMatchObject({ message: 'the server is away' });
    const stopped = errorOf(untilAnswered(query, { log, limitMs: 60_000, signal: AbortSignal.abort() }));
    expect(await stopped).toMatchObject({ message: 'the server is away' });
  });
});
