import { createQueue } from '../time/queue.js';

/** The latest items, limited by number and by bytes. */
export interface BoundedLog<T> extends Iterable<T> {
  readonly size: number;
  /** Adds an item and drops the oldest ones that no longer fit. */
  add(item: T): void;
  at(index: number): T | undefined;
  /** Removes the items that do not pass, without calling `onDropped`. */
  filter(keep: (item: T) => boolean): void;
}

export interface BoundedLogOptions<T> {
  maxItems: number;
  maxBytes: number;
  bytesOf(item: T): number;
  /** Called with each item that no longer fits. */
  onDropped?(item: T): void;
}

export function createBoundedLog<T>({ maxItems, maxBytes, bytesOf, onDropped }: BoundedLogOptions<T>): BoundedLog<T> {
  const queue = createQueue<T>();
  let bytes = 0;
  return {
    get size() {
      return queue.size;
    },
    add(item) {
      queue.push(item);
      bytes += bytesOf(item);
      while (queue.size > maxItems || bytes > maxBytes) {
        const oldest = queue.shift() as T;
        bytes -= bytesOf(oldest);
        onDropped?.(oldest);
      }
    },
    at: (index) => queue.at(index),
    filter(keep) {
      queue.filter(keep);
      bytes = 0;
      for (const item of queue) bytes += bytesOf(item);
    },
    [Symbol.iterator]: () => queue[Symbol.iterator](),
  };
}
