import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { createReceiver, memoryStore } from 'service-webhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aDelivery, later, now, SECRET } from '../support/deliveries.js';
import { http2Mounts as fastify } from './mounts/fastify.js';
import { http2Mounts as h3 } from './mounts/h3.js';
import { http2Mounts as hono } from './mounts/hono.js';
import { http2Mounts as koa } from './mounts/koa.js';
import { http2Mounts as nest } from './mounts/nest.js';
import { http2Mounts as node } from './mounts/node.js';

const LEASE_MS = 25_000;
const mounts = [...node, ...fastify, ...koa, ...hono, ...h3, ...nest].filter(({ form }) => form === 'middleware');

if (mounts.length === 0)
  // biome-ignore lint/suspicious/noSkippedTests: a test file needs a test, also on a runtime without HTTP/2
  describe.skip('the tests of reset HTTP/2 streams', () =>
    it("no test runs on a runtime without Node's HTTP/2 server", () => {}));

describe.each(mounts)('an HTTP/2 stream to $name that is reset', ({ serve }) => {
  it.each([
    ['answers', () => 200],
    ['throws', () => Promise.reject(new Error('the route throws'))],
  ])('the claim stays while the route runs, and is not completed where it %s', async (_, end) => {
    const [working, left, decided] = [later(), later(), later()];
    const clock = { now: 0 };
    let runs = 0;
    const { port, close } = await serve({
      receiver: createReceiver({
        secret: SECRET,
        now,
        logger: false,
        dedupe: { store: memoryStore({ now: () => clock.now }), leaseMs: LEASE_MS },
        observe: ({ kind }) => kind === 'failed' && decided.resolve(),
      }),
      before: 'nothing',
      body: () => new Uint8Array(),
      otherAnswer: new Promise(() => {}),
      async route() {
        runs += 1;
        if (runs > 1) return 200;
        working.resolve();
        await left.promise;
        return end();
      },
    });
    onTestFinished(close);
    const session = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => session.destroy());
    const { headers, body } = aDelivery();
    const attempt = () =>
      session
        .request({ ':method': 'POST', ':path': '/webhooks', ...headers })
        .on('error', () => {})
        .end(body);
    const statusOf = async (stream: ReturnType<typeof attempt>) => (await once(stream, 'response'))[0][':status'];

    const first = attempt();
    await working.promise;
    first.close(constants.NGHTTP2_CANCEL);
    expect(await statusOf(attempt())).toBe(409);
    left.resolve();
    await decided.promise;
    clock.now += LEASE_MS;
    expect(await statusOf(attempt())).toBe(200);
    expect(runs).toBe(2);
  });
});
