import { AsyncLocalStorage } from 'node:async_hooks';
import { type Handlers, isWebhookError, type WebhookEvent } from 'service-webhooks';
import { isErrorOfCall } from './calls.js';
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
  /** Whether it failed by an error of the user's code, and not by one of the world. */
  isOwnFailure?: boolean;
}

/** What is known of the delivery of an event. */
export interface WorkContext {
  fence: number;
  tenant: string | undefined;
}

/** What happened, as far as the rules of the world are about it. */
export interface WorldRecord {
  readonly works: readonly Work[];
  /** The types of events that have a handler; undefined where no handlers are known. */
  readonly handledTypes: ReadonlySet<string> | undefined;
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
  /** Returns the subject of the running work; undefined outside of one. */
  currentSubject(): string | undefined;
}

const currentWork = new AsyncLocalStorage<Work>();

export interface RecordParts {
  elapsed: () => number;
  story: Story;
  service: ServiceModel;
}

export function createRecord({ elapsed, story, service }: RecordParts): WorldRecord {
  const works: Work[] = [];
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
    const end = (ended: NonNullable<Work['ended']>) => Object.assign(one, { ended, endedAt: elapsed() });
    try {
      const result = await currentWork.run(one, run);
      end('handled');
      story.tell(process, `has handled ${name}`);
      return result;
    } catch (error) {
      const code = isWebhookError(error) ? error.code : undefined;
      end(code === 'permanent_failure' ? 'discarded' : 'failed');
      one.isOwnFailure = !isErrorOfCall(error) && code !== 'delivery_in_progress';
      story.tell(process, `fails to handle ${name}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  return {
    works,
    subjectOf,
    isHandled: (subject) =>
      works.some((one) => one.subject === subject && (one.ended === 'handled' || one.ended === 'discarded')),
    get handledTypes() {
      return handledTypes;
    },
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
    currentSubject: () => currentWork.getStore()?.subject,
  };
}

/** Returns whether a reconciliation of the library has made an event, which the service would have sent. */
function isReconciled({ id }: WebhookEvent): boolean {
  return id.startsWith('evt_reconciled_');
}
