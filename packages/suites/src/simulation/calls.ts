import { type CallFault, faultOfCall, type WorldFaults } from './faults.js';
import { currentProcess, outsideOfProcesses, type SimulatedProcess } from './processes.js';
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
  /** Counts what happens. */
  counts: { calls: number; pauses: number };
}

/** How long a call takes, in milliseconds: a slow one longer than each limit of the library. */
const USUAL_MS = 20;
const SLOWEST_MS = 90_000;
/** How long after the connection was lost a call may still take effect, in milliseconds. */
const LATEST_EFFECT_MS = 60_000;
const LONGEST_PAUSE_MS = 90_000;

export function createCall({ time, random, faults, story, counts }: CallParts): Call {
  /** A place at which a process may die or stop. */
  function crossroads(process: SimulatedProcess, where: string): void {
    if (faults.strikes('crash') && process.isAlive) {
      story.tell(process.name, `is killed ${where}`);
      process.kill();
    } else if (faults.strikes('pause') && !process.isPaused) {
      const ms = random.between(1, LONGEST_PAUSE_MS);
      story.tell(process.name, `is paused ${where}, for ${ms} ms`);
      counts.pauses += 1;
      process.pause();
      time.after(ms, process.wake);
    }
  }

  return function call<T>(what: string, effect: () => T | PromiseLike<T>, possible?: readonly CallFault[]): Promise<T> {
    const process = currentProcess();
    if (process === undefined) return outsideOfProcesses(async () => effect());
    counts.calls += 1;
    const fault = faultOfCall(faults, possible);
    const takesMs = random.between(1, fault === 'slow call' ? SLOWEST_MS : USUAL_MS);
    const effectMs = fault === 'lost answer' ? random.between(1, random.pick([USUAL_MS, LATEST_EFFECT_MS])) : takesMs;
    story.tell(process.name, fault === undefined ? what : `${what}: ${fault}, ${effectMs} ms`);
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void) => time.after(random.between(1, USUAL_MS), () => process.resume(settle));
      const takeEffect = async () => {
        try {
          const value = await effect();
          crossroads(process, `after ${what} took effect`);
          answer(() => resolve(value));
        } catch (error) {
          answer(() => reject(error));
        }
      };
      crossroads(process, `at ${what}`);
      if (!process.isAlive && random.chance(0.5)) return; // it had not been sent
      if (fault !== 'refused call') time.after(effectMs, () => void takeEffect());
      const isLost = fault === 'refused call' || fault === 'lost answer';
      if (isLost) time.after(takesMs, () => process.resume(() => reject(new Error(`${what}: the connection broke`))));
    });
  };
}
