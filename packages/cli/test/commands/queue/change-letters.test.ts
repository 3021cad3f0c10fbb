import { describe, expect, it } from 'vitest';
import { spread } from '../../../src/commands/queue/change-letters.js';

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
