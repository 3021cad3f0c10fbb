import { describe, expect, it } from 'vitest';
import { createQueue } from '../../src/time/queue.js';

function filled(...items: string[]) {
  const queue = createQueue<string>();
  for (const item of items) queue.push(item);
  return queue;
}

describe("the emulator's createQueue", () => {
  it('the first item in is the first out, and an empty queue returns undefined', () => {
    const queue = filled('a', 'b');
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(['a', 'b', undefined]);
    queue.push('c');
    expect([queue.size, queue.shift(), queue.size]).toEqual([1, 'c', 0]);
  });

  it('at(0) is the item that is first now', () => {
    const queue = filled('a', 'b', 'c');
    queue.shift();
    expect([queue.size, queue.at(0), queue.at(1), queue.at(2), queue.at(-1)]).toEqual([
      2,
      'b',
      'c',
      undefined,
      undefined,
    ]);
    expect([...queue]).toEqual(['b', 'c']);
  });

  it('filter() keeps the order, and items can be added after it', () => {
    const queue = filled('a', 'b', 'c', 'd');
    queue.shift();
    queue.filter((item) => item !== 'c');
    queue.push('e');
    expect([queue.size, queue.at(0), queue.at(2)]).toEqual([3, 'b', 'e']);
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual(['b', 'd', 'e', undefined]);
  });

  it('the order is kept over thousands of items added and removed in turn', () => {
    const queue = createQueue<number>();
    const seen: (number | undefined)[] = [];
    for (let n = 0; n < 5_000; n += 1) {
      queue.push(n);
      if (n >= 3) seen.push(queue.shift());
    }
    expect(seen).toEqual(Array.from({ length: 4_997 }, (_, n) => n));
    expect([...queue]).toEqual([4_997, 4_998, 4_999]);
  });
});
