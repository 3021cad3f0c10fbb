/** Statements on the tables of pg-boss 10, for operations that its API does not have. */
export const pgBossStatements = (schema: string) => ({
  queues: `SELECT name FROM ${schema}.queue WHERE name IN ($1, $2)`,

  /**
   * Creates a queue that is not there yet. A connection that reads the list of partitions while one is added may miss
   * it from then on, so no statement uses the table of the jobs meanwhile.
   */
  createQueue: (name: string, options: object) => `
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '4s', true);
  LOCK TABLE ONLY ${schema}.job IN ACCESS EXCLUSIVE MODE;
  PERFORM ${schema}.create_queue('${name}', '${JSON.stringify(options)}');
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

  // Each takes the queue and the id of a running job.
  retryCount: `SELECT retry_count FROM ${schema}.job WHERE name = $1 AND id = $2 AND state = 'active'`,
  /** Makes the failure that follows the last one. */
  giveUp: `UPDATE ${schema}.job SET retry_limit = retry_count WHERE name = $1 AND id = $2 AND state = 'active'`,
  /** Without started_on, pg-boss counts no retry. */
  wait: `
UPDATE ${schema}.job SET state = 'retry', start_after = now() + interval '60 s', started_on = NULL
WHERE name = $1 AND id = $2 AND state = 'active'`,
});
