import { checkEndpointName, MIN_RETAIN_MS } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import { check, checkKnownOptions, checkObject, integers } from '../../option-checks.js';
import { fingerprint } from '../../verify/hmac.js';
import type { DeadLetter, FollowedState, OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { checkClient, followedBy, limitedPut } from '../engine-queue.js';
import type { QueueJob } from '../packed-delivery.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions, type Payloads, withoutBodies } from '../payloads.js';
import { checkPostgresName, isMissingTable } from '../postgres.js';
import { asJob, countOf, deadLetterOf, inTurn, type StatsRow, statsOf } from '../stored-values.js';
import { checkSchema, notInSchema } from './boss-schema.js';
import { KEPT_DAYS, pgBossStatements } from './statements.js';

/** The part of a `PgBoss` of pg-boss 10 that is used. */
export interface PgBossClient {
  send(name: string, data: object, options: { id: string }): Promise<string | null>;
  getJobById(name: string, id: string): Promise<unknown>;
  getDb(): PgBossDatabase;
}

/** How pg-boss runs a statement. */
export interface PgBossDatabase {
  executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

/**
 * Options of {@link pgBossQueue}. `attempts`, `retryDelaySeconds` and `expireInSeconds` apply where `init()` creates the
 * queue; change those of an existing one with `boss.updateQueue()`.
 */
export interface PgBossQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /** A started `PgBoss`. It is not stopped. */
  boss: PgBossClient;
  /** The name of the queue in pg-boss. `init()` creates it, with a queue for its dead letters. */
  queue: string;
  /** The name of the endpoint, part of every key. Default: the name of the queue. */
  name?: string | undefined;
  /** The number of times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /** The first wait of pg-boss's exponential backoff, in seconds. Default: 1. */
  retryDelaySeconds?: number | undefined;
  /** When pg-boss reruns a job whose worker stopped responding, and the longest run, in seconds. Default: 900. */
  expireInSeconds?: number | undefined;
  /** The schema of pg-boss, as `new PgBoss({ schema })` has it. Default: `'pgboss'`. */
  schema?: string | undefined;
}

const OPTIONS = [
  ...['boss', 'queue', 'name', 'attempts', 'retryDelaySeconds', 'expireInSeconds', 'schema', 'retainDead'],
  ...PAYLOAD_OPTIONS,
];
const MIN_ARCHIVE_SECONDS = MIN_RETAIN_MS / 1_000;
/**
 * How far the retry limit in pg-boss is above the attempts: a job whose limit is reached would become a dead letter without a
 * report, so that the worker decides in time.
 */
export const RETRY_RESERVE = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns a queue that puts deliveries into pg-boss 10 on PostgreSQL; `pgBossProcessor` runs their handlers in its
 * workers. The id of a job is a UUID derived from the key, so a key is remembered until pg-boss archives its job: 12
 * hours after the end, unless `archiveCompletedAfterSeconds` says otherwise. `init()` rejects where that is less than 6
 * hours.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const boss = await new PgBoss(url).start();
 * app.post('/webhooks', webhookHandler({ secret, queue: pgBossQueue({ boss, queue: 'webhooks' }) }));
 */
export function pgBossQueue(options: PgBossQueueOptions): OperatedQueue {
  checkObject('options', options);
  checkKnownOptions('pgBossQueue', options, OPTIONS);
  const { boss, queue, schema = 'pgboss' } = options;
  checkClient('boss must be a PgBoss', boss, ['send', 'getDb']);
  check(typeof queue === 'string' && /^[\w-]{1,50}$/.test(queue), 'queue must be a name of letters, digits, _ and -');
  const { name = queue } = options;
  checkEndpointName(name, 'name must be');
  checkPostgresName('schema', schema);
  checkSchema('pgBossQueue', boss, schema);
  const { attempts, retryDelaySeconds, expireInSeconds } = integers(options, {
    attempts: 10,
    retryDelaySeconds: 1,
    expireInSeconds: 900,
  });
  const payloads = createPayloads(options);
  const dead = `${queue}_dead`;
  const sql = pgBossStatements(schema);

  async function query<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
    // Before its start and after its stop pg-boss answers undefined, which its types do not say.
    const result = (await boss.getDb().executeSql(text, values)) as { rows: Row[] } | undefined;
    if (result === undefined) throw notStarted();
    return result.rows;
  }

  const noQueue = () =>
    new Error(`pg-boss has no queue '${queue}': call init(), and pass its schema if that is not '${schema}'`);

  async function put(job: QueueJob): Promise<'queued' | 'known'> {
    const id = await jobId(job.key);
    if ((await boss.send(queue, job, { id })) !== null) return 'queued';
    // pg-boss answers null for an id that it has, and for a queue that it does not have.
    if ((await boss.getJobById(queue, id)) === null) throw noQueue();
    return 'known';
  }

  /** Resolves to the id of the job in the queue; undefined for an id that is no dead letter. */
  async function retry(id: string): Promise<string | undefined> {
    if (!UUID.test(id)) return undefined;
    const [letter] = await query<Letter>(sql.deadLetter, dead, id);
    if (letter === undefined) return undefined;
    const { key } = asJob(letter.data) ?? { key: id };
    const retried = await jobId(key);
    if ((await query(sql.retry, dead, id, retried, queue)).length > 0) return retried;
    if ((await query(sql.queues, queue, queue)).length === 0) throw noQueue();
    return undefined;
  }

  async function stateOf(id: string): Promise<FollowedState> {
    const [found] = await query<{ state: FollowedState }>(sql.state, queue, id);
    return found?.state ?? 'dead';
  }

  async function list({ limit, offset }: { limit: number; offset: number }, bodies: Payloads): Promise<DeadLetter[]> {
    const letters = await query<Letter>(sql.deadLetters, dead, limit, offset);
    return inTurn(letters, (letter) => toDeadLetter(bodies, letter));
  }

  async function find(key: string): Promise<unknown> {
    const { state, data } = ((await boss.getJobById(queue, await jobId(key))) ?? {}) as {
      state?: unknown;
      data?: unknown;
    };
    return state === 'completed' ? undefined : data;
  }

  async function discard(id: string): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const [letter] = await query<Letter>(sql.deadLetter, dead, id);
    await payloads.drop(letter?.data);
    return (await query(sql.discard, dead, id)).length > 0;
  }

  const operated: OperatedQueue = {
    name,

    async init() {
      const { config } = boss.getDb() as { config?: { archiveSeconds?: number } };
      if ((config?.archiveSeconds ?? MIN_ARCHIVE_SECONDS) < MIN_ARCHIVE_SECONDS) throw archivesTooEarly();
      const found = await query<{ name: string; dead_letter: string | null }>(sql.queues, queue, dead).catch(
        (error) => {
          throw isMissingTable(error) ? notInSchema('pgBossQueue', schema) : error;
        },
      );
      const deadLetter = found.find((one) => one.name === queue)?.dead_letter;
      if (deadLetter !== undefined && deadLetter !== dead) throw noDeadLetters(queue, dead);
      if (found.length === 2) return;
      const kept = { policy: 'standard', retentionMinutes: KEPT_DAYS * 24 * 60 };
      const retries = { retryLimit: attempts + RETRY_RESERVE, retryDelay: retryDelaySeconds, retryBackoff: true };
      const jobs = { ...kept, ...retries, deadLetter: dead, expireInSeconds };
      const letters = [dead, kept] as const; // first, because the other one refers to it
      await query(sql.createQueues([letters, [queue, jobs]]));
    },

    put(delivery) {
      retention.discardOld();
      return payloads.put(delivery, { putJob: (job) => limitedPut(() => put(job)), find });
    },

    deadLetters: ({ limit = 100, offset = 0 } = {}) => list({ limit, offset }, payloads),

    retry: async (id) => (await retry(id)) !== undefined,

    async retryAndFollow(id) {
      const retried = await retry(id);
      return retried === undefined ? undefined : followedBy(() => stateOf(retried));
    },

    discard,
    purgeDead: () => retention.purge(),
    stats: async () => statsOf((await query<StatsRow>(sql.stats, queue, dead))[0]),
  };
  const retention = deadRetention(options, { ...operated, list: (page) => list(page, withoutBodies) });
  return operated;
}

