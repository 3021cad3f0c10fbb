import { run } from 'graphile-worker';
import { work } from '../work.js';

const { POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;

const runner = await run({
  connectionString: POSTGRES_URL,
  taskList: { webhook: (event) => work(/** @type {import('service-webhooks').WebhookEvent} */ (event)) },
});
console.log('working');
await runner.promise;
