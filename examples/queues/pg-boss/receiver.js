import express from 'express';
import pg from 'pg';
import { webhookHandler } from 'service-webhooks/express';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { v5 as uuidv5 } from 'uuid';
import { QUEUE, startBoss } from './boss.js';

const { WEBHOOK_SECRET: secret = '', POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;
const { PORT = '3000' } = process.env;

/** The namespace of these ids. Generate your own once. */
const NAMESPACE = 'f2b1ad0c-6f0e-4c35-9d0e-1f6f3a1c7b52';

const boss = await startBoss(POSTGRES_URL);
const pool = new pg.Pool({ connectionString: POSTGRES_URL });
pool.on('error', (error) => console.error(error.message));

const app = express();
app.post(
  '/webhooks',
  webhookHandler({
    secret,
    dedupe: { store: postgresStore({ pg: pool }), name: 'clips' },
    observe: ({ kind, error }) => error && console.error(kind, error),
    on: {
      '*': async (event) => {
        const id = uuidv5(event.id, NAMESPACE);
        // null where the job is there already, but also where there is no such queue.
        const queued = (await boss.send(QUEUE, event, { id })) ?? (await boss.getJobById(QUEUE, id));
        if (queued === null) throw new Error(`pg-boss has no queue ${QUEUE}`);
        return { status: 202 };
      },
    },
  }),
);
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
