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
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    get size() {
      return items.length - head;
    },
    push(item) {
      items.push(item);
    },
    shift() {
      const item = items[head];
      if (head < items.length) items[head++] = undefined;
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    at: (index) => items[head + index],
    filter(keep) {
      items = (items.slice(head) as T[]).filter(keep);
      head = 0;
    },
    *[Symbol.iterator]() {
      yield* items.slice(head) as T[];
    },
  };
}
