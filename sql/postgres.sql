-- service-webhooks, tables of version 1 for PostgreSQL. This script may run again.

-- The table of a dedupe store: one row for each event.
CREATE TABLE IF NOT EXISTS "webhook_deliveries" (
  key text COLLATE "C" PRIMARY KEY,
  state text NOT NULL,
  owner text,
  fence bigint NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  fingerprint text NOT NULL,
  alias text,
  expires_at timestamptz NOT NULL
);
ALTER TABLE "webhook_deliveries" SET (fillfactor = 80);
CREATE INDEX IF NOT EXISTS "webhook_deliveries_expires_at" ON "webhook_deliveries" (expires_at);
COMMENT ON TABLE "webhook_deliveries" IS 'service-webhooks schema 1';

-- The table of an inbox: one row for each event whose effects are committed.
CREATE TABLE IF NOT EXISTS "webhook_inbox" (
  key text COLLATE "C" PRIMARY KEY,
  recorded_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS "webhook_inbox_expires_at" ON "webhook_inbox" (expires_at);
COMMENT ON TABLE "webhook_inbox" IS 'service-webhooks schema 1';

-- The table of jobs: one row for each job that the app has started.
CREATE TABLE IF NOT EXISTS "webhook_deliveries_jobs" (
  key text COLLATE "C" PRIMARY KEY,
  version text NOT NULL,
  record text NOT NULL,
  due_at bigint,
  expires_at timestamptz
);
CREATE INDEX IF NOT EXISTS "webhook_deliveries_jobs_due" ON "webhook_deliveries_jobs" (due_at, key) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS "webhook_deliveries_jobs_expires" ON "webhook_deliveries_jobs" (expires_at);
COMMENT ON TABLE "webhook_deliveries_jobs" IS 'service-webhooks schema 1';
