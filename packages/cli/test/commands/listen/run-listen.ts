import { connect } from 'node:net';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import type { Cli, CliOptions } from '../../support/cli.js';
import { browse } from '../page-browser.js';

interface Sent {
  headers: Record<string, string>;
  body: Uint8Array;
}

export const aDelivery = (id = 'evt_1') =>
  signDelivery({ secret: SECRET, event: sampleEvent('stt.completed', { id }) });

/** `listen` on a free port, when it is ready. */
export async function runListen(cli: Cli, args: readonly string[] = [], options?: CliOptions) {
  const running = cli.start(['listen', '--port', '0', ...args], options);
  const listening = await running.next('listening');
  const url = String(listening['url']);
  const { port, host } = new URL(url);
  return {
    ...running,
    ...{ listening, url, port: Number(port), browser: browse(String(listening['page'])) },
    post: ({ headers, body }: Sent, path = '/hook', to = host) =>
      exchange(Number(port), toBytes({ path, host: to, headers: Object.entries(headers), body })),
    /** Sends less than the header promises, and closes the connection. */
    breakOff() {
      const socket = connect(Number(port), '127.0.0.1', () => {
        const head = `POST /hook HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\n`;
        socket.write(`${head}half`, () => socket.destroy());
      });
    },
    async stop() {
      running.signal('SIGINT');
      return running.ended;
    },
  };
}
