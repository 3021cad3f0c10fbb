import { PermanentError } from 'service-webhooks';
import type { QueuedDelivery } from 'service-webhooks/queue';
import { must, needs } from '../../define-suite.js';
import { createGate, sleep } from '../../waiting.js';
import { eventIdOf, type QueueTrial, type QueueTrialCase, type WatchedWorker } from '../trial.js';

const LOSSES = 5;
const RECONNECT_MS = 250;

/** Cases about workers that lose a job while its handler runs. */
export const ownership: readonly QueueTrialCase[] = [
  {
    name: 'a job whose worker loses its connection five times while the handler runs stays one job',
    rules: ['Q11'],
    skip: needs('disconnect'),
    attempts: 50,
    async run(trial) {
      const queued = trial.delivery();
      const lost = Array.from({ length: LOSSES }, createGate);
      let starts = 0;
      const worker = await trial.work(async (event) => {
        const loss = event.id === eventIdOf(queued) ? lost[starts] : undefined;
        if (loss === undefined) return;
        starts += 1;
        await loss.opened;
        throw new Error('the connection was lost');
      });
      await trial.put(queued);
      for (const [i, { open: failNow }] of lost.entries()) {
        await trial.until(`run ${i + 1} begins`, () => starts === i + 1);
        await trial.options.disconnect?.(trial.made);
        // The handler fails once the worker can reach the engine again.
        await sleep(RECONNECT_MS);
        failNow();
      }
      await endsOnce(trial, [worker], queued, LOSSES + 1);
    },
  },
  {
    name: 'a PermanentError that is thrown after the lock is over makes no dead letter of a job that another worker has completed',
    rules: ['Q11', 'Q12'],
    skip: needs('lapse'),
    async run(trial) {
      const { queued, first, second } = await afterLapse(trial, () => {
        throw new PermanentError('too late');
      });
      await endsOnce(trial, [first, second], queued, 2);
      must(first.reports.length === 0, 'no report of a dead letter', first.reports);
    },
  },
  {
    name: 'a failure after the lock is over puts no job back that another worker has completed',
    rules: ['Q11'],
    skip: needs('lapse'),
    async run(trial) {
      const { queued, first, second } = await afterLapse(trial, () => {
        throw new Error('too late');
      });
      await endsOnce(trial, [first, second], queued, 2);
    },
  },
  {
    name: 'a success after the lock is over does not complete a job that another worker runs',
    rules: ['Q11'],
    skip: needs('lapse'),
    async run(trial) {
      const failing = createGate();
      const { queued, first, second } = await afterLapse(
        trial,
        () => {},
        async (attempt) => {
          if (attempt !== 2) return;
          await failing.opened;
          throw new Error('the second worker fails');
        },
      );
      await handlesAnother(trial, [first, second]);
      failing.open();
      await trial.until('the job runs again', () => runsOf([first, second], queued) > 2);
      await nothingIsLeft(trial);
    },
  },
];

/**
 * The first worker runs a delivery until its lock is over and a second one has started it with the next attempt. Then the
 * handler of the first worker ends, as `endFirstRun` does. Later runs end as `runLater` does.
 */
async function afterLapse(trial: QueueTrial, endFirstRun: () => void, runLater = async (_: number) => {}) {
  const queued = trial.delivery();
  const [pause, ended] = [createGate(), createGate()];
  const first = await trial.work(async (event, { attempt }) => {
    if (event.id !== eventIdOf(queued)) return;
    if (attempt !== 1) return runLater(attempt);
    await pause.opened;
    ended.open();
    endFirstRun();
  });
  await trial.put(queued);
  await trial.until('the first worker runs it', () => first.attemptsOf(queued).length === 1);
  const second = await trial.work((event, { attempt }) =>
    event.id === eventIdOf(queued) ? runLater(attempt) : undefined,
  );
  await trial.options.lapse?.(trial.made);
  await trial.until('another run begins', () => runsOf([first, second], queued) === 2);
  pause.open();
  await ended.opened;
  return { queued, first, second };
}

/** Checks that a delivery is done after exactly a number of runs, and is no dead letter. */
async function endsOnce(
  trial: QueueTrial,
  workers: readonly WatchedWorker[],
  queued: QueuedDelivery,
  runs: number,
): Promise<void> {
  await trial.until('the last run begins', () => runsOf(workers, queued) >= runs);
  await handlesAnother(trial, workers);
  await nothingIsLeft(trial);
  must(runsOf(workers, queued) === runs, `${runs} runs`, runsOf(workers, queued));
}

async function handlesAnother(trial: QueueTrial, workers: readonly WatchedWorker[]): Promise<void> {
  const another = trial.delivery();
  await trial.put(another);
  await trial.until('a later delivery is handled', () => runsOf(workers, another) > 0);
}

async function nothingIsLeft(trial: QueueTrial): Promise<void> {
  const { dead } = await trial.statsWith('nothing waits', ({ depth }) => depth === 0);
  must(dead === 0, 'no dead letter', dead);
}

function runsOf(workers: readonly WatchedWorker[], queued: QueuedDelivery): number {
  return workers.reduce((sum, worker) => sum + worker.attemptsOf(queued).length, 0);
}
