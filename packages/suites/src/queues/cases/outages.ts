import { PermanentError } from 'service-webhooks';
import { needs } from '../../define-suite.js';
import { mustReject } from '../../waiting.js';
import type { QueueTrialCase } from '../trial.js';

const LIMIT_MS = 20_000;

/** Cases about an engine that cannot be reached. */
export const outages: readonly QueueTrialCase[] = [
  {
    name: 'a put rejects when the engine cannot be reached',
    rules: ['Q1'],
    skip: needs('unreachable'),
    async run({ delivery, options }) {
      const queue = await options.unreachable?.();
      await mustReject(LIMIT_MS, 'a put without an engine', async () => {
        await queue?.init?.();
        return queue?.put(delivery());
      });
    },
  },
  {
    name: 'what was put, and what is dead, is there after the engine was killed and started again',
    rules: ['Q1'],
    skip: needs('restart'),
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
