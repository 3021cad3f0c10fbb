import { PermanentError } from 'service-webhooks';
import type { DeadLetter, FollowedJob, OperatedQueue, QueuedDelivery } from 'service-webhooks/queue';
import { must } from '../../define-suite.js';
import { createGate } from '../../waiting.js';
import { mustHaveRun, needsAbility, type QueueTrial, type QueueTrialCase } from '../trial.js';

/** Cases about the operator's methods for dead letters. */
export const deadLetters: readonly QueueTrialCase[] = [
  {
    name: 'a dead letter that is retried runs again with attempt 1, and is listed no more',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      must(await trial.queue.retry(letter.id), 'retry resolves to true');
      const worker = await trial.work();
      await trial.until('it runs again', () => worker.attemptsOf(queued).length === 1);
      must(worker.attemptsOf(queued)[0] === 1, 'with attempt 1', worker.attemptsOf(queued));
      await trial.drain(worker);
      await noneIsLeft(trial);
    },
  },
  {
    name: 'a dead letter that is retried has all its attempts again',
    rules: ['Q9', 'Q4'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      must(await trial.queue.retry(letter.id), 'retry resolves to true');
      const worker = await trial.work(() => {
        throw new Error('not yet');
      });
      const { delivery } = await trial.deadLetterOf(queued);
      must(worker.attemptsOf(queued).join() === '1,2,3', 'attempts 1, 2 and 3', worker.attemptsOf(queued));
      must(delivery?.body === queued.body, 'the delivery as it was put');
    },
  },
  {
    name: 'a dead letter that is retried four times at once runs once',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      await oneOfFour(trial, (client) => client.retry(letter.id));
      const worker = await trial.work();
      await trial.until('it runs again', () => worker.attemptsOf(queued).length === 1);
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'once');
    },
  },
  {
    name: 'a dead letter has the stack of its last failure, where it has one',
    rules: ['Q9'],
    async run(trial) {
      const queued = trial.delivery();
      await trial.work((_, { attempt }) => {
        throw new Error(`failure ${attempt}`);
      });
      await trial.put(queued);
      const { stack } = await trial.deadLetterOf(queued);
      must(stack === undefined || stack.includes('failure 3'), 'the stack of the third failure', stack);
      must(stack === undefined || stack.length <= 4_000, 'at most 4 000 characters', stack?.length);
    },
  },
  {
    name: 'a retried dead letter that is followed is pending until its handler succeeds, and then done',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      const followed = await followedOf(trial, letter);
      if (followed === undefined) return;
      await mustBe(followed, 'pending', 'while it waits');
      const { open, opened } = createGate();
      const worker = await trial.work(() => opened);
      await trial.until('it runs again', () => worker.attemptsOf(queued).length === 1);
      await mustBe(followed, 'pending', 'while it runs');
      open();
      await trial.until("'done' after the run", async () => (await followed.state()) === 'done');
      await followed.close();
    },
  },
  {
    name: 'a retried dead letter that is followed is dead only when it has failed for good again',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      const followed = await followedOf(trial, letter);
      if (followed === undefined) return;
      await mustBe(followed, 'pending', 'after its earlier death');
      const { open, opened } = createGate();
      const worker = await trial.work(async (_, { attempt }) => {
        if (attempt === 3) await opened;
        throw new Error('not yet');
      });
      await trial.until('it runs for the last time', () => worker.attemptsOf(queued).length === 3);
      await mustBe(followed, 'pending', 'before its last failure');
      open();
      await trial.until("'dead' after the last run", async () => (await followed.state()) === 'dead');
      await followed.close();
    },
  },
  {
    name: 'a dead letter that is retried and followed four times at once is followed by one',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      if (trial.queue.retryAndFollow === undefined) return;
      const follow = async (client: OperatedQueue) => {
        const followed = await client.retryAndFollow?.(letter.id);
        await followed?.close();
        return followed !== undefined;
      };
      await oneOfFour(trial, follow);
      must(!(await follow(trial.queue)), 'what is no dead letter is not followed');
      const worker = await trial.work();
      await trial.until('it runs again', () => worker.attemptsOf(queued).length === 1);
      await trial.drain(worker);
      mustHaveRun(worker, queued, 1, 'once, also where its following was closed');
    },
  },
  {
    name: 'a dead letter that is discarded four times at once is discarded once',
    rules: ['Q9'],
    async run(trial) {
      const { letter } = await dead(trial);
      await oneOfFour(trial, (client) => client.discard(letter.id));
      await noneIsLeft(trial);
    },
  },
  {
    name: 'a dead letter that is discarded is gone',
    rules: ['Q9'],
    async run(trial) {
      const { queued, letter } = await dead(trial);
      must(await trial.queue2.discard(letter.id), 'discard resolves to true');
      await noneIsLeft(trial);
      must(!(await trial.queue.discard(letter.id)), 'a second discard resolves to false');
      must(!(await trial.queue.retry(letter.id)), 'a retry of it resolves to false');
      const worker = await trial.work();
      await trial.drain(worker);
      mustHaveRun(worker, queued, 0, 'it is not run again');
    },
  },
  {
    name: 'an id that is no dead letter is neither retried nor discarded',
    rules: ['Q9'],
    async run(trial) {
      const waiting = trial.delivery();
      await trial.put(waiting);
      for (const id of ['0', '987654321', 'unknown', crypto.randomUUID(), waiting.key, '']) {
        must((await trial.queue.retry(id)) === false, 'retry resolves to false', id);
        must((await trial.queue.discard(id)) === false, 'discard resolves to false', id);
      }
      const worker = await trial.work();
      await trial.until('what waits is run', () => worker.attemptsOf(waiting).length === 1);
    },
  },
  {
    name: 'up to a limit of dead letters is listed, the oldest first, as often as asked',
    rules: ['Q9'],
    async run(trial) {
      const worker = await trial.work((_, { delivery: { unsigned } }) => {
        if (unsigned.webhookId === 'wh_dead') throw new PermanentError('of the test');
      });
      const keys: string[] = [];
      for (let i = 0; i < 4; i += 1) {
        const queued = trial.delivery({ unsigned: { webhookId: 'wh_dead' } });
        keys.push(queued.key);
        await trial.put(queued);
        await trial.deadLetterOf(queued);
      }
      await worker.stop();
      for (let times = 0; times < 3; times += 1) {
        const letters = await trial.queue.deadLetters({ limit: 3 });
        must(letters.length === 3, 'three of four', letters.length);
        const found = letters.map(({ delivery }) => delivery?.key);
        const isOrdered = trial.options.without?.includes('order') || found.join() === keys.slice(0, 3).join();
        must(isOrdered, 'the oldest first', found);
      }
      const all = await trial.queue2.deadLetters();
      must(all.length === 4, 'all four without a limit', all.length);
    },
  },
  {
    name: 'dead letters are listed in pages',
    rules: ['Q9'],
    async run(trial) {
      const { queued: first } = await dead(trial);
      const { queued: second } = await dead(trial);
      const pages = [0, 1, 2].map((offset) => trial.queue.deadLetters({ limit: 1, offset }));
      const found = (await Promise.all(pages)).map((page) => page.map(({ delivery }) => delivery?.key).join());
      must(found[2] === '', 'none behind both', found);
      const isListed = found.slice(0, 2).sort().join() === [first.key, second.key].sort().join();
      must(isListed, 'each on a page of its own', found);
    },
  },
  {
    name: 'the key of a discarded dead letter is put as a new one, or known',
    rules: ['Q9', 'Q2'],
    skip: needsAbility('known'),
    async run(trial) {
      const { queued, letter } = await dead(trial);
      await trial.queue.discard(letter.id);
      const answer = await trial.queue.put(queued);
      const worker = await trial.work();
      await trial.drain(worker);
      const runs = worker.attemptsOf(queued).length;
      must(runs === (answer === 'queued' ? 1 : 0), 'what is queued is run, and what is known is not', { answer, runs });
    },
  },
];

