/** A queue, first in, first out. `shift` takes the same time at any size. */
export interface Queue<T> extends Iterable<T> {
  readonly size: number;
  push(item: T): void;
  shift(): T | undefined;
  /** The item at that position, counted from 0 for the first. */
  at(index: number): T | undefined;
  /** Removes the items that do not pass. */
  filter(keep: (item: T) => boolean): void;
}

export function createQueue<T>(): Queue<T> {
  /** By consecutive numbers, the first of which is `head`. */
  const items = new Map<number, T>();
  let head = 0;
  const push = (item: T) => {
    items.set(head + items.size, item);
  };
  return {
    get size() {
      return items.size;
    },
    push,
    shift() {
      const item = items.get(head);
      if (items.delete(head)) head += 1;
      return item;
    },
    at: (index) => items.get(head + index),
    filter(keep) {
      const kept = [...items.values()].filter(keep);
      items.clear();
      for (const item of kept) push(item);
    },
    [Symbol.iterator]: () => items.values(),
  };
}
