import { stopwatch } from '../stopwatch.js';
import type { NatsMessage } from './jetstream.js';

/** The messages that a worker runs. JetStream keeps each for it during `ackWaitMs` after its last renewal. */
export interface HeldMessages {
  readonly size: number;
  /** Returns a signal that is aborted once the message is no longer this worker's. */
  add(message: NatsMessage): AbortSignal;
  remove(message: NatsMessage): void;
  /** Whether the message was renewed within `ackWaitMs`: otherwise JetStream has given it to another worker. */
  isOwn(message: NatsMessage): boolean;
  /**
   * Sends the renewals, and then the request `confirm`, whose answer shows that they have arrived. The time of a message counts
   * from before its renewal was sent. Aborts the jobs that were not renewed in time, and resolves to their number.
   */
  renew(confirm: () => Promise<unknown>): Promise<number>;
  /** Gives the messages back to JetStream, and aborts their jobs. */
  giveBack(): void;
}

interface Held {
  controller: AbortController;
  /** The time since the last renewal, in milliseconds. */
  sinceRenewal: () => number;
}

export function heldMessages(ackWaitMs: number): HeldMessages {
  const held = new Map<NatsMessage, Held>();

  function isOwn(message: NatsMessage): boolean {
    const found = held.get(message);
    return found !== undefined && !found.controller.signal.aborted && found.sinceRenewal() < ackWaitMs;
  }

  return {
    get size() {
      return held.size;
    },
    add(message) {
      const controller = new AbortController();
      held.set(message, { controller, sinceRenewal: stopwatch() });
      return controller.signal;
    },
    remove: (message) => void held.delete(message),
    isOwn,

    async renew(confirm) {
      const sinceRenewal = stopwatch();
      const renewed = [...held.keys()].filter(isOwn);
      for (const message of renewed) message.working();
      const isConfirmed = await confirm().then(
        () => true,
        () => false,
      );
      for (const message of isConfirmed ? renewed : []) {
        const found = held.get(message);
        if (found && isOwn(message)) found.sinceRenewal = sinceRenewal; // otherwise its renewal came too late
      }
      const over = [...held].filter(([message, { controller }]) => !controller.signal.aborted && !isOwn(message));
      for (const [, { controller }] of over) controller.abort();
      return over.length;
    },

    giveBack() {
      for (const [message, { controller }] of held) {
        if (isOwn(message)) message.nak();
        controller.abort();
      }
      held.clear();
    },
  };
}
