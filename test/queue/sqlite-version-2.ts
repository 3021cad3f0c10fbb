/** The table `webhook_queue` as version 2 created it. */
export const TABLE_OF_VERSION_2 = `
CREATE TABLE webhook_queue (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  queue TEXT NOT NULL,
  state TEXT NOT NULL,
  job TEXT NOT NULL,
  event_id TEXT,
  event_type TEXT,
  order_by TEXT,
  owner TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  queued_at INTEGER NOT NULL,
  run_at INTEGER,
  died_at INTEGER,
  reason TEXT,
  expires_at INTEGER
);
CREATE INDEX webhook_queue_run_at ON webhook_queue (queue, run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX webhook_queue_order_by ON webhook_queue (queue, order_by, id)
WHERE run_at IS NOT NULL AND order_by IS NOT NULL;
CREATE INDEX webhook_queue_died_at ON webhook_queue (queue, died_at, id) WHERE state = 'dead';
CREATE INDEX webhook_queue_expires_at ON webhook_queue (expires_at);
CREATE TABLE webhook_schema (table_name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL);
INSERT INTO webhook_schema VALUES ('webhook_queue', 2)`;

/** Statements of a process of version 2, for jobs without an order. */
export const STATEMENTS_OF_VERSION_2 = {
  /** Takes key, queue, job and time. */
  put: `
INSERT INTO webhook_queue (key, queue, state, job, event_id, event_type, order_by, queued_at, fence, run_at)
SELECT key, queue, 'waiting', job, NULL, NULL, NULL, now, now * 1000, now
FROM (SELECT ? AS key, ? AS queue, ? AS job, ? AS now) AS put WHERE true
ON CONFLICT (key) DO NOTHING RETURNING id`,
  /** Takes owner, lease, time and queue. */
  claim: `
UPDATE webhook_queue SET state = 'running', owner = claim.owner,
  attempt = min(max(CAST(attempt AS INTEGER), 0), 1000000000) + 1,
  fence = min(max(fence + 1, claim.now * 1000), 9007199254740991), run_at = claim.now + claim.lease
FROM (SELECT ? AS owner, ? AS lease, ? AS now) AS claim
WHERE id = (
  SELECT id FROM webhook_queue WHERE queue = ? AND run_at IS NOT NULL AND run_at <= claim.now
  ORDER BY run_at, id LIMIT 1)
RETURNING id, job, attempt, fence`,
  /** Takes attempts, reason, time, id and owner. */
  bury: `
UPDATE webhook_queue SET state = 'dead', owner = NULL, attempt = attempts, run_at = NULL, died_at = now, reason = why
FROM (SELECT ? AS attempts, ? AS why, ? AS now) WHERE id = ? AND owner = ?`,
  /** Takes a delay, the time, id and queue. */
  retry: `
UPDATE webhook_queue SET state = 'waiting', attempt = 0, fence = min(max(fence + 1, now * 1000), 9007199254740991),
  died_at = NULL, reason = NULL, run_at = now + delay
FROM (SELECT ? AS delay, ? AS now) WHERE id = ? AND queue = ? AND state = 'dead'`,
};
