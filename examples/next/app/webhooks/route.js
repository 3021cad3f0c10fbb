import { after } from 'next/server';
import { webhookMiddleware } from 'service-webhooks/next';

// A function, since `next build` loads this file, and the secret need not be there then.
const secret = async () => [process.env.WEBHOOK_SECRET ?? ''];

export const POST = webhookMiddleware({ secret }, (_request, { event }) => {
  console.log(`done ${event.id}`);
  after(() => console.log(`told ${event.id}`)); // behind the answer: if this fails nobody sends the event again
  return Response.json({ thanks: true });
});
