import { describe, expect, it } from 'vitest';
import { createTimers, type Timers } from '../../src/time/timers.js';

/** The timers that are due by then, in their order. */
function due(timers: Timers, by: number): string[] {
  ran = [];
  for (let run = timers.take(by); run !== undefined; run = timers.take(by)) run();
  return ran;
}

let ran: string[] = [];
const named = (name: string) => () => void ran.push(name);

describe('createTimers', () => {
  it('timers are taken by time, and those of the same time as they were added', () => {
    const timers = createTimers();
    for (const [name, at] of [
      ['c', 30],
      ['a1', 10],
      ['b', 20],
      ['a2', 10],
      ['a3', 10],
    ] as const) {
      timers.add(at, named(name));
    }
    expect(timers.next).toBe(10);
    expect(due(timers, 30)).toEqual(['a1', 'a2', 'a3', 'b', 'c']);
    expect(timers.next).toBe(undefined);
  });

  it('a timer is not taken before its time', () => {
    const timers = createTimers();
    timers.add(10, named('a'));
    timers.add(20, named('b'));
    expect([due(timers, 9), due(timers, 10), due(timers, 19)]).toEqual([[], ['a'], []]);
    expect([timers.next, due(timers, 20)]).toEqual([20, ['b']]);
  });

  it('a cancelled timer is never taken', () => {
    const timers = createTimers();
    const first = timers.add(10, named('a'));
    const second = timers.add(20, named('b'));
    timers.add(30, named('c'));
    first.cancel();
    second.cancel();
    expect(timers.next).toBe(30);
    expect(due(timers, 30)).toEqual(['c']);
  });

  it('all timers can be cancelled', () => {
    const timers = createTimers();
    const only = timers.add(10, named('a'));
    only.cancel();
    expect([timers.next, due(timers, 10)]).toEqual([undefined, []]);
    timers.add(10, named('b'));
    expect(due(timers, 10)).toEqual(['b']);
  });

  it('clear removes all timers, and new ones can be added', () => {
    const timers = createTimers();
    timers.add(10, named('a'));
    timers.add(20, named('b'));
    timers.clear();
    expect([timers.next, due(timers, 20)]).toEqual([undefined, []]);
    timers.add(30, named('c'));
    expect(due(timers, 30)).toEqual(['c']);
  });
});
