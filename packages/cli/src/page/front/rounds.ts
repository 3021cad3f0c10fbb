import type { AttemptRow, DeliveryDetails } from '../page-source.js';

/** One pass through the schedule; each redelivery is another. */
export interface Round {
  redelivery: number;
  stations: readonly Station[];
}

/** A place in the schedule. */
export interface Station {
  number: number;
  /** The wait before it, in milliseconds of the schedule. */
  waitMs: number;
  state: 'acknowledged' | 'failed' | 'sending' | 'next' | 'held' | 'up to the sender' | 'later' | 'not kept';
  attempt?: AttemptRow | undefined;
  /** When it is due at the earliest, by the clock of the source. */
  dueAt?: number | undefined;
}

/**
 * Returns the attempts of a delivery in their places of the schedule, with those that are still to come; a delivery that
 * has ended has none of these. `paused`: the
 * endpoint is paused, so that no attempt starts.
 */
export function roundsOf({ delivery, attempts, waits }: DeliveryDetails, speed: number, paused = false): Round[] {
  const scheduled = attempts.filter(({ kind }) => kind === 'attempt');
  const places = delivery.test ? [0] : [0, ...waits];
  return Array.from({ length: delivery.redeliveries + 1 }, (_, redelivery) => {
    const isCurrent = redelivery === delivery.redeliveries;
    const isEnded = isCurrent && (delivery.state === 'delivered' || delivery.state === 'dead');
    const shown = isEnded ? places.slice(0, delivery.attempts) : places;
    let dueAt = delivery.nextAt;
    const stations = shown.map((waitMs, index): Station => {
      const number = index + 1;
      const attempt = scheduled.find((one) => one.number === number && one.redelivery === redelivery);
      if (attempt) return { number, waitMs, state: attempt.acknowledged ? 'acknowledged' : 'failed', attempt };
      if (!isCurrent || number < delivery.attempts) return { number, waitMs, state: 'not kept' };
      if (number === delivery.attempts)
        return { number, waitMs, state: delivery.state === 'sending' ? 'sending' : 'not kept' };
      const isNext = number === delivery.attempts + 1;
      if (!isNext && dueAt !== undefined) dueAt += waitMs / (speed || 1);
      if (!isNext || delivery.state === 'sending') return { number, waitMs, state: 'later', dueAt };
      if (delivery.state === 'failed') return { number, waitMs, state: 'up to the sender' };
      return paused ? { number, waitMs, state: 'held' } : { number, waitMs, state: 'next', dueAt };
    });
    return { redelivery, stations };
  });
}
