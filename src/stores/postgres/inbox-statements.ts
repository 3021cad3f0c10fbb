import { intervalLiteral } from './literals.js';
import { purgeStatement } from './purge-statement.js';

/** The statements of the inbox, for a quoted table. Keys and settings are SQL expressions. */
export function inboxStatements(table: string) {
  return {
    begin: 'SAVEPOINT webhook_inbox',

    /**
     * Limits the waits for locks and returns the limit there was. It is a statement of its own, because it must apply
     * before the next one locks the table.
     */
    limitWaits: (waitMs: number) => `SELECT before, set_config('lock_timeout', '${waitMs}ms', true) AS limited
FROM (SELECT current_setting('lock_timeout') AS before OFFSET 0) AS setting`,

    /** Returns 1 where the event is new, and restores the limit. */
    record: (key: string, retainMs: number, before: string) => `WITH recorded AS (
  INSERT INTO ${table} AS i (key, recorded_at, expires_at)
  SELECT ${key}, now, now + ${intervalLiteral(retainMs)} FROM (SELECT clock_timestamp() AS now) AS clock
  ON CONFLICT (key) DO UPDATE SET recorded_at = EXCLUDED.recorded_at, expires_at = EXCLUDED.expires_at
  WHERE i.expires_at <= clock_timestamp()
  RETURNING key
)
SELECT count(*)::text AS recorded, set_config('lock_timeout', ${before}, true) AS limited FROM recorded`,

    end: 'RELEASE SAVEPOINT webhook_inbox',
    undo: 'ROLLBACK TO SAVEPOINT webhook_inbox',
    forget: (key: string) => `DELETE FROM ${table} WHERE key = ${key}`,
    purge: (limit: number) => purgeStatement(table, limit),
  };
}
