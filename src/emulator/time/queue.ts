/** First in, first out. `shift` does not move what stays, so that it costs the same at any size. */
export interface Queue<T> extends Iterable<T> {
  readonly size: number;
  push(item: T): void;
  shift(): T | undefined;
  at(index: number): T | undefined;
  /** Keeps only what passes. */
  filter(keep: (item: T) => boolean): void;
}

export function createQueue<T>(): Queue<T> {
  /** By their number, in the order in which they came. */
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
