import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createProgressBar, inParallel, summaryOf } from '../../../src/commands/send/series.js';
import type { SendResult } from '../../../src/http/deliver.js';

/** What was started, and how many ran at once at most. */
async function watched(count: number, concurrency: number, task: (index: number) => Promise<void> = async () => {}) {
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const ended = inParallel(count, concurrency, async (index) => {
    started.push(index);
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    await task(index).finally(() => {
      running -= 1;
    });
  });
  const error = await ended.catch((reason: unknown) => reason);
  return { started, most, error };
}

describe('a task that send --count runs several times', () => {
  it.each([
    [5, 2, 2],
    [2, 5, 2],
    [3, 1, 1],
    [0, 3, 0],
  ])('a task for %i times with the concurrency %i runs at most %i times at once', async (count, concurrency, most) => {
    const started = Array.from({ length: count }, (_, index) => index);
    expect(await watched(count, concurrency)).toEqual({ started, most, error: undefined });
  });

  it('the first failure stops the rest', async () => {
    const failure = new Error('the third');
    const { started, error } = await watched(9, 2, async (index) => {
      if (index === 2) throw failure;
    });
    expect(error).toBe(failure);
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    expect(started).toEqual([0, 1, 2, 3]);
  });
});

const answer = (ms: number, status = 200): SendResult => ({ status, ms, headers: {}, body: '' });

describe('the summary of send --count', () => {
  it('deliveries are counted by status, or by the reason where there is no answer', () => {
    const all: SendResult[] = [
      answer(30),
      answer(10),
      { problem: 'nothing listens there', fix: 'Start it.', ms: 5 },
      answer(20, 500),
    ];
    expect(summaryOf(all, 1_234.4)).toEqual([
      {
        ...{ kind: 'summary', sent: 4, acknowledged: 2, seconds: 1.234 },
        answers: { 200: 2, 500: 1, 'nothing listens there': 1 },
        ms: { median: 20, p99: 30, most: 30 },
      },
      [
        ['bad', '2 of 4 acknowledged'],
        ['faint', 'in 1.234 s'],
      ],
      ['  200', '2 times'],
      ['  500', '1 times'],
      ['  nothing listens there', '1 times'],
      [['faint', '  20 ms median, 30 ms for 99 %, 30 ms at most']],
    ]);
  });

  it('the line has the style good where all deliveries are acknowledged', () => {
    const [, line] = summaryOf([answer(1), answer(2)], 1_000);
    expect(line).toEqual([
      ['good', '2 of 2 acknowledged'],
      ['faint', 'in 1 s'],
    ]);
  });

  it('deliveries that no handler has seen are counted apart, and the style is a warning', () => {
    const ignored: SendResult = { status: 200, ms: 3, headers: {}, body: '{"outcome":"ignored"}' };
    const [record, line] = summaryOf([answer(1), ignored], 1_000);
    expect(record).toMatchObject({
      acknowledged: 2,
      answers: { 200: 1, '200 acknowledged, no handler ran': 1 },
    });
    expect(line?.[0]).toEqual(['warn', '2 of 2 acknowledged']);
  });

  it('the summary has the median, the 99th percentile and the slowest time', () => {
    const all = Array.from({ length: 200 }, (_, index) => answer(200 - index));
    expect(summaryOf(all, 0)[0]).toMatchObject({ ms: { median: 101, p99: 199, most: 200 } });
  });

  it('the times are 0 where nothing was sent', () => {
    expect(summaryOf([], 0)[0]).toMatchObject({ sent: 0, ms: { median: 0, p99: 0, most: 0 } });
  });
});

/** A terminal whose clock stands still until it is moved. */
function aTerminal(isTTY = true) {
  const clock = { now: 5_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
  const written: string[] = [];
  return { clock, written, sink: { isTTY, write: (text: string) => written.push(text) } };
}

const CLEAR = '\r\u001b[K';

describe('the progress bar of send --count', () => {
  it('the bar is drawn over itself, and cleared at the end', () => {
    const { clock, written, sink } = aTerminal();
    const bar = createProgressBar(sink, 4, true);
    for (let step = 0; step < 4; step += 1) {
      bar.step();
      clock.now += 100;
    }
    bar.end();
    expect(written).toEqual([
      `${CLEAR}${'█'.repeat(7)}${'░'.repeat(23)} 1 of 4`,
      `${CLEAR}${'█'.repeat(15)}${'░'.repeat(15)} 2 of 4`,
      `${CLEAR}${'█'.repeat(22)}${'░'.repeat(8)} 3 of 4`,
      `${CLEAR}${'█'.repeat(30)} 4 of 4`,
      CLEAR,
    ]);
  });

  it('the bar is drawn at most ten times a second, and when all deliveries are sent', () => {
    const { clock, written, sink } = aTerminal();
    const bar = createProgressBar(sink, 4, true);
    bar.step();
    clock.now += 99;
    bar.step();
    bar.step();
    bar.step();
    expect(written.map((text) => text.slice(-6))).toEqual(['1 of 4', '4 of 4']);
  });

  it.each([
    ['off a terminal', false, true],
    ['where it is not wanted', true, false],
  ])('there is no bar %s', (_, isTTY, enabled) => {
    const { written, sink } = aTerminal(isTTY);
    const bar = createProgressBar(sink, 1, enabled);
    bar.step();
    bar.end();
    expect(written).toEqual([]);
  });
});
