import { run } from 'graphile-worker';
import pg from 'pg';
import { work } from '../work.js';

const { POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;

// pgPool.end() after runner.stop() would drop the last statement of a job; with allowExitOnIdle, the process ends after it.
const pgPool = new pg.Pool({ connectionString: POSTGRES_URL, allowExitOnIdle: true });
pgPool.on('error', (error) => console.error(error.message));
pgPool.on('connect', (client) => client.on('error', (error) => console.error(error.message)));
// graphile-worker does not await its last statement of a job: without this line, its rejection ends the process.
process.on('unhandledRejection', (error) => console.error(error));

const runner = await run({
  pgPool,
  noHandleSignals: true,
  taskList: { webhook: (event) => work(/** @type {import('service-webhooks').WebhookEvent} */ (event)) },
});
console.log('working');
process.once('SIGTERM', () => runner.stop());
