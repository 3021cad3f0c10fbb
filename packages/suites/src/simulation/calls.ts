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

/** How late an effect may be, and how slow a call, in milliseconds: also longer than each limit of the library. */
const LATEST_MS = 90_000;
const SLOWEST_MS = 40_000;
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
    const takesMs = random.between(1, fault === 'slow call' ? SLOWEST_MS : fault === 'late call' ? LATEST_MS : 20);
    story.tell(process.name, fault === undefined ? what : `${what}: ${fault}, ${takesMs} ms`);
    return new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void) => time.after(random.between(1, 20), () => process.resume(settle));
      const takeEffect = async () => {
        if (fault === 'refused call') return answer(() => reject(new Error(`${what}: connection refused`)));
        try {
          const value = await effect();
          crossroads(process, `after ${what} took effect`);
          if (fault === 'lost answer') answer(() => reject(new Error(`${what}: connection reset`)));
          else answer(() => resolve(value));
        } catch (error) {
          answer(() => reject(error));
        }
      };
      crossroads(process, `at ${what}`);
      if (!process.isAlive && random.chance(0.5)) return; // it had not been sent
      time.after(takesMs, () => void takeEffect());
    });
  };
}
