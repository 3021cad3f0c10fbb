import { PermanentError } from 'service-webhooks';
import type { QueueStats } from 'service-webhooks/queue';
import { must } from '../../define-suite.js';
import { createGate, sleep } from '../../waiting.js';
import { mustHaveRun, type QueueTrialCase } from '../trial.js';

/** Cases about the work of a worker. */
export const work: readonly QueueTrialCase[] = [
  {
    name: 'each of 40 deliveries is run once by one of two workers',
    rules: ['Q3'],
    async run(trial) {
      const workers = [await trial.work(), await trial.work()];
      const deliveries = Array.from({ length: 40 }, () => trial.delivery());
      await Promise.all(deliveries.map((one) => trial.put(one)));
      const runs = () => workers.flatMap((worker) => worker.runs.map(({ id }) => id));
      await trial.until('every delivery is run', () => new Set(runs()).size === 40);
      for (const worker of workers) await worker.stop();
      must(runs().length === 40, 'each delivery is run once', runs().length);
    },
  },
  {
    name: 'the first run of a handler has attempt 1 and a signal that is not aborted',
    rules: ['Q4'],
    async run(trial) {
      const worker = await trial.work();
      await trial.drain(worker);
      const context = worker.runs[0]?.context;
      must(context?.attempt === 1, 'attempt 1', context?.attempt);
      must(context.signal instanceof AbortSignal && !context.signal.aborted, 'a signal that is not aborted');
      must(Number.isSafeInteger(context.fence) && context.fence >= 0, 'a fence of 0 or more', context.fence);
    },
  },
  {
    name: 'a worker that stops waits for the running handler, and the job is not run again',
    rules: ['Q8'],
    async run(trial) {
      const { open, opened } = createGate();
      const queued = trial.delivery();
      const worker = await trial.work(() => opened);
      await trial.put(queued);
      await trial.until('the job runs', () => worker.runs.length === 1);
      let stopped = false;
      const stopping = worker.stop().then(() => {
        stopped = true;
      });
      await sleep(50);
      must(!stopped, 'stop waits for the running handler');
      open();
      await stopping;
      const next = await trial.work();
      await trial.drain(next);
      mustHaveRun(next, queued, 0, 'a finished job is not run again');
    },
  },
  {
    name: 'a worker that has stopped takes no more jobs, and the next one does',
    rules: ['Q8'],
    async run(trial) {
      const worker = await trial.work();
      await trial.drain(worker);
      await worker.stop();
      const queued = trial.delivery();
      await trial.put(queued);
      const next = await trial.work();
      await trial.until('the next worker takes it', () => next.attemptsOf(queued).length === 1);
      mustHaveRun(worker, queued, 0, 'the stopped worker takes nothing');
    },
  },
  {
    name: 'stats count what waits, and how long the oldest has waited',
    rules: ['Q10'],
    async run(trial) {
      const empty = await trial.statsWith('an empty queue has no depth', ({ depth }) => depth === 0);
      must(empty.dead === 0, 'an empty queue has no dead letters', empty);
      for (let i = 0; i < 3; i += 1) await trial.put(trial.delivery());
      const stats = await trial.until(
        'three wait',
        () => trial.queue2.stats(),
        ({ depth }) => depth === 3,
      );
      if (!trial.options.without?.includes('oldest')) {
        await trial.statsWith('the oldest grows older', ({ oldestMs }) => Number(oldestMs) >= 20);
        must(Number(stats.oldestMs) < 60_000, 'the age is in milliseconds', stats);
      }
      const worker = await trial.work();
      await trial.until('three are handled', () => worker.runs.length === 3);
      await trial.statsWith('none waits', ({ depth }) => depth === 0);
    },
  },
  {
    name: 'stats stay the same while an operator lists dead letters',
    rules: ['Q10'],
    async run(trial) {
      const worker = await trial.work(() => {
        throw new PermanentError('of the test');
      });
      for (let i = 0; i < 3; i += 1) await trial.put(trial.delivery());
      await trial.statsWith('three are dead', ({ depth, dead }) => depth === 0 && dead === 3);
      await worker.stop();
      for (let i = 0; i < 2; i += 1) await trial.put(trial.delivery());
      const isRight = ({ depth, dead }: QueueStats) => depth === 2 && dead === 3;
      await trial.statsWith('two wait, and three are dead', isRight);

      let isListing = true;
      async function list(): Promise<void> {
        while (isListing) {
          await trial.queue.deadLetters();
          await sleep(0); // leaves a turn to clients that answer at once
        }
      }
      async function readStats(): Promise<QueueStats[]> {
        const seen: QueueStats[] = [];
        while (seen.length < 50) seen.push(await trial.queue2.stats());
        return seen;
      }
      const listing = list();
      const seen = await readStats().finally(() => {
        isListing = false;
        return listing;
      });
      const changed = seen.filter((stats) => !isRight(stats));
      must(changed.length === 0, 'two wait and three are dead all the time', changed);
    },
  },
];
