/** The condition that a job has not run again since a run with this count and this start. */
const own = 'name = $1 AND id = $2::uuid AND retry_count = $3::int AND started_on = $4::timestamptz';

/** Statements on the tables of pg-boss 10, for operations that its API does not have. */
export const pgBossStatements = (schema: string) => ({
  queues: `SELECT name FROM ${schema}.queue WHERE name IN ($1, $2)`,

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
WITH letter AS (DELETE FROM ${schema}.job WHERE name = $1 AND id = $2::uuid AND state < 'active' RETURNING data)
INSERT INTO ${schema}.job AS j
  (id, name, data, retry_limit, retry_delay, retry_backoff, dead_letter, expire_in, keep_until, policy)
SELECT $3::uuid, q.name, letter.data, coalesce(q.retry_limit, 2), coalesce(q.retry_delay, 0),
  coalesce(q.retry_backoff, false), q.dead_letter, coalesce(q.expire_seconds, 900) * interval '1 s',
  now() + coalesce(q.retention_minutes, 20160) * interval '1 min', q.policy
FROM letter JOIN ${schema}.queue q ON q.name = $4
ON CONFLICT (name, id) DO UPDATE SET state = 'created', data = excluded.data, retry_count = 0,
  retry_limit = excluded.retry_limit, start_after = now(), started_on = NULL, completed_on = NULL,
  keep_until = excluded.keep_until, output = NULL
RETURNING j.id`,

  discard: `DELETE FROM ${schema}.job WHERE name = $1 AND id = $2 AND state < 'active' RETURNING id`,

  stats: `
SELECT count(*) FILTER (WHERE name = $1 AND state < 'completed') AS depth,
  extract(epoch FROM now() - min(created_on) FILTER (WHERE name = $1 AND state < 'completed')) * 1000 AS oldest,
  count(*) FILTER (WHERE name = $2 AND state < 'active') AS dead
FROM ${schema}.job WHERE name IN ($1, $2)`,

  /**
   * Takes the queue and the ids of the jobs of a batch. Returns those that run, with what tells one run of a job from
   * another, and the milliseconds until pg-boss takes it from its worker.
   */
  runs: `
SELECT id::text, retry_count, retry_limit, started_on::text,
  extract(epoch FROM started_on + expire_in - clock_timestamp()) * 1000 AS left_ms
FROM ${schema}.job WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'`,

  // Each takes the queue, the id, the count and the start of a run, and returns no row where the job has run again since.
  // At the end of a batch, pg-boss itself completes or fails what it finds of its jobs: the state may have changed.
  isOwn: `SELECT id FROM ${schema}.job WHERE ${own} AND state = 'active'`,
  complete: `
UPDATE ${schema}.job SET state = 'completed', completed_on = now(), output = NULL WHERE ${own} AND state < 'cancelled' RETURNING id`,
  /** Takes the output, too. */
  runAgain: `
UPDATE ${schema}.job SET state = 'retry', completed_on = NULL, output = $5::jsonb, start_after = now() + interval '1 s' *
  greatest(1, CASE WHEN retry_backoff THEN retry_delay * 2 ^ least(15, retry_count) * (1 + random()) ELSE retry_delay END)
WHERE ${own} AND state < 'cancelled' RETURNING id`,
  /** Takes the output and the attempts, too. The end of the job, the dead letter and its reason are one step. */
  bury: `
WITH ended AS (
  UPDATE ${schema}.job SET state = 'failed', completed_on = now(), output = $5::jsonb
  WHERE ${own} AND state < 'cancelled' RETURNING id, dead_letter, data, keep_until + (keep_until - start_after) AS keep_until
), letter AS (
  INSERT INTO ${schema}.job (name, data, output, retry_limit, keep_until)
  SELECT dead_letter, data, $5::jsonb, $6::int - 1, keep_until FROM ended WHERE dead_letter IS NOT NULL
)
SELECT id FROM ended`,
  /** Without started_on, pg-boss counts no retry. */
  lookLater: `
UPDATE ${schema}.job SET state = 'retry', completed_on = NULL, start_after = now() + interval '60 s', started_on = NULL
WHERE ${own} AND state < 'cancelled' RETURNING id`,
});
