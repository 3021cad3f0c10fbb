import { stopwatch } from '../../timers.js';
import type { RunningJobs } from '../worker-shell.js';
import type { NatsMessage } from './jetstream.js';

/** Renews the messages that a worker runs. JetStream keeps each for it during `ackWaitMs` after its last renewal. */
export interface HeldMessages {
  /** Counts the time of a message that has just arrived. */
  add(message: NatsMessage): void;
  /** Whether a message was renewed within `ackWaitMs`: otherwise JetStream has given it to another worker. */
  isInTime(message: NatsMessage): boolean;
  /** Whether a message is in time, and its job has neither ended nor been aborted. */
  isOwn(message: NatsMessage): boolean;
  /**
   * Sends the renewals, and then the request `confirm`, whose answer shows that they have arrived. The time of a message counts
   * from before its renewal was sent. Aborts the jobs that were not renewed in time, and resolves to their number.
   */
  renew(confirm: () => Promise<unknown>): Promise<number>;
}

export function heldMessages(running: RunningJobs<NatsMessage>, ackWaitMs: number): HeldMessages {
  /** The time since the last renewal of each message, in milliseconds. */
  const sinceRenewal = new WeakMap<NatsMessage, () => number>();

  /** The age that a message has at its arrival, at most: JetStream counts its time from when it was sent. */
  const maxTransitMs = ackWaitMs / 6;

  const isInTime = (message: NatsMessage) => (sinceRenewal.get(message)?.() ?? ackWaitMs) < ackWaitMs;
  const isOwn = (message: NatsMessage) => running.isOwn(message) && isInTime(message);

  return {
    add(message) {
      const sinceArrival = stopwatch();
      sinceRenewal.set(message, () => sinceArrival() + maxTransitMs);
    },
    isInTime,
    isOwn,

    async renew(confirm) {
      const sinceNow = stopwatch();
      const renewed = running.own().filter(isInTime);
      for (const message of renewed) message.working();
      const isConfirmed = await confirm().then(
        () => true,
        () => false,
      );
      // The renewal of a message that is not this worker's any more came too late.
      for (const message of isConfirmed ? renewed.filter(isOwn) : []) sinceRenewal.set(message, sinceNow);
      const over = running.own().filter((message) => !isInTime(message));
      running.abort(over);
      return over.length;
    },
  };
}
