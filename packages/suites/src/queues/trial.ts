import type { DeadLetterNotice, Handler } from 'service-webhooks';
import {
  type DeadLetter,
  fromQueued,
  type OperatedQueue,
  type QueuedDelivery,
  type QueueStats,
  toQueued,
} from 'service-webhooks/queue';
import { sampleEvent } from 'service-webhooks/testing';
import { type AtEnd, must, type TrialCase } from '../define-suite.js';
import { until } from '../waiting.js';
import type { QueueAbility, QueueSuiteOptions, QueueUnderTest, WorkerUnderTest } from './queue-under-test.js';

/** The rules of `docs/add-a-queue.md`, as a failing case quotes them. */
export const QUEUE_RULES = {
  Q1: 'put resolves only when the engine holds the delivery durably, and rejects otherwise',
  Q2: 'a key that the engine has is known in every state, and is not run again',
  Q3: 'a worker gets each delivery as it was put, byte for byte',
  Q4: 'a handler that fails runs again with the next attempt, until all attempts are used and the job is a dead letter',
  Q5: 'a PermanentError makes the job a dead letter at once, with its reason',
  Q6: 'a job that cannot be read stays in the queue, uses no attempt, and does not hold up other jobs',
  Q7: 'a job whose worker died is run again',
  Q8: 'a worker that stops lets running handlers end, and takes no more jobs',
  Q9: 'a dead letter can be listed with its last failure, run again with all its attempts, followed, and discarded, once',
  Q10: 'stats count what waits or runs, its age, and the dead letters, also while an operator lists them',
  Q11: 'a worker settles only what is still its own',
  Q12: 'a worker reports each dead letter, with its reason',
} as const;

export type QueueRule = keyof typeof QUEUE_RULES;

/** A case before it is bound to a queue. */
export interface QueueTrialCase extends TrialCase<QueueRule, QueueSuiteOptions, QueueTrial> {
  /** The number of times a job is started before it is a dead letter. Default: 3. */
  attempts?: number;
}

/** The tools of a case: two clients of one queue, deliveries with new keys, and workers. */
export interface QueueTrial {
  queue: OperatedQueue;
  queue2: OperatedQueue;
  made: QueueUnderTest;
  options: QueueSuiteOptions;
  /** Returns a delivery with a new key. */
  delivery(changes?: Partial<QueuedDelivery> & { eventId?: string }): QueuedDelivery;
  /** Puts a delivery and expects that it is queued. */
  put(delivery: QueuedDelivery): Promise<void>;
  /** Starts a worker that records its runs, and calls the handler after that. */
  work(handler?: Handler): Promise<WatchedWorker>;
  /** Waits until a condition is true; calls that reject are repeated. */
  until<T>(what: string, call: () => T | Promise<T>, holds?: (value: T) => boolean): Promise<T>;
  /** Waits until the stats of the queue are as wanted. */
  statsWith(what: string, holds: (stats: QueueStats) => boolean): Promise<QueueStats>;
  /** Waits until a delivery that is put now has been handled: deliveries that waited before it have run by then. */
  drain(worker: WatchedWorker): Promise<void>;
  /** Waits for the dead letter of a delivery. */
  deadLetterOf(delivery: QueuedDelivery): Promise<DeadLetter>;
}

/** A worker with the runs of its handlers so far. */
export interface WatchedWorker extends WorkerUnderTest {
  runs: { id: string; context: Parameters<Handler>[1] }[];
  attemptsOf(delivery: QueuedDelivery): number[];
  /** The reports about its dead letters. */
  reports: DeadLetterNotice[];
}

const PATIENCE_MS = 20_000;

/** Makes a queue for one case. */
export async function queueTrial(
  options: QueueSuiteOptions,
  atEnd: AtEnd,
  { attempts = 3 }: QueueTrialCase,
): Promise<QueueTrial> {
  const made = await options.make({ attempts });
  atEnd(() => made.close?.());
  const { queue, queue2 = queue } = made;
  await queue.init?.();
  await made.queue2?.init?.();
  const trial: QueueTrial = {
    queue,
    queue2,
    made,
    options,
    delivery: queuedDelivery,
    until: (what, call, holds) => until(options.patienceMs ?? PATIENCE_MS, what, call, holds),

    statsWith: (what, holds) => trial.until(what, () => queue.stats(), holds),

    async put(delivery) {
      const answer = await queue.put(delivery);
      must(answer === 'queued', 'a new key is queued', answer);
    },

    async work(handler = () => {}) {
      const runs: WatchedWorker['runs'] = [];
      const reports: WatchedWorker['reports'] = [];
      const worker = await made.work({
        logger: false,
        observe: (outcome) => {
          if (outcome.kind === 'dead_letter') reports.push(outcome);
        },
        on: {
          '*': (event, context) => {
            runs.push({ id: event.id, context });
            return handler(event, context);
          },
        },
      });
      return {
        ...worker,
        runs,
        reports,
        attemptsOf: (delivery) =>
          runs.filter(({ id }) => id === eventIdOf(delivery)).map(({ context }) => context.attempt),
      };
    },

    async drain(worker) {
      const last = queuedDelivery();
      await trial.put(last);
      await trial.until('a later delivery is handled', () => worker.attemptsOf(last).length > 0);
    },

    async deadLetterOf({ key }) {
      const letters = await trial.until(
        'a dead letter is listed',
        () => queue2.deadLetters({ limit: 1_000 }),
        (found) => found.some(({ delivery }) => delivery?.key === key),
      );
      return letters.find(({ delivery }) => delivery?.key === key) as DeadLetter;
    },
  };
  return trial;
}

/** Returns a queued delivery with a new key. */
function queuedDelivery({
  eventId = `evt_${crypto.randomUUID()}`,
  ...changes
}: Partial<QueuedDelivery> & { eventId?: string } = {}): QueuedDelivery {
  const event = sampleEvent('stt.completed', { id: eventId });
  // With white space that no serialiser writes, so that the suite notices a body that was parsed and written again.
  const body = new TextEncoder().encode(JSON.stringify(event, undefined, 3));
  const signedAt = 1_783_771_200_000;
  const delivery = { event, body, scheme: 'v2', signedAt, secretIndex: 0, unsigned: {} } as const;
  return { ...toQueued(delivery, `suite:${crypto.randomUUID()}`, Date.now()), ...changes };
}

export function eventIdOf(queued: QueuedDelivery): string {
  return fromQueued(queued).event.id;
}

/** Checks how many times a worker has run a delivery. */
export function mustHaveRun(worker: WatchedWorker, delivery: QueuedDelivery, times: number, what: string): void {
  const attempts = worker.attemptsOf(delivery);
  must(attempts.length === times, what, attempts);
}

/** Returns the `skip` of a case about an ability that an engine may lack. */
export function needsAbility(...abilities: QueueAbility[]) {
  return ({ without }: QueueSuiteOptions) => {
    const lacking = abilities.find((ability) => without?.includes(ability));
    return lacking && `the engine is without '${lacking}'`;
  };
}
