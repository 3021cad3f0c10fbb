-- service-webhooks, tables of version 1 for MySQL and MariaDB. This script may run again.

-- The table of a dedupe store: one row for each event.
CREATE TABLE IF NOT EXISTS `webhook_deliveries` (
  `key` varbinary(255) NOT NULL PRIMARY KEY,
  state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner varbinary(255),
  fence bigint NOT NULL,
  attempt int NOT NULL,
  lease_until bigint,
  fingerprint text NOT NULL,
  alias text,
  expires_at bigint NOT NULL,
  KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
ALTER TABLE `webhook_deliveries` COMMENT = 'service-webhooks schema 1';

-- The table of an inbox: one row for each event whose effects are committed.
CREATE TABLE IF NOT EXISTS `webhook_inbox` (
  `key` varbinary(255) NOT NULL PRIMARY KEY,
  token varbinary(32) NOT NULL,
  recorded_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
ALTER TABLE `webhook_inbox` COMMENT = 'service-webhooks schema 1';

-- The table of jobs: one row for each job that the app has started.
CREATE TABLE IF NOT EXISTS `webhook_deliveries_jobs` (
  `key` varbinary(255) NOT NULL PRIMARY KEY,
  version varbinary(255) NOT NULL,
  record longtext NOT NULL,
  due_at bigint,
  expires_at bigint,
  KEY due (due_at, `key`),
  KEY expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
ALTER TABLE `webhook_deliveries_jobs` COMMENT = 'service-webhooks schema 1';
