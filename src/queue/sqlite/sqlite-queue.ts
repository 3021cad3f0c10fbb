import { checkEndpointName, checkRetention, endpointKey, RETAIN_MS } from '../../endpoint.js';
import { initOnce } from '../../init-once.js';
import { checkChoice, checkFunction, checkKnownOptions, checkObject, integers } from '../../option-checks.js';
import { clientName } from '../../stores/named-client.js';
import { openDatabase, type SqliteClient, type SqliteDatabase } from '../../stores/sqlite/database.js';
import type { DeadLetter, FollowedJob, FollowedState, OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { followedBy } from '../engine-queue.js';
import type { QueueJob } from '../packed-delivery.js';
import {
  createPayloads,
  PAYLOAD_OPTIONS,
  type PayloadOptions,
  type Payloads,
  withoutBodies,
  withPayloads,
} from '../payloads.js';
import { deadLetterOf, eventOf, inTurn, parsedJob, type StatsRow, statsOf } from '../stored-values.js';
import { ADDED_COLUMNS, BLOCKED, QUEUE_SCHEMA_VERSION, queueSchema } from './schema.js';
import { type SqliteWorker, type SqliteWorkerOptions, startWorker } from './sqlite-worker.js';
import { queueStatements } from './statements.js';

/** Options of {@link sqliteQueue}. */
export interface SqliteQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /** The name of the queue and part of every key. Its workers handle the deliveries of this queue only. */
  name: string;
  /** The table, which several queues may share. Default: `'webhook_queue'`. Letters, digits and `_`. */
  table?: string | undefined;
  /** `'jobId'` runs the events of one job in the order in which they arrived. Default: `'none'`. */
  order?: 'none' | 'jobId' | undefined;
  /** The number of times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /** The wait after the first failure, in milliseconds; it doubles with each further one. Default: 1 000. */
  backoffMs?: number | undefined;
  /** The longest wait, in milliseconds. Default: 3 600 000 (an hour). */
  maxBackoffMs?: number | undefined;
  /**
   * When a job whose worker stopped responding is run again, in milliseconds. Renewed while it runs. Default: 30 000.
   */
  leaseMs?: number | undefined;
  /**
   * How long the key of a finished job is remembered, in milliseconds, at least 6 hours. Default: 259 200 000 (72
   * hours).
   */
  retainMs?: number | undefined;
  /** How often a worker checks for jobs of other processes, in milliseconds. Default: 500. */
  pollMs?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default: SQLite's, which is the clock of the host. */
  now?: (() => number) | undefined;
}

/** A job, as the operator sees it. */
export interface SqliteJob extends DeadLetter {
  state: 'waiting' | 'running' | 'done' | 'dead';
  queuedAt: number;
  /** When the job may run, undefined while it waits for an earlier one; for a running one, when its lease ends. */
  runAt: number | undefined;
  eventId: string | undefined;
  eventType: string | undefined;
}

/** Which jobs to list. */
export interface SqliteJobFilter {
  state?: SqliteJob['state'] | undefined;
  eventType?: string | undefined;
  eventId?: string | undefined;
  /** The earliest time in milliseconds since the epoch: of queueing, or for a dead letter of its last failure. */
  since?: number | undefined;
  /** The largest number of jobs. Default: 100. */
  limit?: number | undefined;
  /** How many of the oldest to leave out. Default: 0. */
  offset?: number | undefined;
}

/** A queue in a SQLite database. */
export interface SqliteQueue extends OperatedQueue {
  /**
   * Creates the table, and sets the handle to WAL and to `synchronous = FULL`, so that a put survives a power failure.
   */
  init(): Promise<void>;
  /** Starts a worker in this process. Other processes of the host may have workers on the same file. */
  work(options: SqliteWorkerOptions): SqliteWorker;
  /** Returns jobs in any state, the oldest first, for the operator. */
  jobs(filter?: SqliteJobFilter): Promise<SqliteJob[]>;
  /** Puts a dead letter back, to run after `delayMs`. Resolves to false where there is none with this id. */
  retry(id: string, options?: { delayMs?: number | undefined }): Promise<boolean>;
  /** Retries as `retry` does, and resolves to what tells how the job ends; undefined where there is none with this id. */
  retryAndFollow(id: string, options?: { delayMs?: number | undefined }): Promise<FollowedJob | undefined>;
  /** Removes up to `limit` keys whose retention is over, in small batches. A worker does this every minute. */
  purgeExpired(options: { limit: number }): Promise<number>;
}

const FORMS = {
  betterSqlite3: { methods: ['prepare', 'exec'], example: 'db' },
  nodeSqlite: { methods: ['prepare', 'exec'], example: 'db' },
};
const OPTIONS = [
  'name',
  'table',
  'order',
  'attempts',
  'backoffMs',
  'maxBackoffMs',
  'leaseMs',
  'retainMs',
  'pollMs',
  'now',
  'retainDead',
  ...PAYLOAD_OPTIONS,
];

/**
 * Returns a queue in a SQLite database, version 3.35 or later, for all processes of one host. It uses an open handle
 * and never closes it. Give it a handle of its own: a put inside an open transaction of yours is stored only once you commit
 * it, and `init()` changes settings of the handle.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const queue = sqliteQueue({ nodeSqlite: new DatabaseSync('webhooks.db') }, { name: 'clips' });
 * app.post('/webhooks', webhookHandler({ secret, queue }));
 * const worker = queue.work({ on: { 'generation.completed': ({ data }) => download(data.downloadUrl) }, concurrency: 4 });
 * process.once('SIGTERM', () => worker.stop());
 */
