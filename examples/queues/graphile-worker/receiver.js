import express from 'express';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { webhookHandler } from 'service-webhooks/express';
import { postgresInbox } from 'service-webhooks/stores/postgres';
import { transaction } from '../transaction.js';

const { WEBHOOK_SECRET: secret = '', POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;
const { PORT = '3000' } = process.env;

const pool = new pg.Pool({ connectionString: POSTGRES_URL });
pool.on('error', (error) => console.error(error.message));
// A client whose connection breaks during a transaction emits 'error'; without a listener, that ends the process.
pool.on('connect', (client) => client.on('error', () => {}));
await runMigrations({ connectionString: POSTGRES_URL });
const inbox = postgresInbox({ pg: pool }, { name: 'clips' });
await inbox.init();

const app = express();
app.post(
  '/webhooks',
  webhookHandler({
    secret,
    dedupe: false, // the inbox knows an event by the transaction that queued its job
    observe: ({ kind, error }) => error && console.error(kind, error),
    on: {
      '*': async (event, { delivery }) => {
        await transaction(pool, (tx) =>
          inbox.once(tx, delivery, () => tx.query("SELECT graphile_worker.add_job('webhook', $1)", [event])),
        );
        return { status: 202 };
      },
    },
  }),
);
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
