import { checkEndpointName, checkRetention, endpointKey, RETAIN_MS } from '../../endpoint.js';
import type { AnyEvent } from '../../event.js';
import {
  check,
  checkChoice,
  checkKnownOptions,
  checkObject,
  checkPositiveInteger,
  integers,
} from '../../option-checks.js';
import type { QueuedDelivery } from '../../receiver/queued-delivery.js';
import { fingerprint } from '../../verify/hmac.js';
import type { DeadLetter, FollowedState, OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { checkClient, followedBy, limitedPut } from '../engine-queue.js';
import type { QueueJob } from '../packed-delivery.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions, type Payloads, withoutBodies } from '../payloads.js';
import { checkPostgresName } from '../postgres.js';
import { WORKER_DIED } from '../reason.js';
import { deadLetterOf, eventOf, inTurn, type StatsRow, statsOf } from '../stored-values.js';
import { failureOf } from './error-text.js';
import { graphileWorkerStatements } from './statements.js';
import { checkTables } from './worker-schema.js';

/** The part of a `Pool` of `pg` that is used. */
export interface GraphileWorkerPool {
  query(text: string, values?: never): PromiseLike<{ rows: unknown[] }>;
}

/** Options of {@link graphileWorkerQueue}. */
export interface GraphileWorkerQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /** A pool of `pg` on the database of graphile-worker, with its migrations. It is not closed. */
  pg: GraphileWorkerPool;
  /** The identifier of the task, which a worker has in its `taskList`. */
  task: string;
  /** The name of the endpoint, part of every key. Default: the identifier of the task. */
  name?: string | undefined;
  /** The number of times a handler is started before its job is a dead letter, at most 32 766. Default: 10. */
  attempts?: number | undefined;
  /** How long a key is remembered, in milliseconds, at least 6 hours. Default: 259 200 000 (72 hours). */
  retainMs?: number | undefined;
  /**
   * `'jobId'` runs the events of one job one at a time. It keeps their order until one fails: graphile-worker runs the later
   * ones while that one waits. Default: `'none'`.
   */
  order?: 'none' | 'jobId' | undefined;
  /** The schema of graphile-worker, as `run({ schema })` has it. Default: `'graphile_worker'`. */
  schema?: string | undefined;
  /** The table of keys, which `init()` creates. Default: `'webhook_queue_keys'`. */
  table?: string | undefined;
}

/** A queue in graphile-worker. */
export interface GraphileWorkerQueue extends OperatedQueue {
  /**
   * Removes up to `limit` keys whose retention is over, and resolves to the number of removed keys. Call it on a
   * schedule.
   */
  purgeExpired(options: { limit: number }): Promise<number>;
}

/** graphile-worker stores the number of starts, one more than the attempts, in 16 bits. */
const MAX_ATTEMPTS = 32_766;
/** The longest name of a queue that graphile-worker stores, in characters. */
const MAX_QUEUE_NAME = 128;
const OPTIONS = [
  ...['pg', 'task', 'name', 'attempts', 'retainMs', 'order', 'schema', 'table', 'retainDead'],
  ...PAYLOAD_OPTIONS,
];

/**
 * Returns a queue that adds deliveries as jobs of graphile-worker 0.16 or 0.17 on PostgreSQL; `graphileWorkerProcessor`
 * runs their handlers. graphile-worker deletes a job when it is done, so a table of keys recognises redeliveries: one
 * statement adds the key and the job.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * app.post('/webhooks', webhookHandler({ secret, queue: graphileWorkerQueue({ pg: pool, task: 'webhooks' }) }));
 */
