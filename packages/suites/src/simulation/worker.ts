import { createProcessor, type WorkerOptions } from 'service-webhooks/queue';
import type { JobEnd, JobsClient, TakenJob } from './job-engine.js';

/** Starts a worker as a process of the world has one: it takes one job after the other and settles only what it owns. */
export function startWorker(options: WorkerOptions, jobs: JobsClient): void {
  const process = createProcessor(options);

  async function run(job: TakenJob): Promise<void> {
    const owner = new AbortController();
    const renew = async () => {
      const isOwn = await jobs.renew(job);
      if (!isOwn) owner.abort();
      return isOwn;
    };
    const renewal = setInterval(() => void renew().catch(() => {}), jobs.leaseMs / 3);
    const { attempt, attempts, fence } = job;
    const ended = await process(job.value, { attempt, attempts, fence, signal: owner.signal, isOwn: renew });
    clearInterval(renewal);
    if (owner.signal.aborted) return;
    const as: JobEnd = ended.as === 'done' || ended.as === 'dead' ? ended.as : 'retry';
    const isSettled = await jobs.settle(job, as);
    if (isSettled && ended.as === 'dead') process.deadLetter(job.value, ended);
  }

  void (async () => {
    for (;;) {
      try {
        await run(await jobs.take());
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1_000)); // a job whose answer was lost comes back by its lease
      }
    }
  })();
}
