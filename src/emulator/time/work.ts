import { createQueue } from './queue.js';

/** What is going on in real time: a virtual clock stands still until it is done. */
export interface Work {
  /** Runs a job as soon as fewer than the limit run. It counts as going on from now. */
  run(job: () => Promise<void>): void;
  /** For a job that waits for the clock: it neither counts nor takes a place meanwhile. */
  rest(): void;
  /** Ends {@link Work.rest}. */
  resume(): void;
  /** Resolves when nothing is going on. */
  settled(): Promise<void>;
  /** Resolves when no more jobs wait than may run at once. */
  room(): Promise<void>;
}

export function createWork(limit: number): Work {
  const queue = createQueue<() => Promise<void>>();
  let running = 0;
  const settled = createGate(() => running === 0);
  const room = createGate(() => queue.size <= limit);

  const start = () => {
    while (running < limit && queue.size > 0) {
      running += 1;
      (queue.shift() as () => Promise<void>)().then(end, end);
    }
  };
  const end = () => {
    running -= 1;
    start();
    settled.open();
    room.open();
  };

  return {
    run(job) {
      queue.push(job);
      start();
    },
    rest: end,
    resume() {
      running += 1;
    },
    settled: settled.pass,
    room: room.pass,
  };
}

/** Whoever waits for something to hold. */
function createGate(holds: () => boolean) {
  let waiting: (() => void)[] = [];
  return {
    /** Wakes them, if it holds by now. */
    open() {
      if (!holds()) return;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    /** Asks again when it is woken: whoever was woken before may have started something. */
    async pass(): Promise<void> {
      while (!holds()) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
