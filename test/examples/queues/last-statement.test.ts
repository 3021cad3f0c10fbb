import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { startPrivatePostgres } from '../../support/postgres.js';
import { holdLastStatement, LAST_OF_GRAPHILE_WORKER, LAST_OF_PG_BOSS } from '../queue-docs/last-statement.js';
import { compileSources } from '../sources.js';
import { startReceiver, startWorker } from './app.js';
import { aDelivery } from './event.js';

const server = await startPrivatePostgres();
afterAll(() => server?.stop());

describe.each([
  ['pg-boss', LAST_OF_PG_BOSS],
  ['graphile-worker', LAST_OF_GRAPHILE_WORKER],
] as const)('the programs in examples/queues/%s', (recipe, last) => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without PostgreSQL', () => {});
  let sources: ReturnType<typeof compileSources>;
  beforeAll(() => {
    sources = compileSources();
  });
  afterAll(() => sources.remove());

  it('receiver and worker keep running after PostgreSQL is killed in the last statement of a job', async () => {
    const env = { SOURCES: sources.folder, POSTGRES_URL: server.url };
    const receiver = await startReceiver(recipe, env);
    onTestFinished(() => receiver.end());
    const worker = await startWorker(recipe, env);
    onTestFinished(() => worker.end());
    const isDone = async (id: string) => {
      await vi.waitFor(async () => expect(await receiver.deliver(...aDelivery(id))).toBe(202), PATIENTLY);
      await vi.waitFor(() => expect(worker.runs(id)).toBe(1), PATIENTLY);
    };
    await isDone('evt_first');
    const statement = await holdLastStatement(server.url, last);
    await isDone('evt_end');
    await statement.isSent();
    await server.crash();
    await statement.release();
    await isDone('evt_after_end');
  });
});
