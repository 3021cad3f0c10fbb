import type { QueuedDelivery } from 'service-webhooks';
import type { WorkerUnderTest } from 'service-webhooks-suites';
import type { DeadLetter, OperatedQueue } from '../../src/queue/dead-letters.js';
import { followedBy } from '../../src/queue/engine-queue.js';
import { createProcessor, type WorkerOptions } from '../../src/queue/processor.js';

interface Job {
  key: string;
  value: unknown;
  state: 'waiting' | 'running' | 'done' | 'dead';
  attempt: number;
  /** Which run owns the job. */
  owner?: object | undefined;
  queuedAt: number;
  diedAt?: number;
  reason?: string;
  stack?: string | undefined;
}

export interface MemoryQueue extends OperatedQueue {
  jobs: Map<string, Job>;
  /** Whether a worker settles only jobs that are still its own. */
  checksOwner: 'always' | 'for failures' | 'never';
  /** Takes the running jobs from their workers. */
  lapse(): void;
  inject(value: unknown): void;
  work(options: WorkerOptions): Promise<WorkerUnderTest>;
}

/** A queue without durability, for tests: what `docs/add-a-queue.md` describes, in the memory of this process. */
export function memoryQueue({ attempts = 3, name = 'test' } = {}): MemoryQueue {
  const jobs = new Map<string, Job>();
  const waiters = new Set<() => void>();
  const add = (key: string, value: unknown) => {
    jobs.set(key, { key, value, state: 'waiting', attempt: 0, queuedAt: Date.now() });
    wake();
  };
  const wake = () => {
    for (const waiter of [...waiters]) waiter();
  };
  const inState = (...states: Job['state'][]) => [...jobs.values()].filter(({ state }) => states.includes(state));

  function bury(job: Job, { reason, stack }: Pick<Job, 'reason' | 'stack'>): void {
    Object.assign(job, { state: 'dead', diedAt: Date.now(), reason, stack });
  }

  const queue: MemoryQueue = {
    name,
    jobs,
    checksOwner: 'always',
    lapse() {
      for (const job of inState('running')) Object.assign(job, { state: 'waiting', owner: undefined });
      wake();
    },
    inject: (value) => add(crypto.randomUUID(), value),

    async put(delivery) {
      if (jobs.has(delivery.key)) return 'known';
      add(delivery.key, JSON.parse(JSON.stringify(delivery)));
      return 'queued';
    },

    async work(options) {
      const process = createProcessor(options);
      const unreadable = new Set<Job>(); // put aside by this worker, and by no other one
      let state: 'working' | 'stopping' | 'killed' = 'working';
      let current: Job | undefined;

      async function run(job: Job): Promise<void> {
        const owner = {};
        Object.assign(job, { state: 'running', owner });
        job.attempt += 1;
        current = job;
        const ended = await process(job.value, { attempt: job.attempt, attempts });
        if (state === 'killed') return;
        current = undefined;
        const isChecked = queue.checksOwner === (ended.as === 'done' ? 'always' : 'for failures');
        if ((isChecked || queue.checksOwner === 'always') && job.owner !== owner) return;
        if (ended.as === 'done') Object.assign(job, { state: 'done', owner: undefined });
        else if (ended.as === 'dead') {
          Object.assign(job, { attempt: ended.attempts });
          bury(job, ended);
          process.deadLetter(job.value, ended);
        } else job.state = 'waiting';
        wake();
        if (ended.as !== 'unreadable') return;
        job.attempt -= 1;
        unreadable.add(job);
      }

      async function loop(): Promise<void> {
        while (state === 'working') {
          const job = inState('waiting').find((one) => !unreadable.has(one));
          if (job) await run(job);
          else {
            await new Promise<void>((resolve) => {
              waiters.add(function waiter() {
                waiters.delete(waiter);
                resolve();
              });
            });
          }
        }
      }
      const looping = loop();
      return {
        async stop() {
          if (state === 'working') state = 'stopping';
          wake();
          if (state === 'stopping') await looping;
        },
        async kill() {
          state = 'killed';
          if (current) current.state = 'waiting';
          wake();
        },
      };
    },

    async deadLetters({ limit = 100, offset = 0 } = {}) {
      const dead = inState('dead').slice(offset, offset + limit);
      return dead.map(
        ({ key, value, attempt, diedAt, reason, stack }): DeadLetter => ({
          id: key,
          delivery: value as QueuedDelivery,
          attempts: attempt,
          diedAt,
          reason,
          stack,
        }),
      );
    },

    async retry(id) {
      const job = jobs.get(id);
      if (job?.state !== 'dead') return false;
      jobs.delete(id);
      add(id, job.value);
      return true;
    },

    async retryAndFollow(id) {
      if (!(await queue.retry(id))) return undefined;
      return followedBy(async () => {
        const { state = 'done' } = jobs.get(id) ?? {};
        return state === 'done' || state === 'dead' ? state : 'pending';
      });
    },

    async discard(id) {
      return jobs.get(id)?.state === 'dead' && jobs.delete(id);
    },

    async stats() {
      const pending = inState('waiting', 'running');
      const oldest = Math.min(...pending.map(({ queuedAt }) => queuedAt));
      return {
        depth: pending.length,
        oldestMs: pending.length === 0 ? 0 : Date.now() - oldest,
        dead: inState('dead').length,
      };
    },
  };
  return queue;
}
