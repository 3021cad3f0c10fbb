import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import type { Clock } from '../time/clock.js';
import type { RequestPool } from '../time/request-pool.js';

/** The time that a receiver has for the answer to one request. Who sends the request measures it. */
export interface RequestTime {
  /** Takes the function to call when the time is over, which stops the request. */
  onPassed(stop: () => void): void;
  /**
   * Waits for `ms` milliseconds before a piece of a slow body. Resolves to false if the time for the answer ended in the
   * meantime: then the request is stopped.
   */
  hold(ms: number): Promise<boolean>;
}

/**
 * The 20 s that a receiver has for one answer. Faults spend them on the emulator's clock, receivers in real time. With a
 * virtual clock a receiver spends none of them, unless it has not answered after `hangAfterMs`: then it spends all.
 */
export interface AnswerTime extends RequestTime {
  /** Ends a running {@link RequestTime.hold}, which then resolves to false. */
  interrupt(): void;
  /** Ends the attempt: no timer stays. */
  end(): void;
}

export interface AnswerTimeOptions {
  clock: Clock;
  pool: RequestPool;
  /** With a virtual clock, how long a receiver may take in real time. */
  hangAfterMs: number;
}

export function createAnswerTime({ clock, pool, hangAfterMs }: AnswerTimeOptions): AnswerTime {
  let held = 0;
  let waited = 0;
  let waitingSince = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let passed = () => {};
  let wake: ((slept: boolean) => void) | undefined;
  let ended = false;

  const left = () => ANSWER_TIMEOUT_MS - held - (clock.running ? waited : 0);
  const waitForReceiver = () => {
    waitingSince = performance.now();
    timer = setTimeout(() => passed(), Math.max(0, clock.running ? left() : hangAfterMs - waited));
  };
  const stopWaiting = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    waited += performance.now() - waitingSince;
  };
  /** A virtual clock moves only while no request is running, so this one does not count meanwhile. */
  const sleep = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const alarm = clock.after(ms, () => wake?.(true));
      wake = (slept) => {
        wake = undefined;
        alarm.cancel();
        pool.resume();
        resolve(slept);
      };
      pool.rest();
    });

  waitForReceiver();
  return {
    onPassed(stop) {
      passed = stop;
    },
    async hold(ms) {
      if (ended) return false;
      stopWaiting();
      const inTime = ms <= left();
      const pause = Math.max(0, Math.min(ms, left()));
      held += pause;
      const slept = pause === 0 || (await sleep(pause));
      if (ended || !slept) return false;
      waitForReceiver();
      return inTime;
    },
    interrupt: () => wake?.(false),
    end() {
      ended = true;
      clearTimeout(timer);
      wake?.(false);
    },
  };
}
