import { createQueue } from './queue.js';

/** Runs requests, at most `limit` at once. A virtual clock stands still while any of them is running. */
export interface RequestPool {
  /** Runs a request as soon as fewer than the limit are running. */
  run(request: () => Promise<void>): void;
  /** Called by a request that waits for the clock: until {@link RequestPool.resume} it does not count as running. */
  rest(): void;
  /** Ends a {@link RequestPool.rest}. */
  resume(): void;
  /** Resolves when no request is running or queued. */
  settled(): Promise<void>;
  /** Resolves when no more requests are queued than may run at once. */
  room(): Promise<void>;
}

export function createRequestPool(limit: number): RequestPool {
  const queue = createQueue<() => Promise<void>>();
  let running = 0;
  let startsLater = false;
  const settled = createGate(() => running === 0 && queue.size === 0);
  const room = createGate(() => queue.size <= limit);

  const start = () => {
    while (running < limit && queue.size > 0) {
      running += 1;
      const request = queue.shift() as () => Promise<void>;
      request().then(end, end);
    }
    room.wake();
  };
  const end = () => {
    running -= 1;
    settled.wake();
    if (queue.size === 0 || startsLater) return;
    startsLater = true;
    // The answers that have already arrived come first: one of them may pause the endpoint.
    setImmediate(() => {
      startsLater = false;
      start();
    });
  };

  return {
    run(request) {
      queue.push(request);
      if (!startsLater) start();
    },
    rest: end,
    resume() {
      running += 1;
    },
    settled: settled.pass,
    room: room.pass,
  };
}

/** Lets callers wait until a condition is true. */
function createGate(isOpen: () => boolean) {
  let waiting: (() => void)[] = [];
  return {
    wake() {
      if (!isOpen()) return;
      const woken = waiting;
      waiting = [];
      for (const resolve of woken) resolve();
    },
    async pass(): Promise<void> {
      // In a loop: a caller that was woken earlier may have started another request.
      while (!isOpen()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
