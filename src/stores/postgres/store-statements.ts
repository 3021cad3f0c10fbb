import { purgeStatement } from './purge-statement.js';

/** Values of statements, as SQL expressions: texts, and intervals for `lease` and `retention`. */
type Values<Name extends string> = Readonly<Record<Name, string>>;
type Owner = Values<'key' | 'token'>;
type Claim = Owner & Values<'fingerprint' | 'alias' | 'lease' | 'retention'>;

/** Returns the smallest fence of a new owner at an instant: microseconds. */
const fenceAt = (instant: string) => `(extract(epoch FROM ${instant}) * 1000000)::bigint`;

/** Returns the time until an instant. */
const millisecondsUntil = (instant: string) =>
  `ceil(extract(epoch FROM ${instant} - clock_timestamp()) * 1000)::bigint`;

/**
 * Returns the end of retention. It stays unchanged where it is less than 1 % early, because an update that changes no
 * indexed column is a heap-only one: it writes nothing to the indexes.
 */
const endOf = (retention: string) => `CASE WHEN expires_at BETWEEN now + 0.99 * ${retention} AND now + ${retention}
    THEN expires_at ELSE now + ${retention} END`;

/** The statements of the store, for a quoted table. Every column they return is a text. */
export function storeStatements(table: string) {
  const clock = '(SELECT clock_timestamp() AS now) AS clock';
  const columns = '(key, state, owner, fence, attempt, lease_until, fingerprint, alias, expires_at)';
  return {
    /** Returns a row where the key is new, which is the usual case. */
    insert: ({ key, token, fingerprint, alias, lease, retention }: Claim) => `INSERT INTO ${table} ${columns}
SELECT ${key}, 'in_progress', ${token}, ${fenceAt('now')}, 1, now + ${lease}, ${fingerprint}, ${alias}, now + ${retention}
FROM ${clock}
ON CONFLICT (key) DO NOTHING
RETURNING fence::text`,

    /**
     * Acquires a known key, or returns its owner. A claimed row is only read: this neither locks nor waits for it.
     * Returns no row where the row has changed meanwhile.
     */
    take: ({ key, token, fingerprint, alias, lease, retention }: Claim) => `WITH taken AS (
  UPDATE ${table} AS d SET
    state = 'in_progress',
    owner = ${token},
    fence = CASE WHEN d.expires_at > now AND d.owner = ${token} THEN d.fence
      ELSE greatest(d.fence + 1, ${fenceAt('now')}) END,
    attempt = CASE WHEN d.expires_at <= now THEN 1 ELSE d.attempt + (d.owner IS DISTINCT FROM ${token})::int END,
    lease_until = now + ${lease},
    fingerprint = CASE WHEN d.expires_at <= now THEN ${fingerprint} ELSE d.fingerprint END,
    alias = CASE WHEN d.expires_at <= now THEN ${alias} ELSE d.alias END,
    expires_at = ${endOf(retention)}
  FROM ${clock}
  WHERE d.key = ${key} AND (d.expires_at <= now OR d.state = 'released'
    OR d.state = 'in_progress' AND (d.owner = ${token} OR d.lease_until <= now))
  RETURNING d.fence, d.attempt, d.fingerprint, d.alias
)
SELECT 'acquired' AS status, fence::text, attempt::text AS number, fingerprint, alias FROM taken
UNION ALL
SELECT state, fence::text, greatest(1, ${millisecondsUntil('lease_until')})::text, fingerprint, alias FROM ${table}
WHERE key = ${key} AND NOT EXISTS (SELECT FROM taken) AND expires_at > clock_timestamp()
  AND (state = 'completed' OR state = 'in_progress' AND owner <> ${token} AND lease_until > clock_timestamp())`,

    /** Returns a row where the token owns the key. The row lives at least as long as the lease. */
    extend: ({ key, token, lease }: Owner & Values<'lease'>) => `UPDATE ${table} SET
  lease_until = now + ${lease},
  expires_at = greatest(expires_at, now + ${lease})
FROM ${clock}
WHERE key = ${key} AND owner = ${token} AND state = 'in_progress' AND expires_at > now
RETURNING 'ok' AS answer`,

    /** Returns a row where the token owns the key. */
    complete: ({ key, token, retention }: Owner & Values<'retention'>) => `UPDATE ${table} SET
  state = 'completed',
  lease_until = NULL,
  expires_at = ${endOf(retention)}
FROM ${clock}
WHERE key = ${key} AND owner = ${token} AND expires_at > now
RETURNING 'ok' AS answer`,

    /** Returns a row where the row of the key was lost or has expired: it is created again as completed. */
    completeLost: ({
      key,
      token,
      fence,
      fingerprint,
      alias,
      retention,
    }: Owner & Values<'fence' | 'fingerprint' | 'alias' | 'retention'>) => `INSERT INTO ${table} AS d ${columns}
SELECT ${key}, 'completed', ${token}, ${fence}::bigint, 1, NULL, ${fingerprint}, ${alias}, now + ${retention} FROM ${clock}
ON CONFLICT (key) DO UPDATE SET
  state = 'completed', owner = EXCLUDED.owner, fence = greatest(d.fence, EXCLUDED.fence), attempt = 1,
  lease_until = NULL, fingerprint = EXCLUDED.fingerprint, alias = EXCLUDED.alias, expires_at = EXCLUDED.expires_at
WHERE d.owner = EXCLUDED.owner OR d.expires_at <= clock_timestamp()
RETURNING 'ok' AS answer`,

    /**
     * Returns a row where the key is free, by this or already. The statement may wait for a lock, and still reads the row
     * as it was before: so its expiry is compared with the time from before the wait.
     */
    release: ({ key, token }: Owner) => `WITH freed AS (
  UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL
  WHERE key = ${key} AND owner = ${token} AND state = 'in_progress'
  RETURNING key
)
SELECT 'ok' AS answer WHERE EXISTS (SELECT FROM freed)
  OR NOT EXISTS (SELECT FROM ${table} WHERE key = ${key} AND state <> 'released' AND expires_at > statement_timestamp())`,

    inspect: ({ key }: Values<'key'>) => `SELECT state, fence::text, attempt::text,
  ${millisecondsUntil('lease_until')}::text AS lease, ${millisecondsUntil('expires_at')}::text AS retain,
  fingerprint, alias
FROM ${table} WHERE key = ${key} AND expires_at > clock_timestamp()`,

    /** The row stays as an expired one until the purge, because it holds the last fence. */
    forget: ({ key }: Values<'key'>) =>
      `UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL, expires_at = 'epoch' WHERE key = ${key}`,

    /** A row whose fence the clock has not passed stays, so that the next fence is higher. */
    purge: (limit: number) => purgeStatement(table, limit, `AND fence < ${fenceAt('clock_timestamp()')}`),

    /** A report is a row in a state of its own. */
    saveReport: ({ key, text, retention }: Values<'key' | 'text' | 'retention'>) => `INSERT INTO ${table} ${columns}
SELECT ${key}, 'report', NULL, 0, 0, NULL, ${text}, NULL, now + ${retention} FROM ${clock}
ON CONFLICT (key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, expires_at = EXCLUDED.expires_at`,

    /** Removes the oldest reports of an endpoint beyond a number of them. Rows that are being saved are left. */
    trimReports: ({ from, to }: Values<'from' | 'to'>, keep: number) => `DELETE FROM ${table} WHERE key IN (
  SELECT key FROM ${table} WHERE key IN (
    SELECT key FROM ${table} WHERE key >= ${from} AND key < ${to} ORDER BY expires_at DESC OFFSET ${keep}
  ) FOR UPDATE SKIP LOCKED
)`,

    loadReports: ({ from, to }: Values<'from' | 'to'>, limit: number) => `SELECT fingerprint FROM ${table}
WHERE key >= ${from} AND key < ${to} AND expires_at > clock_timestamp()
ORDER BY expires_at DESC LIMIT ${limit}`,
  };
}
