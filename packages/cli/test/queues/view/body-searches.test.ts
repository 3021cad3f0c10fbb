import { expect, it } from 'vitest';
import { later } from '../../../../../test/support/deliveries.js';
import { bodySearches } from '../../../src/queues/view/body-searches.js';

/** Searches that end when a test says so, or when they are aborted. */
function searching() {
  const running = new Map<string, AbortSignal>();
  const ends = new Map<string, () => void>();
  const searches = bodySearches((text, signal) => {
    const { promise, resolve, reject } = later<ReadonlySet<number>>();
    signal.addEventListener('abort', () => reject(signal.reason));
    running.set(text, signal);
    ends.set(text, () => resolve(new Set([1])));
    return promise;
  });
  return { searches, running, end: (text: string) => ends.get(text)?.() };
}

it('a search of the same text and listing is read once', async () => {
  const { searches, end } = searching();
  const found = searches.find('a', 1);
  expect(searches.find('a', 1)).toBe(found);
  end('a');
  expect(await found).toEqual(new Set([1]));
  expect(searches.find('a', 1)).toBe(found);
});

it('three searches run at a time, and a fourth ends the oldest with a reason', async () => {
  const { searches, running, end } = searching();
  const [first] = ['a', 'b', 'c'].map((text) => searches.find(text, 1));
  expect([...running.values()].map(({ aborted }) => aborted)).toEqual([false, false, false]);
  const fourth = searches.find('d', 1);
  await expect(first).rejects.toThrow('Other searches have replaced this one: search again.');
  expect([...running.values()].map(({ aborted }) => aborted)).toEqual([true, false, false, false]);
  end('d');
  expect(await fourth).toEqual(new Set([1]));
  searches.close();
});

it('a search in another listing ends the one of the same text', async () => {
  const { searches, end } = searching();
  const before = searches.find('a', 1);
  const after = searches.find('a', 2);
  await expect(before).rejects.toThrow('replaced');
  end('a');
  expect(await after).toEqual(new Set([1]));
});

it('a search that has failed is read again, and the others stay', async () => {
  let isBroken = true;
  const searches = bodySearches(async () => {
    if (isBroken) throw new Error('no answer');
    return new Set([2]);
  });
  await expect(searches.find('a', 1)).rejects.toThrow('no answer');
  isBroken = false;
  const other = searches.find('b', 1);
  expect(await searches.find('a', 1)).toEqual(new Set([2]));
  expect(searches.find('b', 1)).toBe(other);
});