export function graphileWorkerQueue(options: GraphileWorkerQueueOptions): GraphileWorkerQueue {
  checkObject('options', options);
  checkKnownOptions('graphileWorkerQueue', options, OPTIONS, { pool: 'pg' });
  const { pg, task, order = 'none', schema = 'graphile_worker', table = 'webhook_queue_keys' } = options;
  checkClient('pg must be a Pool of pg', pg, ['query']);
  check(typeof task === 'string' && task.length > 0 && task.length <= 128, 'task must be the identifier of a task');
  const { name = task } = options;
  checkEndpointName(name, 'name must be');
  checkChoice('order', order, ['none', 'jobId']);
  checkPostgresName('schema', schema);
  checkPostgresName('table', table);
  const { attempts, retainMs } = integers(options, { attempts: 10, retainMs: RETAIN_MS });
  checkRetention('retainMs', retainMs);
  check(attempts <= MAX_ATTEMPTS, `attempts must be at most ${MAX_ATTEMPTS}`);
  // The last start runs no handler: it makes the job of a worker that died in its last attempt a dead letter.
  const starts = attempts + 1;
  const sql = graphileWorkerStatements(schema, table);
  const payloads = createPayloads(options);

  async function query<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
    const { rows } = await (values.length > 0 ? pg.query(text, values as never) : pg.query(text));
    return rows as Row[];
  }

  async function queueNameOf(delivery: QueuedDelivery, event?: AnyEvent): Promise<string | null> {
    const { jobId } = event ?? eventOf(delivery);
    if (typeof jobId !== 'string') return null;
    const key = await endpointKey(name, jobId, delivery.tenant);
    return key.length <= MAX_QUEUE_NAME ? key : fingerprint(key);
  }

  async function put(job: QueueJob, queueName: string | null): Promise<'queued' | 'known'> {
    const rows = await query(sql.put, job.key, retainMs, task, JSON.stringify(job), queueName, starts);
    return rows.length > 0 ? 'queued' : 'known';
  }

  async function list({ limit, offset }: { limit: number; offset: number }, bodies: Payloads): Promise<DeadLetter[]> {
    const letters = await query<Letter>(sql.deadLetters, task, limit, offset);
    return inTurn(letters, (letter) => toDeadLetter(bodies, letter));
  }

  async function find(key: string): Promise<unknown> {
    const [found] = await query<{ payload: unknown }>(sql.ofKey, task, key);
    return found?.payload;
  }

  async function discard(id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const [letter] = await query<{ payload: unknown }>(sql.deadPayload, task, id);
    await payloads.drop(letter?.payload);
    return (await query(sql.discard, task, id)).length > 0;
  }

  async function retry(id: string): Promise<boolean> {
    return isId(id) && (await query(sql.retry, task, id, starts)).length > 0;
  }

  async function stateOf(id: string): Promise<FollowedState> {
    const [found] = await query<{ state: FollowedState }>(sql.state, task, id);
    return found?.state ?? 'done';
  }

  const operated: GraphileWorkerQueue = {
    name,
    async init() {
      await checkTables('graphileWorkerQueue', (text) => pg.query(text), schema);
      await query(sql.init);
    },

    async put(delivery, event) {
      const queueName = order === 'jobId' ? await queueNameOf(delivery, event) : null;
      retention.discardOld();
      return payloads.put(delivery, { putJob: (job) => limitedPut(() => put(job, queueName)), find });
    },
    deadLetters: ({ limit = 100, offset = 0 } = {}) => list({ limit, offset }, payloads),
    retry,

    async retryAndFollow(id) {
      return (await retry(id)) ? followedBy(() => stateOf(id)) : undefined;
    },

    discard,
    purgeDead: () => retention.purge(),
    stats: async () => statsOf((await query<StatsRow>(sql.stats, task))[0]),

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return (await query(sql.purge, limit)).length;
    },
  };
  const retention = deadRetention(options, { ...operated, list: (page) => list(page, withoutBodies) });
  return operated;
}

function isId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id);
}

interface Letter {
  id: string;
  payload: unknown;
  attempts: number;
  last_error: string | null;
  died_at: number;
}

async function toDeadLetter(
  payloads: Payloads,
  { id, payload, attempts, last_error, died_at }: Letter,
): Promise<DeadLetter> {
  const diedAt = Math.round(Number(died_at));
  return deadLetterOf(payloads, id, { job: payload, diedAt, attempts, ...failureOf(last_error ?? WORKER_DIED) });
}
