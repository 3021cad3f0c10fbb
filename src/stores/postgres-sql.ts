/** The statements of the store, for a quoted table. */
export function storeSql(table: string, waitMs: number) {
  // Evaluated before the wait for a row, and true: this one transaction waits no longer than that. It takes no round
  // trip and leaves nothing behind in the session.
  const limited = `set_config('lock_timeout', '${waitMs}ms', true) IS NOT NULL`;
  const columns = 'key, state, owner, fence, attempt, lease_until, fingerprint, alias, expires_at';

  return {
    /** Most events are new: acquired. No row: the key is known. */
    insert: `INSERT INTO ${table} (${columns})
VALUES ($1, 'in_progress', CASE WHEN ${limited} THEN $2 END, 1, 1, clock_timestamp() + $3::interval, $4, $5,
  clock_timestamp() + $6::interval)
ON CONFLICT (key) DO NOTHING`,

    /**
     * Takes a known key, or says who has it. What is held is only read: the UPDATE neither locks nor waits for it.
     * No row: it changed meanwhile.
     */
    take: `WITH taken AS (
  UPDATE ${table} AS d SET
    state = 'in_progress',
    owner = $2,
    fence = d.fence + (d.expires_at <= now OR d.owner IS DISTINCT FROM $2)::int,
    attempt = CASE WHEN d.expires_at <= now THEN 1 ELSE d.attempt + (d.owner IS DISTINCT FROM $2)::int END,
    lease_until = now + $3::interval,
    fingerprint = CASE WHEN d.expires_at <= now THEN $4 ELSE d.fingerprint END,
    alias = CASE WHEN d.expires_at <= now THEN $5 ELSE d.alias END,
    expires_at = now + $6::interval
  FROM (SELECT clock_timestamp() AS now, ${limited}) AS clock
  WHERE d.key = $1 AND (d.expires_at <= now OR d.state = 'released'
    OR d.state = 'in_progress' AND (d.owner = $2 OR d.lease_until <= now))
  RETURNING d.fence, d.attempt, d.fingerprint, d.alias
)
SELECT 'acquired' AS status, fence::text, attempt::text AS number, fingerprint, alias FROM taken
UNION ALL
SELECT state, fence::text, greatest(1, ${milliseconds('lease_until')})::text, fingerprint, alias FROM ${table}
WHERE key = $1 AND NOT EXISTS (SELECT FROM taken) AND expires_at > clock_timestamp()
  AND (state = 'completed' OR state = 'in_progress' AND owner <> $2 AND lease_until > clock_timestamp())`,

    /** Whoever extends keeps the row, too. */
    extend: `UPDATE ${table} SET
  lease_until = clock_timestamp() + $3::interval,
  expires_at = greatest(expires_at, clock_timestamp() + $3::interval)
WHERE key = $1 AND owner = $2 AND state = 'in_progress' AND expires_at > clock_timestamp() AND ${limited}`,

    complete: `UPDATE ${table} SET state = 'completed', lease_until = NULL, expires_at = clock_timestamp() + $3::interval
WHERE key = $1 AND owner = $2 AND expires_at > clock_timestamp() AND ${limited}`,

    /** For a claim whose row is gone. */
    completeAgain: `INSERT INTO ${table} AS d (${columns})
VALUES ($1, 'completed', CASE WHEN ${limited} THEN $2 END, $3::bigint, 1, NULL, $4, $5, clock_timestamp() + $6::interval)
ON CONFLICT (key) DO UPDATE SET
  state = 'completed', owner = EXCLUDED.owner, fence = greatest(d.fence, EXCLUDED.fence), attempt = 1,
  lease_until = NULL, fingerprint = EXCLUDED.fingerprint, alias = EXCLUDED.alias, expires_at = EXCLUDED.expires_at
WHERE d.owner = EXCLUDED.owner OR d.expires_at <= clock_timestamp()`,

    /** A row: it is free, by this or already. */
    release: `WITH freed AS (
  UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL
  WHERE key = $1 AND owner = $2 AND state = 'in_progress' AND ${limited}
  RETURNING key
)
SELECT 'free' WHERE EXISTS (SELECT FROM freed)
  OR NOT EXISTS (SELECT FROM ${table} WHERE key = $1 AND state <> 'released' AND expires_at > clock_timestamp())`,

    inspect: `SELECT state, fence::text, attempt::text, ${milliseconds('lease_until')}::text AS lease,
  ${milliseconds('expires_at')}::text AS retain, fingerprint, alias
FROM ${table} WHERE key = $1 AND expires_at > clock_timestamp()`,

    forget: `DELETE FROM ${table} WHERE key = $1`,

    purge: purgeSql(table),
  };
}

/** The statements of the inbox, for a quoted table. */
export function inboxSql(table: string, waitMs: number) {
  return {
    begin: 'SAVEPOINT webhook_inbox',

    // Each part waits for the rows of the one before it, so the limit holds for the INSERT and for nothing after it.
    record: `WITH limited AS (
  SELECT before, set_config('lock_timeout', '${waitMs}ms', true)
  FROM (SELECT current_setting('lock_timeout') AS before OFFSET 0) AS setting
), recorded AS (
  INSERT INTO ${table} AS i (key, recorded_at, expires_at)
  SELECT $1, clock_timestamp(), clock_timestamp() + $2::interval FROM limited
  ON CONFLICT (key) DO UPDATE SET recorded_at = EXCLUDED.recorded_at, expires_at = EXCLUDED.expires_at
  WHERE i.expires_at <= clock_timestamp()
  RETURNING key
)
SELECT count(*)::text, set_config('lock_timeout', (SELECT before FROM limited), true) FROM recorded`,

    end: 'RELEASE SAVEPOINT webhook_inbox',
    undo: 'ROLLBACK TO SAVEPOINT webhook_inbox',
    forget: `DELETE FROM ${table} WHERE key = $1`,
    purge: purgeSql(table),
  };
}

/** What is locked is being purged or claimed elsewhere. The clock is read once, so that the index can be used. */
function purgeSql(table: string): string {
  return `WITH expired AS (
  SELECT key FROM ${table} WHERE expires_at <= (SELECT clock_timestamp())
  ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM ${table} AS d USING expired WHERE d.key = expired.key`;
}

/** What `sql/postgres.sql` holds. Collated as bytes; with room in each page for a row's next version. */
export function createStoreSql(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  state text NOT NULL,
  owner text,
  fence bigint NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  fingerprint text NOT NULL,
  alias text,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);
${createExpiryIndexSql(table)}`;
}

/** What `sql/postgres-inbox.sql` holds. */
export function createInboxSql(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  recorded_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
${createExpiryIndexSql(table)}`;
}

/** The index that the purge reads. */
function createExpiryIndexSql(table: string): string {
  const name = `${table.slice(table.lastIndexOf('.') + 1).replaceAll('"', '')}_expires_at`;
  return `CREATE INDEX IF NOT EXISTS "${name}" ON ${table} (expires_at);
`;
}

function milliseconds(until: string): string {
  return `ceil(extract(epoch FROM ${until} - clock_timestamp()) * 1000)::bigint`;
}
