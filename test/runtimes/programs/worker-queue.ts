import { env } from 'cloudflare:workers';
import { PermanentError, type WebhookEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { type CloudflareBatch, cloudflareProcessor, cloudflareQueue } from 'service-webhooks/queue/cloudflare';
import { r2Overflow } from 'service-webhooks/queue/overflow';
import { d1Store } from 'service-webhooks/stores/d1';

/** What the handler was called with, and what became a dead letter. */
const seen = { runs: [] as { id: string; attempt: number; bytes: number }[], dead: [] as unknown[] };

// With a key, as an operator would make it.
const payloads = { overflow: r2Overflow(env.BUCKET), encrypt: 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=' };

const receive = webhookHandler({
  secret: env.WEBHOOK_SECRET,
  dedupe: { store: d1Store({ d1: env.DB }), name: 'queued' },
  queue: cloudflareQueue({ queue: env.QUEUE, name: 'queued', ...payloads }),
});

const run = cloudflareProcessor({
  queue: env.QUEUE,
  dead: env.DEAD,
  ...payloads,
  attempts: 3,
  backoffMs: 1,
  maxBackoffMs: 1,
  logger: false,
  on: {
    '*': ({ id, jobId }: WebhookEvent, { attempt, delivery }) => {
      seen.runs.push({ id, attempt, bytes: delivery.body.length });
      if (jobId === 'dead') throw new PermanentError('as the test wants it');
      if (jobId === 'never' || (jobId === 'once' && attempt === 1)) throw new Error('as the test wants it');
    },
  },
});

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method === 'POST') return receive(request);
    if (new URL(request.url).pathname === '/unreadable') {
      await env.QUEUE.send({ v: 2 }, { contentType: 'json' });
    }
    const { objects } = await env.BUCKET.list();
    return Response.json({ ...seen, objects: objects.length });
  },

  async queue(batch: CloudflareBatch & { queue: string }): Promise<void> {
    if (batch.queue === 'webhooks') return run(batch);
    for (const { body } of batch.messages) seen.dead.push(body);
  },
};
