import { NOW } from './literals.js';

/** Values of statements, as SQL expressions: texts, and microseconds for `lease` and `retention`. */
type Values<Name extends string> = Readonly<Record<Name, string>>;
type Owner = Values<'key' | 'token'>;
type Times = Values<'lease' | 'retention'>;
type Seen = Values<'fingerprint' | 'alias'>;

/** The columns of a row that is found, in their order. */
const FOUND = `state, fence, attempt, CEIL((lease_until - ${NOW}) / 1000), CEIL((expires_at - ${NOW}) / 1000),
  CAST(fingerprint AS BINARY), CAST(alias AS BINARY)`;

/**
 * Returns the end of retention. It stays unchanged where it is less than 1 % early, because an update that changes no
 * indexed column writes nothing to the indexes.
 */
const endOf = (retention: string) => `IF(expires_at BETWEEN ${NOW} + 0.99 * ${retention} AND ${NOW} + ${retention},
    expires_at, ${NOW} + ${retention})`;

/** The fence of a new owner: microseconds, and more than the last one. */
const NEXT_FENCE = `GREATEST(fence + 1, ${NOW})`;

/**
 * The statements of the store, for a quoted table. A write answers by `LAST_INSERT_ID(fence)`, which comes in its own
 * reply: it is the fence where a row was written, and 0 where none was. The number of rows that were written depends on
 * the settings of the client.
 *
 * No assignment reads a column that another one before it has written: MariaDB has a SQL mode in which it would see the
 * value from before the statement.
 */
export function storeStatements(table: string) {
  const columns = '(`key`, state, owner, fence, attempt, lease_until, fingerprint, alias, expires_at)';
  /** A row that is known stays as it is, and the answer is 0. The 0 is from the row, so it comes after that of the new one. */
  const unlessKnown = 'ON DUPLICATE KEY UPDATE fence = fence + LAST_INSERT_ID(fence - fence)';
  return {
    /** Writes a row where the key is new, which is the usual case. */
    insert: ({
      key,
      token,
      fingerprint,
      alias,
      lease,
      retention,
    }: Owner & Seen & Times) => `INSERT INTO ${table} ${columns}
VALUES (${key}, 'in_progress', ${token}, LAST_INSERT_ID(${NOW}), 1, ${NOW} + ${lease}, ${fingerprint}, ${alias}, ${NOW} + ${retention})
${unlessKnown}`,

    /** Returns the row as it is, and whether it is the token's. This neither locks nor waits for a lock. */
    find: ({ key, token }: Owner) => `SELECT ${FOUND}, owner = ${token} FROM ${table} WHERE \`key\` = ${key}`,

    /** Renews the lease of the owner, for the row with this fence. */
    renew: ({ key, token, fence, lease, retention }: Owner & Times & Values<'fence'>) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(fence),
  lease_until = ${NOW} + ${lease},
  expires_at = ${endOf(retention)}
WHERE \`key\` = ${key} AND fence = ${fence} AND owner = ${token} AND state = 'in_progress' AND expires_at > ${NOW}`,

    /**
     * Acquires the row with this fence where it is free or its lease is over. While it has this fence and has not expired,
     * its attempts and the values of its first claim are those that were found.
     */
    take: ({ key, token, fence, lease, retention }: Owner & Times & Values<'fence'>) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(${NEXT_FENCE}),
  attempt = attempt + 1,
  owner = ${token},
  expires_at = ${endOf(retention)},
  state = 'in_progress',
  lease_until = ${NOW} + ${lease}
WHERE \`key\` = ${key} AND fence = ${fence} AND expires_at > ${NOW}
  AND (state = 'released' OR state = 'in_progress' AND lease_until <= ${NOW})`,

    /** Acquires the row where it has expired, as if it were new. */
    takeExpired: ({ key, token, fingerprint, alias, lease, retention }: Owner & Seen & Times) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(${NEXT_FENCE}),
  attempt = 1,
  owner = ${token},
  state = 'in_progress',
  lease_until = ${NOW} + ${lease},
  fingerprint = ${fingerprint},
  alias = ${alias},
  expires_at = ${NOW} + ${retention}
WHERE \`key\` = ${key} AND expires_at <= ${NOW}`,

    /** Renews the lease of the owner. The row lives at least as long as the lease. */
    extend: ({ key, token, lease }: Owner & Values<'lease'>) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(fence),
  lease_until = ${NOW} + ${lease},
  expires_at = GREATEST(expires_at, ${NOW} + ${lease})
WHERE \`key\` = ${key} AND owner = ${token} AND state = 'in_progress' AND expires_at > ${NOW}`,

    /** Completes the row of the owner. */
    complete: ({ key, token, retention }: Owner & Values<'retention'>) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(fence),
  state = 'completed',
  lease_until = NULL,
  expires_at = ${endOf(retention)}
WHERE \`key\` = ${key} AND owner = ${token} AND expires_at > ${NOW}`,

    /** Writes a completed row again where it has expired. */
    completeExpired: ({ key, token, fence, fingerprint, alias, retention }: Completed) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(GREATEST(fence, ${fence})),
  state = 'completed',
  owner = ${token},
  attempt = 1,
  lease_until = NULL,
  fingerprint = ${fingerprint},
  alias = ${alias},
  expires_at = ${NOW} + ${retention}
WHERE \`key\` = ${key} AND expires_at <= ${NOW}`,

    /** Writes a completed row again where it is gone. */
    completeLost: ({ key, token, fence, fingerprint, alias, retention }: Completed) => `INSERT INTO ${table} ${columns}
VALUES (${key}, 'completed', ${token}, LAST_INSERT_ID(${fence}), 1, NULL, ${fingerprint}, ${alias}, ${NOW} + ${retention})
${unlessKnown}`,

    release: ({ key, token }: Owner) => `UPDATE ${table} SET
  fence = LAST_INSERT_ID(fence), state = 'released', owner = NULL, lease_until = NULL
WHERE \`key\` = ${key} AND owner = ${token} AND state = 'in_progress'`,

    /** The row stays as an expired one until the purge, because it holds the last fence. */
    forget: ({ key }: Values<'key'>) =>
      `UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL, expires_at = 0 WHERE \`key\` = ${key}`,

    /** A report is a row in a state of its own. */
    saveReport: ({ key, text, retention }: Values<'key' | 'text' | 'retention'>) => `INSERT INTO ${table} ${columns}
VALUES (${key}, 'report', NULL, 0, 0, NULL, ${text}, NULL, ${NOW} + ${retention})
ON DUPLICATE KEY UPDATE fingerprint = ${text}, expires_at = ${NOW} + ${retention}`,

    /** Returns the keys of the reports of an endpoint beyond a number of them: the oldest ones. */
    oldReports: ({ from, to }: Values<'from' | 'to'>, keep: number) => `SELECT \`key\` FROM ${table}
WHERE \`key\` >= ${from} AND \`key\` < ${to} ORDER BY expires_at DESC LIMIT 250 OFFSET ${keep}`,

    loadReports: (
      { from, to }: Values<'from' | 'to'>,
      limit: number,
    ) => `SELECT CAST(fingerprint AS BINARY) FROM ${table}
WHERE \`key\` >= ${from} AND \`key\` < ${to} AND expires_at > ${NOW}
ORDER BY expires_at DESC LIMIT ${limit}`,
  };
}

type Completed = Owner & Seen & Values<'fence' | 'retention'>;
