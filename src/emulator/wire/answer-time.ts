import { ANSWER_TIMEOUT_MS } from '../delivery/schedule.js';
import type { Clock } from '../time/clock.js';
import type { Work } from '../time/work.js';

/**
 * The time a receiver has for one answer. Faults let it pass on the clock, receivers let it pass in reality: where the
 * clock is virtual a receiver takes no time at all, unless it does not answer at all.
 */
export interface AnswerTime {
  /** Called once, if the receiver lets its time pass. */
  onPassed(callback: () => void): void;
  /** Lets time pass on the clock. False if the time for the answer ended with it, or it was interrupted. */
  hold(ms: number): Promise<boolean>;
  /** Ends a hold: what it was waiting for is no longer wanted. */
  interrupt(): void;
  /** The attempt has ended. */
  end(): void;
}

export interface AnswerTimeOptions {
  clock: Clock;
  work: Work;
  /** With a virtual clock, how long a receiver may really take. */
  hangAfterMs: number;
}

export function createAnswerTime({ clock, work, hangAfterMs }: AnswerTimeOptions): AnswerTime {
  let held = 0;
  let waited = 0;
  let waitingSince = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let passed = () => {};
  let wake: ((slept: boolean) => void) | undefined;
  let ended = false;

  const left = () => ANSWER_TIMEOUT_MS - held - (clock.running ? waited : 0);
  const wait = () => {
    waitingSince = performance.now();
    timer = setTimeout(() => passed(), clock.running ? left() : hangAfterMs - waited);
  };
  const stopWaiting = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    waited += performance.now() - waitingSince;
  };
  /** A virtual clock moves only while nothing else is going on, this attempt included. */
  const rest = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const alarm = clock.after(ms, () => wake?.(true));
      wake = (slept) => {
        wake = undefined;
        alarm.cancel();
        work.resume();
        resolve(slept);
      };
      work.rest();
    });

  wait();
  return {
    onPassed(callback) {
      passed = callback;
    },
    async hold(ms) {
      if (ended) return false;
      stopWaiting();
      const inTime = ms <= left();
      const pause = Math.max(0, Math.min(ms, left()));
      held += pause;
      const slept = pause === 0 || (await rest(pause));
      if (ended || !slept) return false;
      wait();
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
