import { checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import type { FaultName } from '../faults.js';
import type { Answer } from '../wire/transport.js';
import { createBoundedLog } from './bounded-log.js';
import type { DeliveryState } from './delivery-states.js';

/** One request of a delivery and how it ended. */
export interface Attempt {
  /** The number of the attempt among all attempts of the emulator, from 1, in the order in which they ended. */
  readonly seq: number;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly type: string;
  /** The number of the attempt in its delivery, from 1, as the header `X-Service-Attempt` has it. */
  readonly number: number;
  /** How many times the delivery had been redelivered. */
  readonly redelivery: number;
  /** Whether the fault `duplicate` sent this request. Its answer changes nothing. */
  readonly duplicate: boolean;
  /** When the request started, in milliseconds since the epoch on the emulator's clock. */
  readonly at: number;
  readonly endedAt: number;
  /** The request as it was sent, faults included. Header names are lower-case. */
  readonly request: {
    readonly method: 'POST';
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  };
  /** The receiver's answer. It counts only where `reason` is `2xx` or `non-2xx`. */
  readonly answer: Answer | undefined;
  readonly outcome: 'acknowledged' | 'failed';
  readonly reason: '2xx' | 'non-2xx' | 'timeout' | 'connection_error';
  /** The problem in words. */
  readonly error: string | undefined;
  readonly faults: readonly FaultName[];
  /** The state of the delivery after this attempt. */
  readonly state: DeliveryState;
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly nextAt: number | undefined;
}

/** Selects attempts. All fields that are set must match. */
export interface AttemptFilter {
  deliveryId?: string | undefined;
  endpointId?: string | undefined;
  eventId?: string | undefined;
}

/**
 * The latest attempts. `list()` returns them; the async iterator yields them, and then each further attempt when it
 * ends.
 */
export interface Attempts extends AsyncIterable<Attempt> {
  /**
   * Returns the attempts that match the filter. @throws WebhookError `invalid_option` for an unknown field of the
   * filter
   */
  list(filter?: AttemptFilter): Attempt[];
}

export interface AttemptLog extends Attempts {
  add(attempt: Attempt): void;
  /** Removes the attempts of one endpoint, or all of them. */
  forget(endpointId?: string): void;
  /** Ends the iterators after the attempts that are still in the log. */
  close(): void;
}

/** Estimated memory of an attempt without its bodies. */
const ATTEMPT_BYTES = 2_048;

export function createAttemptLog(limits: { maxItems: number; maxBytes: number }): AttemptLog {
  const log = createBoundedLog<Attempt>({
    ...limits,
    bytesOf: ({ request, answer }) => request.body.length + (answer?.body.length ?? 0) + ATTEMPT_BYTES,
  });
  let closed = false;
  /** How often the log was emptied; `seq` may restart each time. */
  let emptied = 0;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const awake = waiting;
    waiting = [];
    for (const resolve of awake) resolve();
  };

  /** Returns the index of the first attempt after that sequence number, by binary search. */
  const indexAfter = (seq: number) => {
    let [low, high] = [0, log.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((log.at(middle)?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    add(attempt) {
      log.add(attempt);
      wake();
    },
    forget(endpointId) {
      if (endpointId === undefined) emptied += 1;
      log.filter((attempt) => endpointId !== undefined && attempt.endpointId !== endpointId);
    },
    list(filter = {}) {
      checkObject('filter', filter);
      checkKnownOptions('attempts.list', filter, ['deliveryId', 'endpointId', 'eventId']);
      return [...log].filter(
        ({ deliveryId, endpointId, eventId }) =>
          (filter.deliveryId ?? deliveryId) === deliveryId &&
          (filter.endpointId ?? endpointId) === endpointId &&
          (filter.eventId ?? eventId) === eventId,
      );
    },
    close() {
      closed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      let last = 0;
      let emptiedBefore = emptied;
      for (;;) {
        if (emptiedBefore !== emptied) {
          last = 0;
          emptiedBefore = emptied;
        }
        const attempt = log.at(indexAfter(last));
        if (attempt !== undefined) {
          last = attempt.seq;
          yield attempt;
        } else if (closed) {
          return;
        } else {
          await new Promise<void>((resolve) => waiting.push(resolve));
        }
      }
    },
  };
}
