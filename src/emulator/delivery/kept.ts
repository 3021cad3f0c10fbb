import { createQueue } from '../time/queue.js';

/** The latest of what came in. */
export interface Kept<T> extends Iterable<T> {
  readonly size: number;
  add(item: T): void;
  at(index: number): T | undefined;
  /** Keeps only what passes; `evicted` is not called. */
  filter(keep: (item: T) => boolean): void;
}

export interface KeptOptions<T> {
  maxItems: number;
  maxBytes: number;
  bytesOf(item: T): number;
  /** Called with what had to go. */
  evicted?(item: T): void;
}

/** Keeps at most so many items, and of those no more than fit in so many bytes. The oldest go first. */
export function createKept<T>({ maxItems, maxBytes, bytesOf, evicted }: KeptOptions<T>): Kept<T> {
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
        evicted?.(oldest);
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
