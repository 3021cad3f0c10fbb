import { Heap } from 'heap-js';

/** A function call that is scheduled for a point in time. */
export interface Timer {
  cancel(): void;
}

/** Scheduled calls, ordered by time; calls for the same time are ordered as they were added. */
export interface Timers {
  add(at: number, run: () => void): Timer;
  /** The time of the first call; undefined where there is none. */
  readonly next: number | undefined;
  /** Removes and returns the first call if its time is at or before `by`. */
  take(by: number): (() => void) | undefined;
  clear(): void;
}

interface Entry {
  at: number;
  order: number;
  /** Undefined once cancelled; the entry leaves the queue when it becomes the first. */
  run: (() => void) | undefined;
}

export function createTimers(): Timers {
  const queue = new Heap<Entry>((a, b) => a.at - b.at || a.order - b.order);
  let added = 0;

  const first = () => {
    while (queue.length > 0 && queue.peek()?.run === undefined) queue.pop();
    return queue.peek();
  };

  return {
    add(at, run) {
      const entry: Entry = { at, order: added++, run };
      queue.push(entry);
      return {
        cancel() {
          entry.run = undefined;
        },
      };
    },
    get next() {
      return first()?.at;
    },
    take(by) {
      const entry = first();
      if (entry === undefined || entry.at > by) return undefined;
      queue.pop();
      return entry.run;
    },
    clear() {
      queue.clear();
    },
  };
}
