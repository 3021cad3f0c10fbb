import { AsyncLocalStorage } from 'node:async_hooks';
import { type Handlers, isWebhookError, type WebhookEvent } from 'service-webhooks';
import { currentProcess } from './processes.js';
import type { ServiceModel } from './service.js';
import type { Story } from './story.js';
import { ofTenant } from './tenants.js';

/** One run of the work of an event. */
export interface Work {
  readonly event: WebhookEvent;
  /** What the work is about: {@link WorldRecord.subjectOf}. */
  readonly subject: string;
  readonly process: string;
  /** The fence that the handler received; 0 where there is none. */
  readonly fence: number;
  /** Undefined while it runs, and for good where its process was killed. */
  ended?: 'handled' | 'discarded' | 'failed';
  endedAt?: number;
}

/** What is known of the delivery of an event. */
export interface WorkContext {
  fence: number;
  tenant: string | undefined;
}

/** What happened, as far as the rules of the world are about it. */
export interface WorldRecord {
  readonly works: readonly Work[];
  /** How often each write of a transaction was tried and has taken effect, by its subject and its name. */
  readonly writes: ReadonlyMap<string, { subject: string; what: string; effects: number }>;
  /** The subjects whose work has used an inbox. */
  readonly underInbox: ReadonlySet<string>;
  /** The types of events that have a handler; undefined where no handlers are known. */
  readonly handledTypes: ReadonlySet<string> | undefined;
  /** Returns whether a type of events has a handler, or no handlers are known. */
  hasHandler(type: string): boolean;
  /**
   * Returns what an event is about: the job where it was submitted to the service, so that an event and the reconciliation of
   * its job are about the same, and otherwise the event itself.
   */
  subjectOf(event: WebhookEvent, tenant: string | undefined): string;
  /** Returns whether a run about a subject has come to its end. */
  isHandled(subject: string): boolean;
  /** Returns handlers whose runs are recorded. */
  handlers(on: Handlers): Handlers;
  work<T>(event: WebhookEvent, context: WorkContext, run: () => T | PromiseLike<T>): Promise<T>;
  /** Records that the running work uses an inbox. */
  usesInbox(): void;
  /** Records that the running work tries a write, and returns the function that records its effect. */
  tries(what: string): () => void;
}

const currentWork = new AsyncLocalStorage<Work>();

export interface RecordParts {
  elapsed: () => number;
  story: Story;
  service: ServiceModel;
}

export function createRecord({ elapsed, story, service }: RecordParts): WorldRecord {
  const works: Work[] = [];
  const writes = new Map<string, { subject: string; what: string; effects: number }>();
  const underInbox = new Set<string>();
  let handledTypes: Set<string> | undefined;

  function subjectOf({ id, jobId }: WebhookEvent, tenant: string | undefined): string {
    const job = jobId === null ? undefined : service.jobs.get(ofTenant(tenant, jobId));
    return job?.subject ?? ofTenant(tenant, id);
  }

  async function work<T>(
    event: WebhookEvent,
    { fence, tenant }: WorkContext,
    run: () => T | PromiseLike<T>,
  ): Promise<T> {
    const process = currentProcess()?.name ?? 'the world';
    const subject = subjectOf(event, tenant);
    const one: Work = { event, subject, process, fence };
    const name = `${story.nameOf(subject)}${isReconciled(event) ? ', reconciled' : ''}`;
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
    underInbox,
    subjectOf,
    isHandled: (subject) =>
      works.some((one) => one.subject === subject && (one.ended === 'handled' || one.ended === 'discarded')),
    get handledTypes() {
      return handledTypes;
    },
    hasHandler: (type) => handledTypes === undefined || handledTypes.has(type) || handledTypes.has('*'),
    handlers(on) {
      handledTypes = new Set([...(handledTypes ?? []), ...Object.keys(on)]);
      const watched = Object.entries(on).map(([type, handler]) => [
        type,
        (event: WebhookEvent, context: { fence: number; delivery: { tenant?: string } }) => {
          const { fence, delivery } = context;
          const run = () => (handler as (...args: unknown[]) => unknown)(event, context);
          return work(event, { fence, tenant: delivery.tenant }, run);
        },
      ]);
      return Object.fromEntries(watched) as Handlers;
    },
    work,
    usesInbox() {
      const subject = currentWork.getStore()?.subject;
      if (subject !== undefined) underInbox.add(subject);
    },
    tries(what) {
      const subject = currentWork.getStore()?.subject ?? '';
      const key = JSON.stringify([subject, what]);
      const write = writes.get(key) ?? { subject, what, effects: 0 };
      writes.set(key, write);
      return () => {
        write.effects += 1;
      };
    },
  };
}

/** Returns whether a reconciliation of the library has made an event, which the service would have sent. */
function isReconciled({ id }: WebhookEvent): boolean {
  return id.startsWith('evt_reconciled_');
}
