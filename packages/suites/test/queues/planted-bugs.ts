import type { Handler, QueuedDelivery } from 'service-webhooks';
import type { WorkerUnderTest } from 'service-webhooks-suites';
import { followedBy } from '../../../../src/queue/engine-queue.js';
import type { MemoryQueue } from '../../../../test/support/memory-queue.js';

/** Makes a right queue wrong in one way. */
export type Plant = (queue: MemoryQueue) => Partial<MemoryQueue>;

/** Changes what is put before the engine has it. */
const puts = (change: (delivery: QueuedDelivery) => QueuedDelivery): Plant => {
  return (queue) => ({ put: (delivery) => queue.put(change(delivery)) });
};

/** Changes what the handlers of a worker do. */
const works = (change: (handler: Handler) => Handler): Plant => {
  return (queue) => ({
    work: (options) => queue.work({ ...options, on: { '*': change(options.on['*'] ?? (() => {})) } }),
  });
};

/** Forgets a key at a put while its job is in a state. */
const forgets = (state: 'waiting' | 'running' | 'done'): Plant => {
  return (queue) => ({
    async put(delivery) {
      if (queue.jobs.get(delivery.key)?.state === state) queue.jobs.delete(delivery.key);
      return queue.put(delivery);
    },
  });
};

/** Changes the workers that a queue starts. */
const workers = (change: (worker: WorkerUnderTest, queue: MemoryQueue) => Partial<WorkerUnderTest>): Plant => {
  return (queue) => ({
    async work(options) {
      const worker = await queue.work(options);
      return { ...worker, ...change(worker, queue) };
    },
  });
};

const dead = (queue: MemoryQueue) => [...queue.jobs.values()].filter(({ state }) => state === 'dead');

