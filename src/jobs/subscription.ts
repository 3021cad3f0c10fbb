import type { JobRecords } from '../stores/contract.js';
import { stopwatch } from '../timers.js';

/** One subscription to the notifications of a store, for all who wait in this process. */
export interface Subscription {
  /**
   * Begins or joins the subscription. `known` is called once it is known whether the store notifies. Returns a function that
   * leaves it.
   */
  join(known: (notifies: boolean) => void): () => void;
}

/** The subscription stays open for this time after the last has left, because the next one often comes at once. */
const LINGER_MS = 2_000;
/** A store that does not notify, or that failed to, is not asked for it again for this time. */
const PAUSE_MS = 60_000;

type End = (() => void) | undefined;

export function createSubscription(records: JobRecords, changed: (key: string) => void): Subscription {
  let members = 0;
  let opening: Promise<End> | undefined;
  let sinceFailure: (() => number) | undefined;
  let lingering: ReturnType<typeof setTimeout> | undefined;

  async function open(): Promise<End> {
    const end = await (async () => records.watch?.(changed))().catch(() => undefined);
    if (end === undefined) {
      opening = undefined;
      sinceFailure = stopwatch();
    }
    return end;
  }

  async function close(opened: Promise<End> | undefined): Promise<void> {
    try {
      (await opened)?.();
    } catch {} // the client was closed before
  }

  return {
    join(known) {
      members += 1;
      clearTimeout(lingering);
      if (opening === undefined && !(sinceFailure && sinceFailure() < PAUSE_MS)) opening = open();
      opening?.then((end) => known(end !== undefined));
      return () => {
        members -= 1;
        if (members > 0 || opening === undefined) return;
        lingering = setTimeout(() => {
          close(opening);
          opening = undefined;
        }, LINGER_MS);
      };
    },
  };
}
