import type { Random } from './random.js';

/** Every fault of the world. */
export const SIMULATED_FAULTS = [
  'drop',
  'delay',
  'duplicate',
  'reorder',
  'slow body',
  'reset',
  'crash',
  'pause',
  'refused call',
  'lost answer',
  'slow call',
  'failover',
  'lost delivery',
] as const;

/** A fault of the simulated world. */
export type SimulatedFault = (typeof SIMULATED_FAULTS)[number];

/** How a call of another system goes. */
export type CallFault = Extract<SimulatedFault, 'refused call' | 'lost answer' | 'slow call'>;

/** Which faults the world of a seed has, and how often. */
export interface WorldFaults {
  /** Returns whether a fault strikes this time. */
  strikes(fault: SimulatedFault): boolean;
  /** Returns the share of the places at which a fault strikes, from 0 to 1. */
  rateOf(fault: SimulatedFault): number;
  /** Ends all faults. */
  calm(): void;
  readonly isCalm: boolean;
  /** The faults that have struck, except those that the service itself causes. */
  readonly struck: ReadonlySet<SimulatedFault>;
}

const CALL_FAULTS = ['refused call', 'lost answer', 'slow call'] as const;
const RATES = [0.02, 0.1, 0.3] as const;

/**
 * Draws the faults of one world: about half of them, each at a rate of its own. With all of them at once, an event would
 * rarely be handled before the next fault.
 */
export function drawFaults(random: Random, without: readonly SimulatedFault[]): WorldFaults {
  const rates = new Map<SimulatedFault, number>();
  for (const fault of SIMULATED_FAULTS) {
    const rate = random.chance(0.5) ? random.pick(RATES) : 0;
    rates.set(fault, without.includes(fault) ? 0 : rate);
  }
  const struck = new Set<SimulatedFault>();
  let isCalm = false;
  const rateOf = (fault: SimulatedFault) => (isCalm ? 0 : (rates.get(fault) ?? 0));
  return {
    rateOf,
    struck,
    strikes(fault) {
      const strikes = random.chance(rateOf(fault));
      if (strikes) struck.add(fault);
      return strikes;
    },
    calm() {
      isCalm = true;
    },
    get isCalm() {
      return isCalm;
    },
  };
}

/** Returns the fault of one call; undefined for none. */
export function faultOfCall(faults: WorldFaults, possible: readonly CallFault[] = CALL_FAULTS): CallFault | undefined {
  return possible.find((fault) => faults.strikes(fault));
}
