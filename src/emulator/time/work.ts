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
  const isSettled = () => running === 0 && queue.size === 0;
  const hasRoom = () => queue.size <= limit;
  let waiting: { holds: () => boolean; resolve: () => void }[] = [];

  const start = () => {
    while (running < limit && queue.size > 0) {
      running += 1;
      (queue.shift() as () => Promise<void>)().then(end, end);
    }
  };
  const end = () => {
    running -= 1;
    start();
    if (waiting.length === 0) return;
    const ready = waiting.filter(({ holds }) => holds());
    waiting = waiting.filter(({ holds }) => !holds());
    for (const { resolve } of ready) resolve();
  };
  /** Asks again when it is woken: whoever was woken before may have started something. */
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((resolve) => waiting.push({ holds, resolve }));
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
    settled: () => until(isSettled),
    room: () => until(hasRoom),
  };
}
