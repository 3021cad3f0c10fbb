import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import express from 'express';
import pg from 'pg';
import { webhookHandler } from 'service-webhooks/express';
import { postgresStore } from 'service-webhooks/stores/postgres';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;
const { POSTGRES_URL, QUEUE_URL } = process.env;

// Region and credentials come from the environment.
const sqs = new SQSClient();
const pool = new pg.Pool({ connectionString: POSTGRES_URL });
// Without a listener, a lost connection ends the process.
pool.on('error', (error) => console.error(error.message));

/** @type {import('service-webhooks').DeliveryQueue} */
const queue = {
  name: 'clips',
  async put(delivery) {
    const body = JSON.stringify(delivery);
    const message = { QueueUrl: QUEUE_URL, MessageBody: body };
    // Ends the retries of the client before the limit of the receiver, 5 s.
    const abortSignal = AbortSignal.timeout(4_000);
    await sqs.send(new SendMessageCommand(message), { abortSignal });
    return 'queued';
  },
};

const webhooks = webhookHandler({
  secret,
  queue,
  // SQS recognises no redelivery.
  dedupe: { store: postgresStore({ pg: pool }), name: 'clips' },
  // The largest message of SQS has 1 MiB, and base64 adds a third.
  maxBodyBytes: 750_000,
});
const app = express().post('/webhooks', webhooks);
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
