import { describe, expect, it } from 'vitest';
import { createTimers } from '../../src/time/timers.js';

/** Timers with names, and a function that takes the names of those that are due by then. */
function create(...entries: [name: string, at: number][]) {
  const timers = createTimers();
  const ran: string[] = [];
  const add = (name: string, at: number) => timers.add(at, () => void ran.push(name));
  const due = (by: number) => {
    for (let run = timers.take(by); run !== undefined; run = timers.take(by)) run();
    return ran.splice(0);
  };
  return { timers, add, due, added: entries.map(([name, at]) => add(name, at)) };
}

describe("the emulator's createTimers", () => {
  it('timers are taken in order of time, and those of the same time as they were added', () => {
    const { timers, due } = create(['c', 30], ['a1', 10], ['b', 20], ['a2', 10], ['a3', 10]);
    expect(timers.next).toBe(10);
    expect(due(30)).toEqual(['a1', 'a2', 'a3', 'b', 'c']);
    expect(timers.next).toBe(undefined);
  });

  it('a timer is taken at its time and not before', () => {
    const { timers, due } = create(['a', 10], ['b', 20]);
    expect([due(9), due(10), due(19)]).toEqual([[], ['a'], []]);
    expect([timers.next, due(20)]).toEqual([20, ['b']]);
  });

  it('a cancelled timer is never taken', () => {
    const { timers, due, added } = create(['a', 10], ['b', 20], ['c', 30]);
    for (const timer of added.slice(0, 2)) timer.cancel();
    expect([timers.next, due(30)]).toEqual([30, ['c']]);
  });

  it('new timers can be added after all were cancelled or removed', () => {
    const { timers, add, due, added } = create(['a', 10]);
    added[0]?.cancel();
    expect([timers.next, due(10)]).toEqual([undefined, []]);
    add('b', 10);
    expect(due(10)).toEqual(['b']);
    add('c', 20);
    timers.clear();
    expect([timers.next, due(20)]).toEqual([undefined, []]);
    add('d', 30);
    expect(due(30)).toEqual(['d']);
  });
});
