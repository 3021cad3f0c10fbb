import type { WebhookEvent } from 'service-webhooks';
import { createPayloads, type DeliveryQueue, type PayloadOptions } from 'service-webhooks/queue';
import type { Call } from './calls.js';
import { JOB_LEASE_MS, type JobEngine, type JobsClient } from './job-engine.js';
import { currentProcess } from './processes.js';
import { ofTenant } from './tenants.js';

/** The queue of a world, as its processes see it. */
export interface QueueModel {
  readonly jobs: JobsClient;
  /** How bodies are stored: a queue with an overflow keeps every one outside. */
  readonly payloads: PayloadOptions;
  /** Returns the queue of one process. */
  queueOfProcess(): DeliveryQueue;
  /** Returns the dead letter of an event of a tenant, and whether its body is there; undefined where it has none. */
  deadLetterOf(event: WebhookEvent, tenant: string): { hasBody: boolean } | undefined;
}

/** No event fits into a job of this size, so that each body goes to the overflow. */
const SMALL_JOB_BYTES = 500;

export function createQueueModel(engine: JobEngine, call: Call, hasOverflow: boolean): QueueModel {
  const keys = new Map<string, string>();
  const bodies = new Map<string, Uint8Array>();
  const payloads: PayloadOptions = hasOverflow
    ? {
        overflow: {
          put: (id, body) => call('overflow.put', () => void bodies.set(id, body)),
          get: (id) => call('overflow.get', () => bodies.get(id)),
          delete: (id) => call('overflow.delete', () => void bodies.delete(id)),
        },
      }
    : {};

  return {
    payloads,
    queueOfProcess() {
      const { put } = createPayloads(payloads, hasOverflow ? SMALL_JOB_BYTES : undefined);
      return {
        name: 'simulated',
        put(delivery, event) {
          if (event) keys.set(ofTenant(delivery.tenant, event.id), delivery.key);
          return put(delivery, {
            putJob: (job) => call('queue.put', () => engine.put(job)),
            find: (key) => call('queue.find', () => engine.find(key)),
          });
        },
      };
    },
    jobs: {
      leaseMs: JOB_LEASE_MS,
      take() {
        const worker = currentProcess();
        return call('queue.take', () => engine.take((leave) => worker?.onKilled(leave)));
      },
      renew: (job) => call('queue.renew', () => engine.renew(job)),
      settle(job, as, { unchecked = false } = {}) {
        const worker = currentProcess()?.name ?? '';
        return call(`queue.settle ${as}`, () => engine.settle(job, as, unchecked, worker));
      },
    },
    deadLetterOf({ id }, tenant) {
      const job = engine.deadLetterOf(keys.get(ofTenant(tenant, id)) ?? '');
      if (job === undefined) return undefined;
      const outside = 'overflow' in job ? job.overflow?.id : undefined;
      return { hasBody: outside === undefined || bodies.has(outside) };
    },
  };
}
