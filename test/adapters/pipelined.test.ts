import { once } from 'node:events';
import { connect } from 'node:net';
import { createReceiver, type WebhookEvent } from 'service-webhooks';
import { signDelivery } from 'service-webhooks/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anEvent, later, SECRET } from '../support/deliveries.js';
import { LISTENING } from './mounts/every-adapter.js';

const COUNT = 12; // Node warns of more than ten listeners

/** Returns the bytes of one request. */
function request(id: string, isLast: boolean): string {
  const { headers, body } = signDelivery({ event: anEvent({ id }) as unknown as WebhookEvent, secret: SECRET });
  const framing = { host: 'x', 'content-length': body.length, connection: isLast ? 'close' : 'keep-alive' };
  const lines = Object.entries({ ...headers, ...framing }).map(([name, value]) => `${name}: ${value}`);
  return ['POST /webhooks HTTP/1.1', ...lines, '', Buffer.from(body).toString()].join('\r\n');
}

const mounts = Object.values(LISTENING)
  .flat()
  .filter(({ form }) => form === 'middleware');

describe.each(mounts)('pipelined requests to $name', ({ serve }) => {
  it('many deliveries on one connection are handled at once, without a warning of Node', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const all = later();
    let routed = 0;
    const { port, close } = await serve({
      receiver: createReceiver({ secret: SECRET, logger: false }),
      before: 'nothing',
      body: () => new Uint8Array(),
      otherAnswer: new Promise(() => {}),
      async route() {
        routed += 1;
        if (routed === COUNT) all.resolve();
        await all.promise;
        return 200;
      },
    });
    onTestFinished(close);
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes));
    socket.write(Array.from({ length: COUNT }, (_, i) => request(`evt_${i}`, i === COUNT - 1)).join(''));
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(COUNT);
    expect(warnings).toEqual([]);
  });
});
