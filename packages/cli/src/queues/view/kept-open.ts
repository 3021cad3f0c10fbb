import { CLOSE_TIMEOUT_MS, type OpenedQueue } from '../queue-engine.js';
import { type Pause, within } from '../within.js';

/** A queue that is open while it is used. */
export interface KeptOpen {
  /** Opens the queue where it is not open, and calls. */
  use<T>(call: (opened: OpenedQueue) => Promise<T>): Promise<T>;
  /**
   * Closes a connection that is lost, since some clients do not connect again; the next call opens another. Never rejects, and waits
   * for two seconds at most, also while the queue is being opened.
   */
  close(): Promise<void>;
}

export interface KeepOpenOptions {
  open: () => Promise<OpenedQueue>;
  /** The queue, where it is open already. */
  first?: OpenedQueue | undefined;
  pause: Pause;
}

export function keepOpen({ open, first, pause }: KeepOpenOptions): KeptOpen {
  let opening = first && Promise.resolve(first);

  function opened(): Promise<OpenedQueue> {
    if (opening === undefined) {
      const attempt = open();
      opening = attempt;
      attempt.catch(() => {
        if (opening === attempt) opening = undefined;
      });
    }
    return opening;
  }

  return {
    use: async (call) => call(await opened()),
    async close() {
      const last = opening;
      opening = undefined;
      if (last === undefined) return;
      const closing = last.then((queue) => queue.close()).catch(() => {}); // a lost connection may refuse that too
      await within(CLOSE_TIMEOUT_MS, closing, pause);
    },
  };
}
