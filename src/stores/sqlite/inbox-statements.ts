import { NOW, purge } from './database.js';

/** The statements of an inbox, for its table. */
export const inboxStatements = (table: string) => ({
  // Takes key, retention, time and retention. Returns a row where the event is new or was recorded longer ago than its
  // retention.
  record: `
INSERT INTO ${table} AS d (key, expires_at)
SELECT key, now + retain FROM (SELECT ? AS key, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE d.expires_at <= excluded.expires_at - ?
RETURNING key`,

  forget: `DELETE FROM ${table} WHERE key = ?`,

  purge: purge(table),
});
