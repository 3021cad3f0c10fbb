import type { FaultName } from '../faults.js';
import type { Answer } from '../wire/transport.js';
import type { DeliveryState } from './delivery-states.js';
import { createKept } from './kept.js';

/** One request of a delivery, and what came of it. */
export interface Attempt {
  /** Counts all attempts of the emulator, from 1, in the order in which they ended. */
  readonly seq: number;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly type: string;
  /** As in `X-Service-Attempt`. */
  readonly number: number;
  /** How often the delivery had been redelivered by hand. */
  readonly redelivery: number;
  /** Sent a second time by a fault; it decides nothing. */
  readonly duplicate: boolean;
  /** When it began, in milliseconds since the epoch, on the emulator's clock. */
  readonly at: number;
  readonly endedAt: number;
  /** As it went over the wire, faults included. Header names are lower-case. */
  readonly request: {
    readonly method: 'POST';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  };
  /** What the receiver answered. It counts only where `reason` is `2xx` or `non-2xx`. */
  readonly answer: Answer | undefined;
  readonly outcome: 'acknowledged' | 'failed';
  readonly reason: '2xx' | 'non-2xx' | 'timeout' | 'connection_error';
  /** What went wrong, for a person. */
  readonly error: string | undefined;
  readonly faults: readonly FaultName[];
  /** Where the delivery stood after it. */
  readonly state: DeliveryState;
  /** When the next attempt was due. */
  readonly nextAt: number | undefined;
}

/** Picks attempts. */
export interface AttemptFilter {
  deliveryId?: string | undefined;
  endpointId?: string | undefined;
  eventId?: string | undefined;
}

/** The latest attempts: those that are kept as a list, all from there on as they end as an async iterator. */
export interface Attempts extends AsyncIterable<Attempt> {
  list(filter?: AttemptFilter): Attempt[];
}

export interface AttemptLog extends Attempts {
  add(attempt: Attempt): void;
  /** Forgets those of one endpoint, or all. */
  forget(endpointId?: string): void;
  /** The iterators end after what they have not given yet. */
  close(): void;
}

/** About what an attempt takes beside its bodies. */
const ATTEMPT_BYTES = 2_048;

export function createAttemptLog(limits: { maxItems: number; maxBytes: number }): AttemptLog {
  const kept = createKept<Attempt>({
    ...limits,
    bytesOf: ({ request, answer }) => request.body.length + (answer?.body.length ?? 0) + ATTEMPT_BYTES,
  });
  let closed = false;
  /** How often all was forgotten: from then on the count may begin anew. */
  let forgotten = 0;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const awake = waiting;
    waiting = [];
    for (const resolve of awake) resolve();
  };

  /** Index of the first attempt after that one. */
  const indexAfter = (last: number) => {
    let [low, high] = [0, kept.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((kept.at(middle)?.seq ?? 0) <= last) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    add(attempt) {
      kept.add(attempt);
      wake();
    },
    forget(endpointId) {
      if (endpointId === undefined) forgotten += 1;
      kept.filter((attempt) => endpointId !== undefined && attempt.endpointId !== endpointId);
    },
    list: (filter = {}) =>
      [...kept].filter(
        ({ deliveryId, endpointId, eventId }) =>
          (filter.deliveryId ?? deliveryId) === deliveryId &&
          (filter.endpointId ?? endpointId) === endpointId &&
          (filter.eventId ?? eventId) === eventId,
      ),
    close() {
      closed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (let last = 0, seen = forgotten; ; ) {
        if (seen !== forgotten) [last, seen] = [0, forgotten];
        const attempt = kept.at(indexAfter(last));
        if (attempt !== undefined) {
          last = attempt.seq;
          yield attempt;
        } else if (closed) return;
        else await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