export function sqliteQueue(client: SqliteClient, options: SqliteQueueOptions): SqliteQueue {
  checkObject('options', options);
  checkKnownOptions('sqliteQueue', options, OPTIONS);
  const { name, table = 'webhook_queue', order = 'none', now } = options;
  checkEndpointName(name, 'name must be');
  checkChoice('order', order, ['none', 'jobId']);
  checkFunction('now', now);
  const settings = integers(options, {
    attempts: 10,
    backoffMs: 1_000,
    maxBackoffMs: 3_600_000,
    leaseMs: 30_000,
    retainMs: RETAIN_MS,
    pollMs: 500,
  });
  checkRetention('retainMs', settings.retainMs);
  clientName('sqliteQueue', client, FORMS);
  const handle = (client.betterSqlite3 ?? client.nodeSqlite) as SqliteDatabase;
  const payloads = createPayloads(options);
  const db = openDatabase(handle, table);
  const sql = queueStatements(table);
  const time = () => (now ? Math.trunc(now()) : null);
  const listeners = new Set<() => void>();
  const initialise = initOnce(async () => {
    await db.init(queueSchema(table), QUEUE_SCHEMA_VERSION, ADDED_COLUMNS);
    handle.exec('PRAGMA synchronous = FULL');
  });
  const init = () => initialise();

  function wakeWorkers(): void {
    for (const listener of listeners) listener();
  }

  async function list(
    bodies: Payloads,
    statement: string,
    ...values: (string | number | null)[]
  ): Promise<SqliteJob[]> {
    await init();
    const { rows } = db.get<{ rows: string }>(statement, ...values) as { rows: string };
    return inTurn(JSON.parse(rows) as ListedRow[], (row) => toJob(bodies, row));
  }

  const retry: SqliteQueue['retry'] = async (id, { delayMs = 0 } = {}) => {
    await init();
    const isRetried = await db.write(() => {
      const changed = db.run(sql.retry, delayMs, time(), id, name);
      if (changed > 0) db.run(sql.block, id);
      return changed > 0;
    });
    if (isRetried) wakeWorkers();
    return isRetried;
  };

  async function stateOf(id: string): Promise<FollowedState> {
    const { state = 'dead' } = db.get<{ state?: unknown }>(sql.state, id, name) ?? {};
    return state === 'done' || state === 'dead' ? state : 'pending';
  }

  async function find(key: string): Promise<unknown> {
    const { job } = db.get<{ job?: unknown }>(sql.jobOfKey, key) ?? {};
    return typeof job === 'string' ? parsedJob(job) : undefined;
  }

  const queue: SqliteQueue = {
    name,
    init,

    async put(delivery, event) {
      const { jobId, id, type } = event ?? eventOf(delivery);
      const isOrdered = order === 'jobId' && typeof jobId === 'string';
      const orderBy = isOrdered ? await endpointKey(name, jobId, delivery.tenant) : null;
      const putJob = async (job: QueueJob) => {
        const values = [job.key, name, JSON.stringify(job), id ?? null, type ?? null, orderBy, time()] as const;
        const changed = await db.change(orderBy === null ? sql.put : sql.putInOrder, ...values);
        if (changed === 0) return 'known';
        wakeWorkers();
        return 'queued';
      };
      retention.discardOld();
      return payloads.put(delivery, { putJob, find });
    },

    work: (workerOptions) =>
      startWorker(withPayloads(workerOptions, options), {
        db,
        sql,
        name,
        settings,
        time,
        init,
        listeners,
        discardOld: retention.discardOld,
      }),

    jobs: ({ state, eventType, eventId, since, limit = 100, offset = 0 } = {}) =>
      list(payloads, sql.list, name, state ?? null, eventType ?? null, eventId ?? null, since ?? null, limit, offset),

    deadLetters: ({ limit = 100, offset = 0 } = {}) => list(payloads, sql.deadLetters, name, limit, offset),

    retry,

    async retryAndFollow(id, retryOptions) {
      return (await retry(id, retryOptions)) ? followedBy(() => stateOf(id)) : undefined;
    },

    async discard(id) {
      await init();
      const { job } = db.get<{ job?: unknown }>(sql.deadJob, id, name) ?? {};
      if (typeof job === 'string') await payloads.drop(parsedJob(job));
      return (await db.change(sql.discard, id, name)) > 0;
    },

    purgeDead: () => retention.purge(),

    async stats() {
      await init();
      return statsOf(db.get<StatsRow>(sql.stats, name, time(), name));
    },

    async purgeExpired({ limit }) {
      return db.purgeInBatches(sql.purge, time, limit);
    },
  };
  const oldest = ({ limit, offset }: { limit: number; offset: number }) =>
    list(withoutBodies, sql.deadLetters, name, limit, offset);
  const retention = deadRetention(options, { ...queue, list: oldest }, now);
  return queue;
}

interface ListedRow {
  id: number;
  state: SqliteJob['state'];
  job: string;
  attempt: number;
  queuedAt: number;
  runAt: number | null;
  diedAt: number | null;
  reason: string | null;
  stack: string | null;
  eventId: string | null;
  eventType: string | null;
}

async function toJob(payloads: Payloads, row: ListedRow): Promise<SqliteJob> {
  const { id, job, attempt, runAt, diedAt, reason, stack, eventId, eventType, state, queuedAt } = row;
  return {
    ...(await deadLetterOf(payloads, String(id), { job: parsedJob(job), diedAt, attempts: attempt, reason, stack })),
    state,
    queuedAt,
    runAt: runAt === null || runAt === BLOCKED ? undefined : runAt,
    eventId: eventId ?? undefined,
    eventType: eventType ?? undefined,
  };
}