/** Returns the UUID that pg-boss requires: version 8, for custom values, from the hash of the key. */
async function jobId(key: string): Promise<string> {
  const hash = await fingerprint(key);
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ].join('-');
}

function notStarted(): WebhookError {
  return new WebhookError('invalid_option', {
    message: 'The PgBoss has not been started, or was stopped.',
    hint: 'Await boss.start() before the server listens, and stop the server before boss.stop().',
  });
}

function noDeadLetters(queue: string, dead: string): WebhookError {
  return new WebhookError('invalid_option', {
    message: `The queue '${queue}' exists in pg-boss, and its dead letters do not go to '${dead}'.`,
    hint: 'Use another queue, or delete this one with boss.deleteQueue() once it is empty: init() then creates it.',
  });
}

function archivesTooEarly(): WebhookError {
  return new WebhookError('invalid_option', {
    message: 'pg-boss archives finished jobs before the service has ended its retries, and would run them again.',
    hint: 'Set archiveCompletedAfterSeconds of PgBoss to at least 21600, or leave it out.',
  });
}

interface Letter {
  id: string;
  data: unknown;
  died_at: number;
  retry_limit: number;
  /** What a worker has stored; another form where pg-boss itself or another program has failed the job. */
  output: { message?: unknown; stack?: unknown; value?: { message?: unknown } | null } | null;
}

async function toDeadLetter(
  payloads: Payloads,
  { id, data, died_at, retry_limit, output }: Letter,
): Promise<DeadLetter> {
  const message = output?.message ?? output?.value?.message;
  const attempts = countOf(retry_limit) + 1;
  return deadLetterOf(payloads, id, { job: data, diedAt: died_at, attempts, reason: message, stack: output?.stack });
}
