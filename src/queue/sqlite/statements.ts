import { NOW, purge } from '../../stores/sqlite/database.js';

const jobsAsJson = `
json_group_array(json_object('id', id, 'state', state, 'job', job, 'attempt', attempt, 'queuedAt', queued_at,
  'runAt', run_at, 'diedAt', died_at, 'reason', reason, 'eventId', event_id, 'eventType', event_type)) AS rows`;

/** The statements of a queue, for its table. */
export const queueStatements = (table: string) => ({
  // Takes key, queue, job, event id, event type, order_by and time. Returns no row where the key exists.
  put: `
INSERT INTO ${table} (key, queue, state, job, event_id, event_type, order_by, queued_at, run_at)
SELECT key, queue, 'waiting', job, event_id, event_type, order_by, now, now
FROM (SELECT ? AS key, ? AS queue, ? AS job, ? AS event_id, ? AS event_type, ? AS order_by, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO NOTHING RETURNING id`,

  // Takes time and queue. Returns how many milliseconds it is until the next job may run, 0 or less for now.
  due: `
SELECT min(run_at) - now AS due_ms FROM ${table}, (SELECT ${NOW} AS now) WHERE queue = ? AND run_at IS NOT NULL`,

  /**
   * Takes owner, lease, time and queue. Returns the job that its owner runs next: one that waits, or whose lease is
   * over. In order, a job runs only when none before it with the same `order_by` waits or runs.
   */
  claim: (inOrder: boolean) => `
UPDATE ${table} SET state = 'running', owner = claim.owner, attempt = attempt + 1,
  fence = max(fence + 1, claim.now * 1000), run_at = claim.now + claim.lease
FROM (SELECT ? AS owner, ? AS lease, ${NOW} AS now) AS claim
WHERE id = (
  SELECT id FROM ${table} AS j WHERE queue = ? AND run_at IS NOT NULL AND run_at <= claim.now ${
    inOrder
      ? `AND (order_by IS NULL OR NOT EXISTS (
    SELECT 1 FROM ${table} AS earlier
    WHERE earlier.queue = j.queue AND earlier.order_by = j.order_by AND earlier.run_at IS NOT NULL AND earlier.id < j.id))`
      : ''
  }
  ORDER BY run_at, id LIMIT 1)
RETURNING id, job, attempt, fence`,

  // Each takes the id and the owner last, and changes nothing where another owner has the job.
  extend: `
UPDATE ${table} SET run_at = now + lease FROM (SELECT ? AS lease, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  complete: `
UPDATE ${table} SET state = 'done', job = '', owner = NULL, run_at = NULL, expires_at = now + retain
FROM (SELECT ? AS retain, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  wait: `
UPDATE ${table} SET state = 'waiting', owner = NULL, attempt = attempt - back, run_at = now + delay, reason = why
FROM (SELECT ? AS back, ? AS delay, ? AS why, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  bury: `
UPDATE ${table} SET state = 'dead', owner = NULL, attempt = attempt - back, run_at = NULL, died_at = now,
  reason = coalesce(why, reason)
FROM (SELECT ? AS back, ? AS why, ${NOW} AS now) WHERE id = ? AND owner = ?`,

  // Takes queue, state, event type, event id, since, a limit and an offset; the four in the middle may be NULL. One row.
  list: `
SELECT ${jobsAsJson} FROM (
  SELECT * FROM ${table}, (SELECT ? AS q, ? AS s, ? AS t, ? AS e, ? AS since)
  WHERE queue = q AND state = coalesce(s, state) AND event_type IS coalesce(t, event_type)
    AND event_id IS coalesce(e, event_id) AND coalesce(died_at, queued_at) >= coalesce(since, 0)
  ORDER BY coalesce(died_at, queued_at), id LIMIT ? OFFSET ?)`,

  // Takes queue, a limit and an offset. One row. The index alone finds the ids, so that a far page costs little.
  deadLetters: `
SELECT ${jobsAsJson} FROM (
  SELECT * FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE queue = ? AND state = 'dead' ORDER BY died_at, id LIMIT ? OFFSET ?)
  ORDER BY died_at, id)`,

  // Takes a delay and the time, then the id and the queue.
  retry: `
UPDATE ${table} SET state = 'waiting', attempt = 0, run_at = now + delay, died_at = NULL, reason = NULL
FROM (SELECT ? AS delay, ${NOW} AS now) WHERE id = ? AND queue = ? AND state = 'dead'`,
  discard: `DELETE FROM ${table} WHERE id = ? AND queue = ? AND state = 'dead'`,

  // Takes time and queue twice.
  stats: `
SELECT count(*) AS depth, max(now - queued_at) AS oldest,
  (SELECT count(*) FROM ${table} WHERE queue = ? AND state = 'dead') AS dead
FROM ${table}, (SELECT ${NOW} AS now) WHERE queue = ? AND run_at IS NOT NULL`,

  purge: purge(table),
});
