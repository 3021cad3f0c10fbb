import { PermanentError, type QueuedDelivery } from 'service-webhooks';
import type { PayloadOptions } from 'service-webhooks/queue';
import { type SqliteQueue, sqliteQueue } from 'service-webhooks/queue/sqlite';
import { vi } from 'vitest';
import { connect, type Handle } from '../../../../../test/integration/sqlite.js';
import { libraries } from '../../../../../test/integration/sqlite-libraries.js';
import { installPackage } from '../../../../../test/support/installed-package.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';

/** The library that tests and the command line open files with; undefined where this machine has none. */
const [library] = libraries;
export const hasSqlite = library !== undefined;

export interface QueueFile {
  queue: SqliteQueue;
  handle: Handle;
  /** Puts deliveries and lets their handlers fail for good, one after the other. */
  bury(reason: string, ...deliveries: QueuedDelivery[]): Promise<void>;
}

/** Opens a queue in a file of a project that has installed the library. */
export function openQueueFile(directory: string, file: string, name = 'clips', bodies: PayloadOptions = {}): QueueFile {
  if (library === undefined) throw new Error('no library');
  const [packageName, driver] = library;
  const from = packageName === 'better-sqlite3' ? 'test/integration/better-sqlite3/node_modules' : undefined;
  try {
    if (driver.client === 'betterSqlite3') installPackage(directory, packageName, from);
  } catch {
    // A second queue of the same project.
  }
  const handle = connect(driver, file);
  const client = driver.client === 'betterSqlite3' ? { betterSqlite3: handle } : { nodeSqlite: handle };
  const queue = sqliteQueue(client as Parameters<typeof sqliteQueue>[0], { name, pollMs: 20, ...bodies });

  async function bury(reason: string, ...deliveries: QueuedDelivery[]): Promise<void> {
    await queue.init();
    for (const delivery of deliveries) await queue.put(delivery);
    const on = { '*': () => Promise.reject(new PermanentError(reason)) };
    const worker = queue.work({ on, logger: false });
    await vi.waitUntil(async () => (await queue.stats()).depth === 0, PATIENTLY);
    await worker.stop();
  }

  return { queue, handle, bury };
}
