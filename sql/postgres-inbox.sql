-- What postgresInbox keeps: one row for each event whose effects are committed. init() runs the same where the table
-- is missing.
CREATE TABLE IF NOT EXISTS "webhook_inbox" (
  key text COLLATE "C" PRIMARY KEY,
  recorded_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS "webhook_inbox_expires_at" ON "webhook_inbox" (expires_at);
