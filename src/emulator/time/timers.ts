import TinyQueue from 'tinyqueue';

/** Something that is to happen at a point in time. */
export interface Timer {
  cancel(): void;
}

/** Timers in the order in which they are due; of those due together, in the order in which they were added. */
export interface Timers {
  add(at: number, run: () => void): Timer;
  /** When the first is due; undefined where there is none. */
  readonly next: number | undefined;
  /** Takes out the first, if it is due by then. */
  take(by: number): (() => void) | undefined;
  clear(): void;
}

interface Entry {
  at: number;
  order: number;
  /** Undefined: cancelled. It stays in its place until that comes. */
  run: (() => void) | undefined;
}

export function createTimers(): Timers {
  const queue = new TinyQueue<Entry>(undefined, (a, b) => a.at - b.at || a.order - b.order);
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
      while (queue.length > 0) queue.pop();
    },
  };
}
