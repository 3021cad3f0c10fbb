import { statSync } from 'node:fs';
import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { PATIENTLY } from '../support/patiently.js';
import { aQueued } from './queued.js';

const { newFile, open } = sqliteFiles();
const MAX_WAL = 6_000_000;

describe.each(libraries)('the WAL file of a queue on %s', (_, driver) => {
  /** A queue whose worker runs every job, with a second handle on its file. */
  async function running() {
    const file = newFile();
    const handle = open(driver, file, 5_000);
    const reader = open(driver, file, 5_000);
    const queue = sqliteQueue(clientOf(driver, handle), { name: 'clips', pollMs: 10 });
    await queue.init?.();
    handle.exec('PRAGMA synchronous = OFF'); // this test is about the size of the file
    const work = async (deliveries: number, meanwhile = () => {}) => {
      const worker = queue.work({ on: {}, logger: false, concurrency: 50 });
      for (let put = 0; put < deliveries; put += 1) {
        await queue.put({ ...aQueued({ key: `clips:${crypto.randomUUID()}` }), body: padded });
        meanwhile();
      }
      await vi.waitUntil(async () => (await queue.stats()).depth === 0, PATIENTLY);
      await worker.stop();
    };
    const read = () => reader.prepare('SELECT count(*) FROM webhook_queue').get();
    const checkpoint = () => handle.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    const put = async (deliveries: number) => {
      for (let i = 0; i < deliveries; i += 1) {
        await queue.put({ ...aQueued({ key: `clips:${crypto.randomUUID()}` }), body: padded });
      }
    };
    return { handle, reader, work, put, read, checkpoint, walSize: () => statSync(`${file}-wal`).size };
  }

  it('it stays small next to short read transactions', async () => {
    const { reader, work, read, walSize } = await running();
    await work(100, () => {
      reader.exec('BEGIN');
      read();
      reader.exec('COMMIT');
    });
    expect(walSize()).toBeLessThan(MAX_WAL);
  });

  it('it stays small in a process that only puts deliveries', async () => {
    const { put, walSize } = await running();
    await put(200);
    expect(walSize()).toBeLessThan(MAX_WAL);
  });

  it('it grows while a read transaction is open, also with a limit, and a checkpoint empties it only after that', async () => {
    const { handle, reader, work, read, walSize, checkpoint } = await running();
    handle.exec('PRAGMA journal_size_limit = 1000000');
    reader.exec('BEGIN');
    read();
    await work(100);
    expect(walSize()).toBeGreaterThan(MAX_WAL);
    handle.exec('PRAGMA busy_timeout = 1');
    expect(checkpoint()).toMatchObject({ busy: 1 });
    expect(walSize()).toBeGreaterThan(MAX_WAL);
    reader.exec('COMMIT');
    expect(walSize()).toBeGreaterThan(MAX_WAL);
    expect(checkpoint()).toMatchObject({ busy: 0 });
    expect(walSize()).toBe(0);
  });

  it.each([
    ['keeps its size without a limit', -1, MAX_WAL, Number.MAX_VALUE],
    ['is cut to its limit', 1_000_000, 0, 1_000_000],
  ])('after the reader, the next deliveries reuse the file, which %s', async (_, limit, above, atMost) => {
    const { handle, reader, work, read, walSize } = await running();
    handle.exec(`PRAGMA journal_size_limit = ${limit}`);
    reader.exec('BEGIN');
    read();
    await work(100);
    reader.exec('COMMIT');
    await work(2);
    expect(walSize()).toBeGreaterThan(above);
    expect(walSize()).toBeLessThanOrEqual(atMost);
  });
});

/** The body of an event of some size, in base64. */
const padded = Buffer.from(
  JSON.stringify({
    ...JSON.parse(Buffer.from(aQueued().body, 'base64').toString()),
    data: { text: 'x'.repeat(40_000) },
  }),
).toString('base64');
