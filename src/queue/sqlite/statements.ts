import { NOW, purge } from '../../stores/sqlite/database.js';
import { BLOCKED, hasEarlier } from './schema.js';

/** Returns a column of text, and NULL where another program has stored bytes: they would fail the whole list. */
const text = (column: string) => `CASE typeof(${column}) WHEN 'text' THEN ${column} END`;

const jobsAsJson = `
json_group_array(json_object('id', id, 'state', state, 'job', coalesce(${text('job')}, ''), 'attempt', attempt,
  'queuedAt', queued_at, 'runAt', run_at, 'diedAt', died_at, 'reason', ${text('reason')},
  'stack', CASE WHEN stack_fence = fence THEN ${text('stack')} END, 'eventId', ${text('event_id')}, 'eventType', ${text('event_type')})) AS rows`;

/** More than any number of attempts. Another program may have stored a number that the handle cannot return. */
const MOST = 1_000_000_000;

/** The fence after a change of a job at `now`. */
const fenceAt = (now: string) => `min(max(fence + 1, ${now} * 1000), ${Number.MAX_SAFE_INTEGER})`;

const insert = (table: string, runAt: string) => `
INSERT INTO ${table} (key, queue, state, job, event_id, event_type, order_by, queued_at, fence, run_at)
SELECT key, queue, 'waiting', job, event_id, event_type, order_by, now, now * 1000, ${runAt}
FROM (SELECT ? AS key, ? AS queue, ? AS job, ? AS event_id, ? AS event_type, ? AS order_by, ${NOW} AS now) AS put WHERE true
ON CONFLICT (key) DO NOTHING`;

