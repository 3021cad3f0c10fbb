import { microseconds, NOW } from './literals.js';
import { expiredRows } from './purge.js';

/** The settings that limit waits for rows and for tables, in seconds, each with the variable that keeps the user's. */
const LIMITS = [
  ['innodb_lock_wait_timeout', '@webhook_inbox_rows'],
  ['lock_wait_timeout', '@webhook_inbox_tables'],
] as const;

/** The statements of the inbox, for a quoted table. Keys are SQL expressions, and a token is one of hex digits. */
export function inboxStatements(table: string) {
  return {
    // Each has its own name, because a savepoint replaces another one of its name.
    begin: (token: string) => `SAVEPOINT webhook_inbox_${token}`,
    undo: (token: string) => `ROLLBACK TO SAVEPOINT webhook_inbox_${token}`,
    end: (token: string) => `RELEASE SAVEPOINT webhook_inbox_${token}`,

    /** Limits the waits for locks. What the user has set is kept where two of these overlap on one connection. */
    limitWaits: (waitMs: number) => {
      const seconds = Math.min(Math.ceil(waitMs / 1000), 1_000_000);
      const changes = LIMITS.flatMap(([setting, kept]) => [
        `${kept} = COALESCE(${kept}, @@SESSION.${setting})`,
        `SESSION ${setting} = ${seconds}`,
      ]);
      return `SET ${changes.join(', ')}`;
    },

    restoreWaits: `SET ${LIMITS.flatMap(([setting, kept]) => [
      `SESSION ${setting} = COALESCE(CAST(${kept} AS UNSIGNED), @@SESSION.${setting})`,
      `${kept} = NULL`,
    ]).join(', ')}`,

    /** Writes the token where the event is new, or its retention is over. */
    record: (key: string, token: string, retainMs: number) => {
      const expiry = `${NOW} + ${microseconds(retainMs)}`;
      return `INSERT INTO ${table} (\`key\`, token, recorded_at, expires_at)
VALUES (${key}, '${token}', ${NOW}, ${expiry})
ON DUPLICATE KEY UPDATE
  token = IF(expires_at <= ${NOW}, '${token}', token),
  recorded_at = IF(expires_at <= ${NOW}, ${NOW}, recorded_at),
  expires_at = IF(expires_at <= ${NOW}, ${expiry}, expires_at)`;
    },

    /** Returns 1 where the event has this token. Counts of affected rows depend on the flags of a connection. */
    isRecorded: (key: string, token: string) =>
      `SELECT COUNT(*) AS recorded FROM ${table} WHERE \`key\` = ${key} AND token = '${token}'`,

    /** For a transaction that the server has ended: what follows is refused and cannot be committed in halves. */
    refuseWrites: ['ROLLBACK', 'START TRANSACTION READ ONLY'],

    forget: (key: string) => `DELETE FROM ${table} WHERE \`key\` = ${key}`,

    /** Returns the keys of expired rows that no transaction has locked. */
    expired: (limit: number) => `SELECT CAST(\`key\` AS CHAR) AS expired ${expiredRows(table, limit)}`,

    /** The condition of a row that is still expired. */
    isExpired: `AND expires_at <= ${NOW}`,
  };
}
