import type { RequestListener } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type BegunDelivery, createReceiver, type Receiver } from 'service-webhooks';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { later, SECRET } from '../support/deliveries.js';
import { HAS_HTTP2, listenHttp2, listenNode } from './mounts/listen.js';
import { http2Mounts, mounts } from './mounts/node.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...http2Mounts]);

/** Takes every delivery, when `ready`; tells how the one ended whose `x-name` is `left`. */
function aRecorder(ready: Promise<void> = Promise.resolve()) {
  const settled = later<string>();
  const receiver = Object.assign(() => expect.fail('no middleware'), {
    async begin({ headers }: Parameters<Receiver['begin']>[0]) {
      await ready;
      const name = (headers as Record<string, string>)['x-name'];
      return {
        delivery: {},
        async settle(how: string) {
          if (name === 'left') settled.resolve(how);
          return { status: 500, headers: {}, body: '' };
        },
        settlesLater() {},
      } as unknown as BegunDelivery;
    },
  }) as unknown as Receiver;
  return { receiver, settled: settled.promise };
}

/** A connection to a server of its own. */
async function connectTo(listener: RequestListener) {
  const { port, close } = await listenNode(listener);
  onTestFinished(close);
  return connect(port, '127.0.0.1');
}

it.each([
  ['text is as long as its bytes', { status: 200, body: 'ä' }, 'content-length: 2'],
  ['205 is empty', { status: 205, body: '' }, 'content-length: 0'],
  ['204 has none to tell the length of', { status: 204, body: '' }, undefined],
])('an answer of the Node adapter has the right Content-Length: %s', async (_, answer, told) => {
  const receiver = Object.assign(async () => ({ ...answer, headers: {} }), createReceiver({ secret: SECRET, on: {} }));
  const socket = await connectTo(webhookHandler(receiver));
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  const received = await text(socket);
  expect(received.startsWith(`HTTP/1.1 ${answer.status} `)).toBe(true);
  expect(received.endsWith(`\r\n\r\n${answer.body}`)).toBe(true);
  expect(received.match(/^(content-length|transfer-encoding): .*$/gim)).toEqual(told ? [told] : null);
});

it.runIf(HAS_HTTP2)(
  'behind the Node adapter, a route that throws in mid-answer over HTTP/2 resets the stream',
  async () => {
    const { receiver } = aRecorder();
    const middleware = webhookMiddleware(receiver);
    const { port, close } = await listenHttp2((req, res) =>
      middleware(req, res, () => {
        res.writeHead(200);
        res.write('{');
        throw new Error('no disk');
      }),
    );
    onTestFinished(close);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':method': 'POST' }).end();
    await expect(text(stream)).rejects.toThrow('NGHTTP2_INTERNAL_ERROR');
  },
);

describe('a sender of a pipelined request to the Node adapter that disconnects', () => {
  const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n';

  it('the claim is neither completed nor released while the route still runs', async () => {
    const routed = later();
    const { receiver, settled } = aRecorder();
    const middleware = webhookMiddleware(receiver);
    const socket = await connectTo((req, res) =>
      middleware(req, res, () => {
        if (req.headers['x-name'] === 'left') routed.resolve();
      }),
    );
    socket.write(`${HEAD}x-name: first\r\n\r\n${HEAD}x-name: left\r\n\r\n`);
    await routed.promise;
    socket.destroy();
    expect(await settled).toBe('unknown');
  });

  it('the claim is released at once where the route has not started, and the route does not start', async () => {
    const gone = later();
    const route = vi.fn();
    const { receiver, settled } = aRecorder(gone.promise);
    const middleware = webhookMiddleware(receiver);
    const socket = await connectTo((req, res) => {
      if (req.headers['x-name'] !== 'left') return; // never answered
      req.socket.once('close', gone.resolve);
      middleware(req, res, route);
      socket.destroy();
    });
    socket.write(`${HEAD}x-name: first\r\n\r\n${HEAD}x-name: left\r\n\r\n`);
    expect(await settled).toBe('failed');
    expect(route).not.toHaveBeenCalled();
  });
});
