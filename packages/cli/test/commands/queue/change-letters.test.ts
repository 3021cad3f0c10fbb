import type { FollowedState } from 'service-webhooks/queue';
import { describe, expect, it } from 'vitest';
import { later, never } from '../../../../../test/support/deliveries.js';
import { changeLetters, spread } from '../../../src/commands/queue/change-letters.js';
import { createOutput } from '../../../src/output.js';
import { filteredLetters } from '../../../src/queues/letter-selection.js';
import type { Session } from '../../../src/session.js';
import { aLetter, memoryQueue } from '../../page/memory-queue.js';

/** When items come, by a clock that pauses move, and the work between two of them. */
async function timesOf(count: number, overMs: number, work = 0) {
  const { signal } = new AbortController();
  let clock = 1_000;
  const times: number[] = [];
  const pause = async (ms: number) => {
    clock += ms;
  };
  const items = Array.from({ length: count }, (_, i) => i);
  for await (const _ of spread(items, { overMs, signal, pause, now: () => clock })) {
    times.push(clock - 1_000);
    clock += work;
  }
  return times;
}

describe('dead letters that queue spreads over a time', () => {
  it('the first letter comes at once, and the others at even intervals', async () => {
    expect(await timesOf(4, 60_000)).toEqual([0, 15_000, 30_000, 45_000]);
    expect(await timesOf(1, 60_000)).toEqual([0]);
    expect(await timesOf(0, 60_000)).toEqual([]);
    expect(await timesOf(3, 0)).toEqual([0, 0, 0]);
  });

  it('work delays the next letter only where it takes longer than the interval', async () => {
    expect(await timesOf(4, 60_000, 5_000)).toEqual([0, 15_000, 30_000, 45_000]);
    expect(await timesOf(3, 30_000, 20_000)).toEqual([0, 20_000, 40_000]);
  });

  it('an aborted signal ends the iteration, also between two letters', async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const all = async () => {
      for await (const one of spread([1, 2, 3], { overMs: 3_600_000, signal: stop.signal })) {
        seen.push(one);
        queueMicrotask(() => stop.abort());
      }
    };
    await expect(all()).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toEqual([1]);
  });
});

/** Retries dead letters 1 to 25 and waits for their ends; each answers what it is told. */
async function retryAndWait(
  answer: (id: string) => FollowedState,
  { waitMs = 60_000, limit = 100, isAll = false, isSilent = false, json = true } = {},
) {
  const memory = memoryQueue(Array.from({ length: 25 }, (_, n) => aLetter(n + 1)));
  memory.outcome = ({ id }) => answer(id);
  const opened = await memory.placed.open();
  const { promise: timeIsOver, resolve: endTime } = later();
  if (isSilent) {
    const { deadLetters } = opened.queue;
    opened.queue.deadLetters = async (page) => {
      if (memory.letters.length === 25) return deadLetters(page);
      endTime();
      return never();
    };
  }
  let text = '';
  const io = { stdout: { write: (part: string) => (text += part) }, stderr: { write: () => {} }, env: {} };
  const session = { out: createOutput(io, { json }), signal: new AbortController().signal } as unknown as Session;
  await changeLetters(session, opened, filteredLetters(session, opened, {}), {
    ...{ done: 'retried', overMs: 0, waitMs, limit, isAll, dryRun: false },
    run: ({ queue }, id) => queue.retryAndFollow?.(id) ?? Promise.resolve(undefined),
    pause: (ms) => (ms > 2_000 ? timeIsOver : new Promise(setImmediate)),
  });
  const lines = text.trim().split('\n');
  const records = json ? lines.map((line) => JSON.parse(line) as Record<string, unknown>) : [];
  const ofKind = (kind: string) => records.filter((record) => record['kind'] === kind);
  return { memory, lines, records, ofKind, exitCode: session.exitCode };
}

const RESULT = { kind: 'result', dryRun: false, retried: 25, gone: 0, deadAgain: 0, pending: 0, hasMore: false };

describe('dead letters whose retry is awaited', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])('letters that the limit leaves out, with all meant: %s, exit with %i', async (isAll, exitCode) => {
    const ended = await retryAndWait(() => 'done', { limit: 20, isAll });
    expect(ended.records.at(-1)).toEqual({ ...RESULT, retried: 20, handled: 20, hasMore: true });
    expect(ended.exitCode).toBe(exitCode);
  });

  it('the state of the others is not asked for after each retry, and new reasons are read once a look', async () => {
    const { memory, records, ofKind, exitCode } = await retryAndWait((id) => (Number(id) % 5 === 0 ? 'dead' : 'done'));
    expect(memory.calls.filter((call) => call === 'state')).toHaveLength(25);
    expect(memory.calls.filter((call) => call.startsWith('deadLetters'))).toEqual([
      ...['deadLetters 0+20', 'deadLetters 20+40'],
      'deadLetters 0+20',
    ]);
    expect(ofKind('dead_again').map(({ id, reason }) => [id, reason])).toEqual(
      ['5', '10', '15', '20', '25'].map((id) => [id, 'still no clip']),
    );
    expect(records.at(-1)).toEqual({ ...RESULT, handled: 20, deadAgain: 5 });
    expect(exitCode).toBe(1);
  });

  it('the advice after the wait names a missing worker and the time between two attempts', async () => {
    const { lines } = await retryAndWait((id) => (id === '8' ? 'pending' : 'done'), { waitMs: 0, json: false });
    expect(lines.slice(-2)).toEqual([
      '25 dead letters retried: 24 handled, 0 dead again, 1 not ended.',
      expect.stringMatching(/^Check that a worker runs\..*between two attempts: .*handler_failed.*--wait\.$/),
    ]);
    const ended = await retryAndWait(() => 'done', { json: false });
    expect(ended.lines.at(-1)).toBe('25 dead letters retried: 25 handled, 0 dead again, 0 not ended.');
  });

  it('letters whose new reasons cannot be read in time are reported without them', async () => {
    const { records, ofKind } = await retryAndWait((id) => (id === '5' ? 'dead' : 'done'), { isSilent: true });
    expect(ofKind('dead_again')).toEqual([expect.not.objectContaining({ reason: expect.anything() })]);
    expect(records.at(-1)).toEqual({ ...RESULT, handled: 24, deadAgain: 1 });
  });

  it('a state that cannot be read for a while does not end the command', async () => {
    let calls = 0;
    const { records, exitCode } = await retryAndWait(() => {
      calls += 1;
      if (calls < 40) throw new Error('no answer');
      return 'done';
    });
    expect(records.at(-1)).toEqual({ ...RESULT, handled: 25 });
    expect(exitCode).toBe(0);
  });

  it('a letter whose state cannot be read until the time is over is reported as pending, with the problem', async () => {
    const { records, ofKind, exitCode } = await retryAndWait(
      (id) => {
        if (id === '7') throw new Error('no answer');
        return id === '8' ? 'pending' : 'done';
      },
      { waitMs: 0 },
    );
    expect(ofKind('pending').toSorted((a, b) => Number(a['id']) - Number(b['id']))).toEqual([
      expect.objectContaining({ id: '7', problem: 'no answer' }),
      expect.not.objectContaining({ problem: expect.anything() }),
    ]);
    expect(records.at(-1)).toEqual({ ...RESULT, handled: 23, pending: 2 });
    expect(exitCode).toBe(1);
  });
});