/** Returns a delivery among the dead letters, after its worker has stopped. */
async function dead(trial: QueueTrial): Promise<{ queued: QueuedDelivery; letter: DeadLetter }> {
  const queued = trial.delivery();
  const worker = await trial.work(() => {
    throw new PermanentError('of the test');
  });
  await trial.put(queued);
  const letter = await trial.deadLetterOf(queued);
  await worker.stop();
  return { queued, letter };
}

/** Retries a dead letter and follows it; undefined where the queue has no `retryAndFollow`. */
async function followedOf({ queue }: QueueTrial, { id }: DeadLetter): Promise<FollowedJob | undefined> {
  if (queue.retryAndFollow === undefined) return undefined;
  const followed = await queue.retryAndFollow(id);
  must(followed !== undefined, 'retryAndFollow resolves to what it follows', followed);
  return followed;
}

async function mustBe(followed: FollowedJob, expected: string, when: string): Promise<void> {
  const state = await followed.state();
  must(state === expected, `'${expected}' ${when}`, state);
}

/** Checks that exactly one of four calls at once, over both clients, resolves to true. */
async function oneOfFour(
  { queue, queue2 }: QueueTrial,
  call: (client: OperatedQueue) => Promise<boolean>,
): Promise<void> {
  const answers = await Promise.all([queue, queue2, queue, queue2].map(call));
  must(answers.filter(Boolean).length === 1, 'exactly one resolves to true', answers);
}

async function noneIsLeft({ queue }: QueueTrial): Promise<void> {
  const left = await queue.deadLetters();
  must(left.length === 0, 'it is listed no more', left.length);
}
