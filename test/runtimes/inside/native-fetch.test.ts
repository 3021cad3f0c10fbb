import { connect } from 'node:net';
import { webhookMiddleware } from 'service-webhooks/fetch';
import { describe, expect, it, vi } from 'vitest';
import { type Fetch, handler, middleware, rawBodyFix } from '../../adapters/mounts/fetch-app.js';
import { bothForms } from '../../adapters/mounts/mount.js';
import { runSuite } from '../../adapters/run-suite.js';
import { aDelivery, aReceiver } from '../../support/deliveries.js';
import { PATIENTLY } from '../../support/patiently.js';
import { toBytes } from '../../support/raw-http.js';

interface Native {
  Bun?: {
    serve(options: { hostname: string; port: number; fetch: Fetch }): {
      port: number;
      stop(now: boolean): Promise<void>;
    };
  };
  Deno?: {
    serve(
      options: { hostname: string; port: number; signal: AbortSignal; onListen(): void },
      fetch: Fetch,
    ): { addr: { port: number } };
  };
}

const { Bun, Deno } = globalThis as Native;
const where = { hostname: '127.0.0.1', port: 0 };

/** The runtime's own server for Fetch. */
function listenNatively(fetch: Fetch) {
  if (Bun) {
    const server = Bun.serve({ ...where, fetch });
    return { port: server.port, close: () => server.stop(true) };
  }
  if (Deno) {
    const closed = new AbortController(); // its shutdown() would wait for a request whose sender has left
    const server = Deno.serve({ ...where, signal: closed.signal, onListen() {} }, fetch);
    return { port: server.addr.port, close: () => closed.abort() };
  }
  return undefined;
}

describe.skipIf(!Bun && !Deno)("the Fetch adapter on the runtime's own server", () => {
  const serve = (made: typeof handler) => (app: Parameters<typeof handler>[0]) =>
    listenNatively(made(app)) ?? expect.fail('there is none');
  // Below, it is a plain socket that leaves.
  const without = Deno && { hangUp: "Deno's own HTTP client keeps the connection of a request it destroys so early" };
  runSuite(
    bothForms(
      Bun ? 'Bun.serve' : 'Deno.serve',
      { handler: serve(handler), middleware: serve(middleware) },
      { rawBodyFix, without },
    ),
  );

  it('the claim is neither completed nor released when the sender leaves while the route runs', async () => {
    const { headers, body } = aDelivery();
    const { receiver, find } = aReceiver();
    let leave = () => {};
    const fetch = webhookMiddleware(receiver, async ({ signal }) => {
      const gone = new Promise((resolve) => signal.addEventListener('abort', resolve));
      leave();
      await gone;
      return new Response();
    });
    const server = listenNatively(fetch) ?? expect.fail('there is none');
    const request = toBytes({ headers: Object.entries(headers), body: Buffer.from(body) });
    const socket = connect(server.port, '127.0.0.1', () => socket.write(request));
    leave = () => socket.destroy();
    const { error } = await vi.waitFor(() => find('failed'), PATIENTLY);
    expect(error.message).toContain('connection closed');
    await server.close();
  });
});
