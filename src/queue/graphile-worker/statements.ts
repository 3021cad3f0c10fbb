import { UNREADABLE_DELAY_MS } from '../backoff.js';

/** The condition that a job is run by this worker. */
const own = 'id = $1::bigint AND locked_by = $2 AND attempts = $3::int';

/** Returns the statement that takes a job, and its queue, from its worker. */
const release = (schema: string, changes: string) => `
WITH released AS (
  UPDATE ${schema}._private_jobs SET ${changes}, last_error = $4, locked_by = NULL, locked_at = NULL
  WHERE ${own} RETURNING id, job_queue_id
), unlocked AS (
  UPDATE ${schema}._private_job_queues q SET locked_by = NULL, locked_at = NULL FROM released
  WHERE q.id = released.job_queue_id AND q.locked_by = $2
)
SELECT id FROM released`;

/** The statements of a queue, for the schema of graphile-worker and the table of keys. */
export const graphileWorkerStatements = (schema: string, table: string) => ({
  /** One transaction. Without the lock, of several processes that create the table at once all but one would fail. */
  init: `
SELECT pg_advisory_xact_lock(hashtext('service-webhooks ${table}'));
CREATE TABLE IF NOT EXISTS ${table} (key text PRIMARY KEY, expires_at timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`,

  /**
   * Takes key, retention in milliseconds, task, payload, queue name and attempts. The record of the key and the job are
   * one statement, so that both are stored or neither is. Returns no row where the key exists.
   */
  put: `
WITH recorded AS (
  INSERT INTO ${table} AS k (key, expires_at) VALUES ($1, now() + $2::float8 * interval '1 ms')
  ON CONFLICT (key) DO UPDATE SET expires_at = EXCLUDED.expires_at WHERE k.expires_at <= now()
  RETURNING key
)
SELECT (${schema}.add_job($3, $4::json, queue_name := $5, max_attempts := $6::int)).id FROM recorded`,

  // Each takes the task first. A job that has no attempts left and is not locked is a dead letter.
  deadLetters: `
SELECT j.id::text AS id, j.payload, j.attempts, j.last_error, extract(epoch FROM j.updated_at) * 1000 AS died_at
FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
WHERE t.identifier = $1 AND j.attempts >= j.max_attempts AND j.locked_at IS NULL
ORDER BY j.updated_at, j.id LIMIT $2 OFFSET $3`,

  /** Takes the id of a dead letter, too. */
  deadPayload: `
SELECT j.payload FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
WHERE t.identifier = $1 AND j.id = $2::bigint AND j.attempts >= j.max_attempts AND j.locked_at IS NULL`,

  /** Takes the key of a job, too, and returns its newest job: it may have a dead letter as well. A job that is done is gone. */
  ofKey: `
SELECT j.payload FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
WHERE t.identifier = $1 AND j.payload->>'key' = $2
ORDER BY j.id DESC LIMIT 1`,

  retry: `
UPDATE ${schema}._private_jobs j SET attempts = 0, max_attempts = $3::int, created_at = now(), run_at = now(), last_error = NULL
FROM ${schema}._private_tasks t
WHERE t.id = j.task_id AND t.identifier = $1 AND j.id = $2::bigint AND j.attempts >= j.max_attempts AND j.locked_at IS NULL
RETURNING j.id`,

  /** A job that is gone is done, and has no row. */
  state: `
SELECT CASE WHEN j.attempts >= j.max_attempts AND j.locked_at IS NULL THEN 'dead' ELSE 'pending' END AS state
FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id
WHERE t.identifier = $1 AND j.id = $2::bigint`,

  discard: `
DELETE FROM ${schema}._private_jobs j USING ${schema}._private_tasks t
WHERE t.id = j.task_id AND t.identifier = $1 AND j.id = $2::bigint AND j.attempts >= j.max_attempts AND j.locked_at IS NULL
RETURNING j.id`,

  stats: `
SELECT count(*) FILTER (WHERE pending) AS depth, count(*) FILTER (WHERE NOT pending) AS dead,
  extract(epoch FROM now() - min(created_at) FILTER (WHERE pending)) * 1000 AS oldest
FROM (
  SELECT j.created_at, j.attempts < j.max_attempts OR j.locked_at IS NOT NULL AS pending
  FROM ${schema}._private_jobs j JOIN ${schema}._private_tasks t ON t.id = j.task_id WHERE t.identifier = $1
) AS jobs`,

  purge: `
DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE expires_at <= now() LIMIT $1) RETURNING key`,

  // Each takes the id of a running job, the worker that has locked it and the number of its start, and returns no row
  // where another worker has the job. Each may be repeated, since its answer may get lost.
  isOwn: `SELECT id FROM ${schema}._private_jobs WHERE ${own}`,
  /** graphile-worker then records the failure. Another program may have stored a negative number. */
  countAttempt: `UPDATE ${schema}._private_jobs SET attempts = greatest(attempts, 1) WHERE ${own} RETURNING id`,
  /** Takes the reason, too. Without a lock, graphile-worker does not add its own backoff to `run_at`. */
  lookLater: release(
    schema,
    `attempts = greatest(attempts - 1, 0), run_at = now() + interval '${UNREADABLE_DELAY_MS} ms'`,
  ),
  /** Takes the text of the error and the attempts, too. The end of the job and its reason are one step, in which no worker can die. */
  bury: `${release(schema, 'attempts = $5::int, max_attempts = $5::int')}
UNION SELECT id FROM ${schema}._private_jobs
WHERE id = $1::bigint AND locked_by IS NULL AND attempts = $5::int AND max_attempts = $5::int AND last_error = $4`,
});
