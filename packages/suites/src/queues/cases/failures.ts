import { PermanentError } from 'service-webhooks';
import { must, needs } from '../../define-suite.js';
import { eventIdOf, mustHaveRun, needsAbility, type QueueTrialCase } from '../trial.js';

/** Cases about handlers that fail, jobs that cannot be read, and workers that die. */
export const failures: readonly QueueTrialCase[] = [
  {
    name: 'a handler that fails runs again with the next attempt, and the job is then done',
    rules: ['Q4'],
    async run(trial) {
      const queued = trial.delivery();
      const worker = await trial.work((event, { attempt }) => {
        if (event.id === eventIdOf(queued) && attempt < 3) throw new Error('not yet');
      });
      await trial.put(queued);
      await trial.until('the handler succeeds', () => worker.attemptsOf(queued).includes(3));
      await trial.drain(worker);
      must(worker.attemptsOf(queued).join() === '1,2,3', 'attempts 1, 2 and 3', worker.attemptsOf(queued));
      await trial.statsWith('nothing is left', ({ depth, dead }) => depth + dead === 0);
    },
  },
  {
    name: 'a job whose attempts are used is a dead letter, with the delivery and the reason',
    rules: ['Q4', 'Q9'],
    async run(trial) {
      const { without = [] } = trial.options;
      const queued = trial.delivery({ unsigned: { webhookId: 'wh_1' } });
      const worker = await trial.work((event) => {
        if (event.id === eventIdOf(queued)) throw new Error('the reason of the third failure');
      });
      await trial.put(queued);
      const { delivery, reason, attempts, diedAt } = await trial.deadLetterOf(queued);
      await trial.drain(worker);
      must(worker.attemptsOf(queued).join() === '1,2,3', 'three attempts', worker.attemptsOf(queued));
      must(delivery?.body === queued.body && delivery.unsigned.webhookId === 'wh_1', 'the delivery as it was put');
      if (!without.includes('reason')) must(!!reason?.includes('of the third failure'), 'the reason', reason);
      if (!without.includes('attempts')) must(attempts === 3, 'the attempts', attempts);
      must(diedAt === undefined || Math.abs(diedAt - Date.now()) < 60_000, 'the time of death is of now', diedAt);
      const { dead } = await trial.statsWith('stats count it', (stats) => stats.dead === 1);
      must(dead === 1, 'one dead letter', dead);
    },
  },
  {
    name: 'a PermanentError makes the job a dead letter after one run, with its reason',
    rules: ['Q5'],
    async run(trial) {
      const queued = trial.delivery();
      const worker = await trial.work((event) => {
        if (event.id === eventIdOf(queued)) throw new PermanentError('the clip is gone');
      });
      await trial.put(queued);
      const { reason, attempts } = await trial.deadLetterOf(queued);
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'one run');
      must(reason === 'the clip is gone', "the PermanentError's own text", reason);
      if (!trial.options.without?.includes('attempts')) must(attempts === 1, 'the attempts', attempts);
    },
  },
  {
    name: 'a worker reports a dead letter with its type, its reason, its attempts and the name of the endpoint',
    rules: ['Q12'],
    async run(trial) {
      const permanent = trial.delivery();
      const failing = trial.delivery();
      const worker = await trial.work((event) => {
        if (event.id === eventIdOf(permanent)) throw new PermanentError('the clip is gone');
        if (event.id === eventIdOf(failing)) throw new Error('no disk');
      });
      for (const [queued, reason, attempts] of [
        [permanent, 'the clip is gone', 1],
        [failing, 'no disk', 3],
      ] as const) {
        await trial.put(queued);
        await trial.deadLetterOf(queued);
        const own = () => worker.reports.filter(({ delivery }) => delivery?.event.id === eventIdOf(queued));
        const [report] = await trial.until('a report', own, ({ length }) => length > 0);
        const isRight = report?.type === 'stt.completed' && report.reason === reason && report.attempts === attempts;
        must(isRight && report.name === 'suite', 'type, reason, attempts and name', report);
        must(own().length === 1, 'one report', own().length);
      }
    },
  },
  {
    name: 'jobs of another version stay in the queue, and the others are run',
    rules: ['Q6'],
    skip: needs('inject'),
    attempts: 1,
    async run(trial) {
      // Two, so that the last of the others, whose end may be recorded a little later, is not taken for one of them.
      for (let i = 0; i < 2; i += 1) await trial.options.inject?.(trial.made, { ...trial.delivery(), v: 2 });
      const worker = await trial.work();
      for (let i = 0; i < 3; i += 1) await trial.drain(worker);
      const stats = await trial.statsWith('the unreadable jobs wait', ({ depth }) => depth === 2);
      must(stats.dead === 0, 'no unreadable job is a dead letter', stats);
      must(worker.runs.length === 3, 'no handler is called with them', worker.runs.length);
    },
  },
  {
    name: 'a job whose worker was killed is run again',
    rules: ['Q7'],
    async run(trial) {
      const queued = trial.delivery();
      const victim = await trial.work(() => new Promise(() => {}));
      const { kill } = victim;
      must(kill !== undefined, 'work() returns a worker that can be killed');
      await trial.put(queued);
      await trial.until('the job runs', () => victim.runs.length === 1);
      await kill();
      const worker = await trial.work();
      await trial.until('another worker runs it', () => worker.attemptsOf(queued).length === 1);
    },
  },
  {
    name: 'a job that kills its workers is a dead letter after its attempts',
    rules: ['Q7', 'Q4'],
    attempts: 2,
    async run(trial) {
      const queued = trial.delivery();
      await trial.put(queued);
      for (let run = 1; run <= 2; run += 1) {
        const victim = await trial.work(() => new Promise(() => {}));
        await trial.until(`run ${run} begins`, () => victim.runs.length === 1);
        await victim.kill?.();
      }
      const worker = await trial.work();
      const { reason } = await trial.deadLetterOf(queued);
      mustHaveRun(worker, queued, 0, 'no third run');
      must(!!reason, 'a reason', reason);
      await trial.until('a report', () => worker.reports.length === 1 && worker.reports[0]?.attempts === 2);
    },
  },
  {
    name: 'the key of a dead letter is known, and is not run again',
    rules: ['Q2'],
    skip: needsAbility('known', 'dead'),
    async run(trial) {
      const queued = trial.delivery();
      const worker = await trial.work((event) => {
        if (event.id === eventIdOf(queued)) throw new PermanentError('the clip is gone');
      });
      await trial.put(queued);
      await trial.deadLetterOf(queued);
      const answer = await trial.queue.put(queued);
      must(answer === 'known', 'known', answer);
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'one run');
    },
  },
];
