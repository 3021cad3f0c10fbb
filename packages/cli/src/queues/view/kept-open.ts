import { CLOSE_TIMEOUT_MS, type OpenedQueue } from '../queue-engine.js';
import { type Pause, within } from '../within.js';

/** What can be opened and closed. */
interface Closable {
  close(): Promise<unknown>;
}

/** A queue or a store that is open while it is used. */
export interface KeptOpen<Opened extends Closable = OpenedQueue> {
  /** Opens it where it is not open, and calls. */
  use<T>(call: (opened: Opened) => Promise<T>): Promise<T>;
  /**
   * Closes a connection that is lost, since some clients do not connect again; the next call opens another. Never rejects, and waits
   * for two seconds at most, also while it is being opened.
   */
  close(): Promise<void>;
}

export interface KeepOpenOptions<Opened> {
  open: () => Promise<Opened>;
  /** The queue or the store, where it is open already. */
  first?: Opened | undefined;
  pause: Pause;
}

export function keepOpen<Opened extends Closable>({ open, first, pause }: KeepOpenOptions<Opened>): KeptOpen<Opened> {
  let opening: Promise<Opened> | undefined = first && (async () => first)();

  function openNow(): Promise<Opened> {
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
    use: async (call) => call(await openNow()),
    async close() {
      const last = opening;
      opening = undefined;
      if (last === undefined) return;
      const closing = last.then((one) => one.close()).catch(() => {}); // a lost connection may refuse that too
      await within(CLOSE_TIMEOUT_MS, closing, pause);
    },
  };
}
