import { Hono, type MiddlewareHandler } from 'hono';
import { webhookHandler } from 'service-webhooks/hono';
import { expect, it, onTestFinished } from 'vitest';
import { aDelivery, now, SECRET } from '../support/deliveries.js';
import { calledMounts, mounts, server } from './mounts/hono.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...calledMounts]);

/** The id of the event that arrives, or the answer. */
async function arrivesBehind(before: MiddlewareHandler, { body, headers }: ReturnType<typeof aDelivery>) {
  let arrived: string | undefined;
  const receiver = { secret: SECRET, now, on: { '*': ({ id }: { id: string }) => (arrived = id) } };
  const app = new Hono().use(before).post('/webhooks', webhookHandler(receiver));
  const { port, close } = await server(app);
  onTestFinished(close);
  const answer = await fetch(`http://127.0.0.1:${port}/webhooks`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body: body as string,
  });
  return arrived ?? (await answer.text());
}

it('takes the headers of a Request that a middleware has put in the place of the first one', async () => {
  const delivery = aDelivery();
  const renamed = Object.entries(delivery.headers).map(([name, value]) => [`gateway-${name}`, value]);
  const rename: MiddlewareHandler = (c, next) => {
    const headers = [...c.req.raw.headers].map(([name, value]): [string, string] => [
      name.replace(/^gateway-/, ''),
      value,
    ]);
    c.req.raw = new Request(c.req.raw, { headers });
    return next();
  };
  expect(await arrivesBehind(rename, { ...delivery, headers: Object.fromEntries(renamed) })).toMatch(/^evt_/);
});

it('takes the body of a Request that a middleware has put in the place of the first one', async () => {
  const flipped = () =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, to) => to.enqueue(chunk.map((byte) => byte ^ 1)),
    });
  const unwrap: MiddlewareHandler = (c, next) => {
    c.req.raw = new Request(c.req.raw, { body: c.req.raw.body?.pipeThrough(flipped()), duplex: 'half' } as RequestInit);
    return next();
  };
  const delivery = aDelivery();
  const body = String.fromCharCode(...Buffer.from(delivery.body as string).map((byte) => byte ^ 1));
  expect(await arrivesBehind(unwrap, { ...delivery, body })).toMatch(/^evt_/);
});
