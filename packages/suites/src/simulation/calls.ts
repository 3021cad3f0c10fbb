import type { Disturbances } from './disturbances.js';
import { type CallFault, faultOfCall, type WorldFaults } from './faults.js';
import { currentProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * Runs an effect in another system, as the process that calls it does over a network: it takes time, it may fail before or
 * after it has taken effect, and the process may be killed or paused on each side of it.
 */
export type Call = <T>(what: string, effect: () => T | PromiseLike<T>, possible?: readonly CallFault[]) => Promise<T>;

export interface CallParts {
  time: VirtualTime;
  random: Random;
  faults: WorldFaults;
  story: Story;
  disturbances: Disturbances;
  /** Counts what happens. */
  counts: { calls: number };
}

/** How long a call takes, in milliseconds: a slow one longer than each limit of the library. */
const USUAL_MS = 20;
const SLOWEST_MS = 90_000;
/** How long after the connection was lost a call may still take effect, in milliseconds. */
export const LATEST_EFFECT_MS = 60_000;

/** The errors of failed calls, and not those that an effect has thrown. */
const errorsOfCalls = new WeakSet<object>();

/** Returns whether an error is that of a call that has failed. */
export function isErrorOfCall(error: unknown): boolean {
  return errorsOfCalls.has(Object(error));
}

function errorOfCall(message: string): Error {
  const error = new Error(message);
  errorsOfCalls.add(error);
  return error;
}

export function createCall({ time, random, faults, story, disturbances, counts }: CallParts): Call {
  return function call<T>(what: string, effect: () => T | PromiseLike<T>, possible?: readonly CallFault[]): Promise<T> {
    const process = currentProcess();
    if (process === undefined) return Promise.reject(errorOfCall(nestedCall(what)));
    if (!process.isAlive) return new Promise(() => {});
    counts.calls += 1;
    const fault = faultOfCall(faults, possible);
    const answerMs = random.between(1, fault === 'slow call' ? SLOWEST_MS : USUAL_MS);
    const effectMs = fault === 'lost answer' ? random.between(1, random.pick([USUAL_MS, LATEST_EFFECT_MS])) : answerMs;
    story.tell(process.name, fault === undefined ? what : `${what}: ${fault}, ${effectMs} ms`);
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void) => time.after(random.between(1, USUAL_MS), () => process.resume(settle));
      const takeEffect = async () => {
        try {
          const value = await effect();
          disturbances.at(process, `after ${what} took effect`);
          answer(() => resolve(value));
        } catch (error) {
          answer(() => reject(error));
        }
      };
      const lose = () => process.resume(() => reject(errorOfCall(`${what}: the connection broke`)));
      const send = () => {
        disturbances.at(process, `at ${what}`);
        if (!process.isAlive && random.chance(0.5)) return; // before the call was sent
        if (fault !== 'refused call') time.after(effectMs, () => void takeEffect());
        if (fault === 'refused call' || fault === 'lost answer') time.after(answerMs, lose);
      };
      time.after(0, send); // in a step of the world, because no code of a killed process may run on
    });
  };
}

function nestedCall(what: string): string {
  return `The call "${what}" was made in the effect of another call, where no process runs. Make one after the other.`;
}
