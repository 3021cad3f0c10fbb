import { PermanentError } from '../../errors.js';
import { unrefTimeout } from '../../timers.js';
import { must } from '../must.js';
import { needsHook, type QueueTrialCase } from './trial.js';

const LIMIT_MS = 20_000;

/** Cases about an engine that cannot be reached. */
export const outageCases: readonly QueueTrialCase[] = [
  {
    name: 'a put rejects when the engine cannot be reached',
    rules: ['Q1'],
    skip: needsHook('unreachable'),
    async run({ delivery, options }) {
      const queue = await options.unreachable?.();
      const put = async () => {
        await queue?.init?.();
        return queue?.put(delivery());
      };
      const answer = await Promise.race([
        put().then(
          (result) => `answered ${result}`,
          (error) => (error instanceof Error ? 'rejected' : 'rejected with no Error'),
        ),
        new Promise((resolve) => unrefTimeout(() => resolve('hangs'), LIMIT_MS)),
      ]);
      must(answer === 'rejected', 'a put without an engine rejects with an Error', answer);
    },
  },
  {
    name: 'what was put, and what is dead, is there after the engine was killed and started again',
    rules: ['Q1'],
    skip: needsHook('restart'),
    async run(trial) {
      const [broken, ...waiting] = Array.from({ length: 4 }, () => trial.delivery());
      const first = await trial.work(() => {
        throw new PermanentError('of the test');
      });
      if (broken) {
        await trial.put(broken);
        await trial.deadLetterOf(broken);
      }
      await first.stop();
      for (const one of waiting) await trial.put(one);
      await trial.options.restart?.(trial.made);
      const worker = await trial.work();
      await trial.until('every delivery is run', () => waiting.every((one) => worker.attemptsOf(one).length > 0));
      if (broken) await trial.deadLetterOf(broken);
    },
  },
];