/** The statements of a queue, for its table. */
export const queueStatements = (table: string) => ({
  // Each takes key, queue, job, event id, event type, order_by and time, and changes nothing where the key exists.
  put: insert(table, 'now'),
  putInOrder: insert(
    table,
    `CASE WHEN ${hasEarlier(table, 'put.queue', 'put.order_by', String(BLOCKED))} THEN ${BLOCKED} ELSE now END`,
  ),

  // Takes queue and time. Returns the time, and how many milliseconds later the next job may run, 0 or less for now.
  due: `
SELECT now, min((SELECT min(run_at) FROM ${table} WHERE queue = ? AND run_at IS NOT NULL) - now, ${MOST}) AS due_ms
FROM (SELECT ${NOW} AS now)`,

  // Takes owner, lease, time and queue. Returns the job that its owner runs next: one that waits, or whose lease is over
  // unless an earlier one of its order was retried meanwhile.
  claim: `
UPDATE ${table} SET state = 'running', owner = claim.owner, attempt = min(max(CAST(attempt AS INTEGER), 0), ${MOST}) + 1, fence = ${fenceAt('claim.now')},
  run_at = claim.now + claim.lease
FROM (SELECT ? AS owner, ? AS lease, ${NOW} AS now) AS claim
WHERE id = (
  SELECT id FROM ${table} WHERE queue = ? AND run_at IS NOT NULL AND run_at <= claim.now
    AND (state = 'waiting' OR NOT ${hasEarlier(table, `${table}.queue`, `${table}.order_by`, `${table}.id`)})
  ORDER BY run_at, id LIMIT 1)
RETURNING id, job, attempt, fence`,

  // Each takes the id and the owner last, and changes nothing where another owner has the job.
  extend: `
UPDATE ${table} SET run_at = now + lease, fence = ${fenceAt('now')}
FROM (SELECT ? AS lease, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  complete: `
UPDATE ${table} SET state = 'done', job = '', stack = NULL, owner = NULL, run_at = NULL, expires_at = now + retain
FROM (SELECT ? AS retain, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  wait: `
UPDATE ${table} SET state = 'waiting', owner = NULL, attempt = attempt - back, fence = ${fenceAt('now')},
  run_at = CASE WHEN ${hasEarlier(table, `${table}.queue`, `${table}.order_by`, `${table}.id`)} THEN ${BLOCKED} ELSE now + delay END,
  reason = why, stack = trace, stack_fence = ${fenceAt('now')}
FROM (SELECT ? AS back, ? AS delay, ? AS why, ? AS trace, ${NOW} AS now) WHERE id = ? AND owner = ?`,
  bury: `
UPDATE ${table} SET state = 'dead', owner = NULL, attempt = attempts, run_at = NULL, died_at = now, reason = why,
  stack = trace, stack_fence = fence
FROM (SELECT ? AS attempts, ? AS why, ? AS trace, ${NOW} AS now) WHERE id = ? AND owner = ?`,

  // Takes time and the id of a job that has ended. Lets the next job of the same order run.
  unblock: `
UPDATE ${table} SET run_at = now, fence = ${fenceAt('now')} FROM (SELECT ${NOW} AS now)
WHERE run_at = ${BLOCKED} AND id = (
  SELECT min(next.id) FROM ${table} AS next JOIN ${table} AS ended ON ended.queue = next.queue AND ended.order_by = next.order_by
  WHERE ended.id = ? AND next.run_at IS NOT NULL)`,

  // Takes time and queue. Lets jobs run whose earlier ones are gone, as when another program has deleted them.
  unblockAll: `
UPDATE ${table} SET run_at = now, fence = ${fenceAt('now')} FROM (SELECT ${NOW} AS now)
WHERE run_at = ${BLOCKED} AND id IN (
  SELECT min(id) FROM ${table} WHERE queue = ? AND order_by IS NOT NULL AND run_at IS NOT NULL GROUP BY order_by)`,

  /**
   * Takes queue, lease, time and a limit. After the host's clock went back, what was written before that would wait until
   * the clock is there again: it waits no longer, and the lease of a running job begins again.
   */
  catchUp: `
UPDATE ${table} SET run_at = CASE state WHEN 'running' THEN now + lease ELSE now END
FROM (SELECT ? AS q, ? AS lease, ${NOW} AS now)
WHERE id IN (
  SELECT id FROM ${table}
  WHERE queue = q AND run_at > now AND run_at > now + CASE state WHEN 'running' THEN lease ELSE 0 END AND run_at < ${BLOCKED}
    AND max(fence, queued_at * 1000) > now * 1000 LIMIT ?)`,

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
UPDATE ${table} SET state = 'waiting', attempt = 0, fence = ${fenceAt('now')}, queued_at = now, died_at = NULL, reason = NULL, stack = NULL,
  run_at = CASE WHEN ${hasEarlier(table, `${table}.queue`, `${table}.order_by`, `${table}.id`)} THEN ${BLOCKED} ELSE now + delay END
FROM (SELECT ? AS delay, ${NOW} AS now) WHERE id = ? AND queue = ? AND state = 'dead'`,
  // Takes the id of a job that waits again. Lets the later ones of the same order wait for it.
  block: `
UPDATE ${table} SET run_at = ${BLOCKED}
FROM (SELECT id AS first, queue AS q, order_by AS o FROM ${table} WHERE id = ?)
WHERE queue = q AND order_by = o AND id > first AND state = 'waiting' AND run_at IS NOT NULL AND run_at < ${BLOCKED}`,
  // The job of a key, which is empty once it is done.
  jobOfKey: `SELECT job FROM ${table} WHERE key = ?`,
  // Each takes the id and the queue.
  state: `SELECT state FROM ${table} WHERE id = ? AND queue = ?`,
  deadJob: `SELECT job FROM ${table} WHERE id = ? AND queue = ? AND state = 'dead'`,
  discard: `DELETE FROM ${table} WHERE id = ? AND queue = ? AND state = 'dead'`,

  // Takes time and queue twice.
  stats: `
SELECT count(*) AS depth, max(now - queued_at) AS oldest,
  (SELECT count(*) FROM ${table} WHERE queue = ? AND state = 'dead') AS dead
FROM ${table}, (SELECT ${NOW} AS now) WHERE queue = ? AND run_at IS NOT NULL`,

  purge: purge(table),
});
