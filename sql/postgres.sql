-- What postgresStore keeps: one row for each event. init() runs the same where the table is missing.
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
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS "webhook_deliveries_expires_at" ON "webhook_deliveries" (expires_at);