/** Bugs of real queues, one each, with the cases of the suite that must catch it. */
export const PLANTED_BUGS: Readonly<Record<string, { plant: Plant; caughtBy: readonly string[] }>> = {
  'parses the body and writes it again': {
    plant: puts((delivery) => ({ ...delivery, body: btoa(JSON.stringify(JSON.parse(atob(delivery.body)))) })),
    caughtBy: ['a delivery reaches the handler with the exact bytes of its body'],
  },
  'drops the unsigned headers': {
    plant: puts((delivery) => ({ ...delivery, unsigned: {} })),
    caughtBy: ['a delivery reaches the handler with all that was known of it'],
  },
  'gives every delivery a signed time': {
    plant: puts((delivery) => ({ ...delivery, signedAt: delivery.receivedAt })),
    caughtBy: ['a legacy delivery reaches the handler without a signed time'],
  },
  'cuts long bodies off': {
    plant: puts((delivery) => ({ ...delivery, body: delivery.body.slice(0, 65_536) })),
    caughtBy: ['a delivery of the largest size reaches the handler'],
  },
  'drops a key with two colons': {
    plant: (queue) => ({
      put: async (delivery) => (delivery.key.split(':').length > 2 ? 'queued' : queue.put(delivery)),
    }),
    caughtBy: ['events whose ids have awkward characters are handled'],
  },
  'leaves the name of the endpoint out of the key': {
    plant: puts((delivery) => ({ ...delivery, key: delivery.key.replace(/^[^:]*:/, '') })),
    caughtBy: ['one event under the keys of two endpoints is two deliveries'],
  },
  'knows no key while its job waits': {
    plant: forgets('waiting'),
    caughtBy: ['a key that waits is known'],
  },
  'knows no key while its job runs': {
    plant: forgets('running'),
    caughtBy: ['a key whose job runs is known'],
  },
  'forgets a key when its job is done': {
    plant: forgets('done'),
    caughtBy: ['a key whose job is done is known, and is not run again'],
  },
  'looks for a key before it writes it': {
    plant: (queue) => ({
      async put(delivery) {
        const isKnown = queue.jobs.has(delivery.key);
        await Promise.resolve();
        if (isKnown) return 'known';
        await queue.put(delivery);
        return 'queued';
      },
    }),
    caughtBy: ['exactly one of 32 simultaneous puts of a key over two clients is queued'],
  },
  'runs every job twice': {
    plant: (queue) => ({
      async put(delivery) {
        const answer = await queue.put(delivery);
        if (answer === 'queued') queue.inject(delivery);
        return answer;
      },
    }),
    caughtBy: ['each of 40 deliveries is run once by one of two workers'],
  },
  'counts attempts from 0': {
    plant: works((handler) => (event, context) => handler(event, { ...context, attempt: context.attempt - 1 })),
    caughtBy: [
      'the first run of a handler has attempt 1 and a signal that is not aborted',
      'a handler that fails runs again with the next attempt, and the job is then done',
      'a dead letter that is retried runs again with attempt 1, and is listed no more',
      'a dead letter that is retried has all its attempts again',
    ],
  },
  'stops without waiting for the handler': {
    plant: workers(({ kill }) => ({ stop: async () => kill?.() })),
    caughtBy: ['a worker that stops waits for the running handler, and the job is not run again'],
  },
  'goes on after stop': {
    plant: workers(() => ({ async stop() {} })),
    caughtBy: ['a worker that has stopped takes no more jobs, and the next one does'],
  },
  'counts in seconds': {
    plant: (queue) => ({
      async stats() {
        const { oldestMs, ...stats } = await queue.stats();
        return { ...stats, oldestMs: oldestMs && Math.floor(oldestMs / 1_000) };
      },
    }),
    caughtBy: ['stats count what waits, and how long the oldest has waited'],
  },
  'gives a job up at its first failure': {
    plant: (queue) => ({
      work: (options) =>
        queue.work({
          ...options,
          observe({ kind, delivery }) {
            const job = [...queue.jobs.values()].find(({ state }) => state === 'running');
            if (kind === 'failed' && delivery && job) job.attempt = 99;
          },
        }),
    }),
    caughtBy: [
      'a handler that fails runs again with the next attempt, and the job is then done',
      'a job whose attempts are used is a dead letter, with the delivery and the reason',
    ],
  },
  'retries a PermanentError': {
    plant: works((handler) => async (event, context) => {
      try {
        return await handler(event, context);
      } catch (error) {
        throw new Error((error as Error).message);
      }
    }),
    caughtBy: ['a PermanentError makes the job a dead letter after one run, with its reason'],
  },
  'drops the reason': {
    plant: (queue) => ({
      deadLetters: async (options) => (await queue.deadLetters(options)).map((one) => ({ ...one, reason: undefined })),
    }),
    caughtBy: [
      'a job whose attempts are used is a dead letter, with the delivery and the reason',
      'a PermanentError makes the job a dead letter after one run, with its reason',
    ],
  },
  'keeps the stack of the first failure': {
    plant: (queue) => ({
      deadLetters: async (options) =>
        (await queue.deadLetters(options)).map((one) => ({ ...one, stack: 'Error: failure 1' })),
    }),
    caughtBy: ['a dead letter has the stack of its last failure, where it has one'],
  },
  'says of what waits again that it is done': {
    plant: (queue) => ({
      async retryAndFollow(id) {
        return (await queue.retry(id)) ? followedBy(async () => 'done') : undefined;
      },
    }),
    caughtBy: [
      'a retried dead letter that is followed is pending until its handler succeeds, and then done',
      'a retried dead letter that is followed is dead only when it has failed for good again',
    ],
  },
  'takes the earlier death of a retried dead letter for its end': {
    plant: (queue) => ({
      async retryAndFollow(id) {
        return (await queue.retry(id)) ? followedBy(async () => 'dead') : undefined;
      },
    }),
    caughtBy: ['a retried dead letter that is followed is dead only when it has failed for good again'],
  },
  'follows a dead letter for everyone who asks': {
    plant: (queue) => ({
      async retryAndFollow(id) {
        await queue.retry(id);
        return followedBy(async () => 'done');
      },
    }),
    caughtBy: ['a dead letter that is retried and followed four times at once is followed by one'],
  },
  'throws jobs away that it cannot read': {
    plant: () => ({ inject() {} }),
    caughtBy: ['jobs of another version stay in the queue, and the others are run'],
  },
  'loses what a worker had when it died': {
    plant: workers(({ kill }, { jobs }) => ({
      async kill() {
        await kill?.();
        for (const job of jobs.values()) if (job.attempt > 0) job.state = 'done';
      },
    })),
    caughtBy: [
      'a job whose worker was killed is run again',
      'a job that kills its workers is a dead letter after its attempts',
    ],
  },
  'counts no attempt for a worker that died': {
    plant: workers(({ kill }, { jobs }) => ({
      async kill() {
        for (const job of jobs.values()) if (job.state === 'running') job.attempt -= 1;
        await kill?.();
      },
    })),
    caughtBy: ['a job that kills its workers is a dead letter after its attempts'],
  },
  'runs a dead letter again at a redelivery': {
    plant: (queue) => ({
      async put(delivery) {
        if (await queue.retry(delivery.key)) return 'queued';
        return queue.put(delivery);
      },
    }),
    caughtBy: ['the key of a dead letter is known, and is not run again'],
  },
  'keeps the attempts of a dead letter that is retried': {
    plant: (queue) => ({
      async retry(id) {
        const attempt = queue.jobs.get(id)?.attempt ?? 0;
        const answer = await queue.retry(id);
        const job = queue.jobs.get(id);
        if (answer && job) job.attempt = attempt;
        return answer;
      },
    }),
    caughtBy: [
      'a dead letter that is retried runs again with attempt 1, and is listed no more',
      'a dead letter that is retried has all its attempts again',
    ],
  },
  'puts a copy of a dead letter for each retry': {
    plant: (queue) => ({
      async retry(id) {
        const job = dead(queue).find(({ key }) => key === id);
        if (job) queue.inject(job.value);
        await Promise.resolve();
        if (job) queue.jobs.delete(id);
        return job !== undefined;
      },
    }),
    caughtBy: ['a dead letter that is retried four times at once runs once'],
  },
  'settles jobs that it has lost': {
    plant: (queue) => {
      queue.checksOwner = 'never';
      return {};
    },
    caughtBy: [
      'a PermanentError that is thrown after the lock is over makes no dead letter of a job that another worker has completed',
      'a failure after the lock is over puts no job back that another worker has completed',
    ],
  },
  'acknowledges jobs that it has lost': {
    plant: (queue) => {
      queue.checksOwner = 'for failures';
      return {};
    },
    caughtBy: ['a success after the lock is over does not complete a job that another worker runs'],
  },
  'adds a copy of a job whose connection was lost': {
    plant: (queue) => ({
      work: (options) =>
        queue.work({
          ...options,
          observe(outcome) {
            options.observe?.(outcome);
            const job = [...queue.jobs.values()].find(({ state }) => state === 'waiting');
            if (outcome.kind === 'failed' && job) queue.inject(job.value);
          },
        }),
    }),
    caughtBy: ['a job whose worker loses its connection five times while the handler runs stays one job'],
  },
  'is silent about dead letters': {
    plant: (queue) => ({ work: (options) => queue.work({ ...options, observe: () => {} }) }),
    caughtBy: [
      'a worker reports a dead letter with its type, its reason, its attempts and the name of the endpoint',
      'a job that kills its workers is a dead letter after its attempts',
    ],
  },
  'discards a dead letter for everyone who asks': {
    plant: (queue) => ({
      async discard(id) {
        const isDead = queue.jobs.get(id)?.state === 'dead';
        await Promise.resolve();
        if (isDead) queue.jobs.delete(id);
        return isDead;
      },
    }),
    caughtBy: ['a dead letter that is discarded four times at once is discarded once'],
  },
  'says that it discards, and keeps the letter': {
    plant: () => ({ discard: async () => true }),
    caughtBy: [
      'a dead letter that is discarded is gone',
      'an id that is no dead letter is neither retried nor discarded',
    ],
  },
  'discards and retries what still waits': {
    plant: (queue) => ({ discard: async (id) => queue.jobs.delete(id) }),
    caughtBy: ['an id that is no dead letter is neither retried nor discarded'],
  },
  'lists the first dead letters on every page': {
    plant: (queue) => ({ deadLetters: (options) => queue.deadLetters({ ...options, offset: 0 }) }),
    caughtBy: ['dead letters are listed in pages'],
  },
  'takes the letters out that it lists': {
    plant: (queue) => ({
      async deadLetters(options) {
        const letters = await queue.deadLetters(options);
        for (const { id } of letters) queue.jobs.delete(id);
        return letters;
      },
    }),
    caughtBy: ['up to a limit of dead letters is listed, the oldest first, as often as asked'],
  },
  'takes the letters out while it lists them': {
    plant: (queue) => ({
      async deadLetters(options) {
        const letters = await queue.deadLetters(options);
        const taken = dead(queue);
        for (const { key } of taken) queue.jobs.delete(key);
        await new Promise<void>((resolve) => setImmediate(resolve));
        for (const job of taken) queue.jobs.set(job.key, job);
        return letters;
      },
    }),
    caughtBy: ['stats stay the same while an operator lists dead letters'],
  },
  'lists the newest dead letters first': {
    plant: (queue) => ({
      deadLetters: async ({ limit = 100 } = {}) =>
        (await queue.deadLetters({ limit: 1_000 })).reverse().slice(0, limit),
    }),
    caughtBy: ['up to a limit of dead letters is listed, the oldest first, as often as asked'],
  },
  'says known of what it has discarded, and runs it': {
    plant: (queue) => {
      const discarded = new Set<string>();
      return {
        discard(id) {
          discarded.add(id);
          return queue.discard(id);
        },
        async put(delivery) {
          const answer = await queue.put(delivery);
          return discarded.has(delivery.key) ? 'known' : answer;
        },
      };
    },
    caughtBy: ['the key of a discarded dead letter is put as a new one, or known'],
  },
  'answers before the engine has': {
    plant: () => ({ put: async () => 'queued' }),
    caughtBy: [
      'a put rejects when the engine cannot be reached',
      'what was put, and what is dead, is there after the engine was killed and started again',
    ],
  },
};
