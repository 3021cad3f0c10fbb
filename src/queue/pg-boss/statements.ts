import { UNREADABLE_DELAY_MS } from '../backoff.js';

/** How long pg-boss keeps a job that no worker fetches, and a dead letter. */
export const KEPT_DAYS = 365;

/**
 * The number of times the handler of a job has started. pg-boss also counts retries where none has, and the queues of this
 * package use no singletons.
 */
const starts = "CASE WHEN singleton_key ~ '^[0-9]{1,6}$' THEN singleton_key::int ELSE 0 END";
/** How long after the end of a batch its worker revives the jobs that no worker has completed. */
const REVIVED_WITHIN = "interval '1 min'";
const lease = "least(greatest(expire_in, interval '1 s'), interval '1 day')";

/** The condition that a job is its owner's. */
const own = "name = $1 AND id = $2::uuid AND state = 'retry' AND output->>'owner' = $3";
/** The condition that no other worker has taken the job since its owner started it: pg-boss itself may have put it back. */
const ownRun = `name = $1 AND id = $2::uuid AND state = 'retry' AND coalesce(output->>'owner', $3) = $3 AND ${starts} = $4::int`;

/** Statements on the tables of pg-boss 10, for operations that its API does not have. */
export const pgBossStatements = (schema: string) => ({
  queues: `SELECT name, dead_letter FROM ${schema}.queue WHERE name IN ($1, $2)`,

  /**
   * Creates the queues that are not there yet, in their order. A connection that reads the list of partitions while one is
   * added may miss it from then on, so no statement uses the table of the jobs meanwhile.
   */
  createQueues: (queues: readonly (readonly [name: string, options: object])[]) => `
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '4s', true);
  LOCK TABLE ONLY ${schema}.job IN ACCESS EXCLUSIVE MODE;
${queues
  .map(
    ([name, options]) => `
  IF NOT EXISTS (SELECT FROM ${schema}.queue WHERE name = '${name}') THEN
    PERFORM ${schema}.create_queue('${name}', '${JSON.stringify(options)}');
  END IF;`,
  )
  .join('')}
END $$`,

  deadLetters: `
SELECT id, data, round(extract(epoch FROM created_on) * 1000)::float8 AS died_at, retry_limit, output
FROM ${schema}.job WHERE name = $1 AND state < 'active' ORDER BY created_on, id LIMIT $2 OFFSET $3`,

  deadLetter: `SELECT id, data FROM ${schema}.job WHERE name = $1 AND id = $2 AND state < 'active'`,

  // Takes the queue of dead letters, the id there, the id in the queue, and the queue.
  retry: `
WITH letter AS (
  DELETE FROM ${schema}.job WHERE name = $1 AND id = $2::uuid AND state < 'active'
    AND EXISTS (SELECT FROM ${schema}.queue WHERE name = $4) RETURNING data
)
INSERT INTO ${schema}.job AS j
  (id, name, data, retry_limit, retry_delay, retry_backoff, dead_letter, expire_in, keep_until, policy)
SELECT $3::uuid, q.name, letter.data, coalesce(q.retry_limit, 2), coalesce(q.retry_delay, 0),
  coalesce(q.retry_backoff, false), q.dead_letter, coalesce(q.expire_seconds, 900) * interval '1 s',
  now() + coalesce(q.retention_minutes, 20160) * interval '1 min', q.policy
FROM letter JOIN ${schema}.queue q ON q.name = $4
ON CONFLICT (name, id) DO UPDATE SET state = 'created', data = excluded.data, retry_count = 0,
  retry_limit = excluded.retry_limit, singleton_key = NULL, created_on = now(), start_after = now(), started_on = NULL,
  completed_on = NULL, keep_until = excluded.keep_until, output = NULL
RETURNING j.id`,

  /**
   * Takes the queue and the id of a job. It is not done while it has a start of pg-boss's: the end of another worker's batch has
   * completed it, and a worker is about to revive it.
   */
  state: `
SELECT CASE WHEN state < 'completed' OR (state = 'completed' AND started_on IS NOT NULL AND completed_on > now() - ${REVIVED_WITHIN})
  THEN 'pending' WHEN state = 'completed' THEN 'done' ELSE 'dead' END AS state
FROM ${schema}.job WHERE name = $1 AND id = $2::uuid`,

  discard: `DELETE FROM ${schema}.job WHERE name = $1 AND id = $2 AND state < 'active' RETURNING id`,

  stats: `
SELECT count(*) FILTER (WHERE name = $1 AND state < 'completed') AS depth,
  extract(epoch FROM now() - min(created_on) FILTER (WHERE name = $1 AND state < 'completed')) * 1000 AS oldest,
  count(*) FILTER (WHERE name = $2 AND state < 'active') AS dead
FROM ${schema}.job WHERE name IN ($1, $2)`,

  // At the end of a batch, pg-boss completes or fails its jobs that are 'active', also where another worker has them. So a
  // worker gives a job that it runs the state 'retry', a lease until `start_after`, and itself as the owner. `started_on` is
  // NULL from then on.

  /**
   * Takes the queue, the ids of a batch and the owner. Returns the jobs that this worker has now: those that pg-boss has
   * just fetched for it, also where the end of another worker's batch has completed them since.
   */
  take: `
UPDATE ${schema}.job SET state = 'retry', started_on = NULL, completed_on = NULL, start_after = now() + ${lease},
  output = jsonb_build_object('owner', $3::text)
WHERE name = $1 AND id = ANY($2::uuid[]) AND (state = 'active'
  OR (state = 'completed' AND started_on IS NOT NULL) OR (state = 'retry' AND output->>'owner' = $3))
RETURNING id::text, retry_limit, extract(epoch FROM ${lease})::float8 * 1000 AS lease_ms`,
  /** Takes the queue and the ids of a batch. Returns a row where the schema has one of them. */
  stored: `SELECT 1 FROM ${schema}.job WHERE name = $1 AND id = ANY($2::uuid[]) LIMIT 1`,
  /**
   * Takes the queue and the ids of a batch. Runs the jobs again that no worker has completed: they were active, and the end
   * of this batch has completed them.
   */
  revive: `
UPDATE ${schema}.job SET state = 'retry', started_on = NULL, completed_on = NULL, start_after = now(), output = NULL
WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'completed' AND started_on IS NOT NULL`,

  // Each of the following takes the queue, the id and the owner, and does nothing where another worker has the job. Each may
  // be repeated, since its answer may get lost.
  /** Returns the number of starts, with this one. */
  start: `
UPDATE ${schema}.job SET output = output || '{"started": true}',
  singleton_key = (${starts} + CASE WHEN output->'started' IS NULL THEN 1 ELSE 0 END)::text
WHERE ${own} RETURNING singleton_key::int AS starts`,

  isOwn: `SELECT id FROM ${schema}.job WHERE ${own}`,

  // Each of the following takes the number of starts, too, which tells one run of a job from another.
  complete: `
UPDATE ${schema}.job SET state = 'completed', completed_on = now(), output = NULL WHERE ${ownRun} RETURNING id`,
  /** Takes the output, too. */
  runAgain: `
UPDATE ${schema}.job SET output = $5::jsonb, start_after = now() + interval '1 s' * greatest(1,
  CASE WHEN retry_backoff THEN retry_delay * 2 ^ least(15, $4::int - 1) * (1 + random()) ELSE retry_delay END)
WHERE ${ownRun}`,
  /** A run of no handler is no start. */
  lookLater: `
UPDATE ${schema}.job SET singleton_key = ($4::int - 1)::text, start_after = now() + interval '${UNREADABLE_DELAY_MS} ms', output = NULL
WHERE ${ownRun}`,
  /**
   * Takes the message, the attempts and the stack, too. The end of the job, the dead letter and its reason are one step. Returns a row
   * where this worker has made the job a dead letter.
   */
  bury: `
WITH ended AS (
  UPDATE ${schema}.job SET state = 'failed', completed_on = now(),
    output = jsonb_build_object('owner', $3::text, 'message', $5::text, 'stack', $7::text)
  WHERE ${ownRun} RETURNING id, dead_letter, data
), letter AS (
  INSERT INTO ${schema}.job (name, data, output, retry_limit, keep_until)
  SELECT dead_letter, data, jsonb_build_object('message', $5::text, 'stack', $7::text), $6::int - 1, now() + interval '${KEPT_DAYS} days'
  FROM ended WHERE dead_letter IS NOT NULL
)
SELECT id FROM ended
UNION SELECT id FROM ${schema}.job WHERE name = $1 AND id = $2::uuid AND state = 'failed' AND output->>'owner' = $3`,
});
