import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { PATIENTLY } from '../support/patiently.js';
import { aQueued } from './queued.js';

const { newFile, open } = sqliteFiles();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(libraries)('a worker of sqliteQueue on %s', (_, driver) => {
  it('lets a job run within a minute whose earlier one another program has deleted', async () => {
    const handle = open(driver, newFile());
    const queue = sqliteQueue(clientOf(driver, handle), { name: 'test', order: 'jobId', pollMs: 5 });
    await queue.init();
    for (const eventId of ['evt_1', 'evt_2', 'evt_3']) await queue.put(aQueued({ eventId, jobId: 'clip_1' }));
    handle.exec("DELETE FROM webhook_queue WHERE event_id = 'evt_1'");
    const seen: string[] = [];
    const worker = queue.work({ logger: false, on: { '*': ({ id }) => void seen.push(id) } });
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(() => expect(seen).toEqual(['evt_2', 'evt_3']), PATIENTLY);
    await worker.stop();
  });
});
