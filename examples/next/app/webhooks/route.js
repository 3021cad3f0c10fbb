import { after } from 'next/server';
import { createReceiver } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/next';

// A function, because `next build` loads this file and may run without the secret. instrumentation-node.js checks it at start.
const secret = async () => [process.env.WEBHOOK_SECRET ?? ''];
const receiver = createReceiver({ secret });

export const POST = webhookMiddleware(receiver, (_request, { event }) => {
  console.log(`done ${event.id}`);
  after(() => console.log(`reported ${event.id}`)); // best-effort: if this fails, the service does not retry
  return Response.json({ thanks: true });
});

// For your monitor: keep it private. It is in this file, because each route of Next may have a receiver of its own.
export const dynamic = 'force-dynamic';
export const GET = async () => Response.json(await receiver.health());
