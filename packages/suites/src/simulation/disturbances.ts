import type { WorldFaults } from './faults.js';
import type { SimulatedProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

/** Kills and pauses processes. */
export interface Disturbances {
  /** May kill or pause a process at this place. Call it in a step of the world, because no code of a killed process may run on. */
  at(process: SimulatedProcess, where: string): void;
  /** Kills or pauses a process at times that have nothing to do with what it does. */
  everyNowAndThen(process: SimulatedProcess): void;
}

export interface DisturbancesParts {
  time: VirtualTime;
  random: Random;
  faults: WorldFaults;
  story: Story;
  /** Counts what happens. */
  counts: { pauses: number };
}

const LONGEST_PAUSE_MS = 90_000;
const LONGEST_PEACE_MS = 60_000;

export function createDisturbances({ time, random, faults, story, counts }: DisturbancesParts): Disturbances {
  function at(process: SimulatedProcess, where: string): void {
    if (!process.isAlive) return;
    if (faults.strikes('crash')) {
      story.tell(process.name, `is killed ${where}`);
      process.kill();
    } else if (!process.isPaused && faults.strikes('pause')) {
      const ms = random.between(1, LONGEST_PAUSE_MS);
      story.tell(process.name, `is paused ${where}, for ${ms} ms`);
      counts.pauses += 1;
      process.pause();
      time.after(ms, process.wake);
    }
  }

  function everyNowAndThen(process: SimulatedProcess): void {
    time.after(random.between(1, LONGEST_PEACE_MS), () => {
      if (faults.isCalm || !process.isAlive) return;
      at(process, 'at some instant');
      everyNowAndThen(process);
    });
  }

  return { at, everyNowAndThen };
}
