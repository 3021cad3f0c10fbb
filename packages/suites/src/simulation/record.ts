import { AsyncLocalStorage } from 'node:async_hooks';
import { type Handlers, isWebhookError, type WebhookEvent } from 'service-webhooks';
import { currentProcess } from './processes.js';
import type { Story } from './story.js';

/** One run of the work of an event. */
export interface Work {
  readonly event: WebhookEvent;
  readonly process: string;
  /** The fence that the handler received; 0 where there is none. */
  readonly fence: number;
  /** Undefined while it runs, and for good where its process was killed. */
  ended?: 'handled' | 'discarded' | 'failed';
  endedAt?: number;
}

/** What happened, as far as the rules of the world are about it. */
export interface WorldRecord {
  readonly works: readonly Work[];
  /** How often each write of a transaction was tried and has taken effect, by the event and the name of the write. */
  readonly writes: ReadonlyMap<string, { eventId: string; what: string; effects: number }>;
  /** The ids of events that a transaction has put into the inbox. */
  readonly underInbox: Set<string>;
  /** The types of events that have a handler; undefined where no handlers are known. */
  readonly handledTypes: ReadonlySet<string> | undefined;
  /** Returns handlers whose runs are recorded. */
  handlers(on: Handlers): Handlers;
  work<T>(event: WebhookEvent, fence: number, run: () => T | PromiseLike<T>): Promise<T>;
  /** Records that the running work tries a write, and returns the function that records its effect. */
  tries(what: string): () => void;
}

const currentWork = new AsyncLocalStorage<Work>();

export function createRecord(story: Story, elapsed: () => number): WorldRecord {
  const works: Work[] = [];
  const writes = new Map<string, { eventId: string; what: string; effects: number }>();
  let handledTypes: Set<string> | undefined;

  async function work<T>(event: WebhookEvent, fence: number, run: () => T | PromiseLike<T>): Promise<T> {
    const process = currentProcess()?.name ?? 'the world';
    const one: Work = { event, process, fence };
    const name = story.nameOf(event.id);
    works.push(one);
    story.tell(process, `begins to handle ${name}, fence ${fence}`);
    const end = (ended: NonNullable<Work['ended']>) => {
      Object.assign(one, { ended, endedAt: elapsed() });
      story.tell(process, `${ended === 'failed' ? 'fails to handle' : `has ${ended}`} ${name}`);
    };
    try {
      const result = await currentWork.run(one, run);
      end('handled');
      return result;
    } catch (error) {
      end(isWebhookError(error) && error.code === 'permanent_failure' ? 'discarded' : 'failed');
      throw error;
    }
  }

  return {
    works,
    writes,
    underInbox: new Set(),
    get handledTypes() {
      return handledTypes;
    },
    handlers(on) {
      handledTypes = new Set([...(handledTypes ?? []), ...Object.keys(on)]);
      const watched = Object.entries(on).map(([type, handler]) => [
        type,
        (event: WebhookEvent, context: { fence: number }) =>
          work(event, context.fence, () => (handler as (...args: unknown[]) => unknown)(event, context)),
      ]);
      return Object.fromEntries(watched) as Handlers;
    },
    work,
    tries(what) {
      const eventId = currentWork.getStore()?.event.id ?? '';
      const key = JSON.stringify([eventId, what]);
      const write = writes.get(key) ?? { eventId, what, effects: 0 };
      writes.set(key, write);
      return () => {
        write.effects += 1;
      };
    },
  };
}
