import type { BullmqData } from './bullmq-job.js';
import { runScript, SHORTEN } from './redis-script.js';

/** The part of a `Worker` that is used. */
interface BullmqWorker {
  on(event: 'completed', listener: (job: CompletedJob) => void): unknown;
  toKey(type: string): string;
  getBackend(): unknown;
}

interface CompletedJob {
  id?: string;
  data: unknown;
}

/**
 * Returns a function to call with each running job: its worker then removes the deliveries of the jobs that it has completed,
 * so that their keys alone stay in Redis. Jobs that the worker runs by other code are left as they are. It does nothing where this version of BullMQ keeps the worker elsewhere.
 */
export function finishedJobs(): (job: object) => void {
  const seen = new WeakSet<BullmqWorker>();
  const own = new WeakSet<object>();
  return (job) => {
    own.add(job);
    const { queue: worker } = job as { queue?: BullmqWorker };
    if (typeof worker?.on !== 'function' || seen.has(worker)) return;
    seen.add(worker);
    // BullMQ emits this once it has recorded the end, so that no job that may run again is without its delivery.
    worker.on('completed', (completed) => {
      if (own.has(completed)) shorten(worker, completed).catch(() => {}); // the job is done, and merely takes more memory
    });
  };
}

async function shorten(worker: BullmqWorker, { id = '', data }: CompletedJob): Promise<void> {
  // A put that has not asked yet whose job it is still recognises its own.
  const { put } = Object(data) as Partial<BullmqData>;
  await runScript(worker, SHORTEN, worker.toKey('completed'), worker.toKey(id), id, JSON.stringify({ put }));
}
