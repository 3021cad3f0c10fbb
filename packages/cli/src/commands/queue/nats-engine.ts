import { type NatsJetStream, natsQueue } from 'service-webhooks/queue/nats';
import { needed } from '../../installed.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, existingQueue, type QueueEngine } from './queue-engine.js';

interface Connection {
  close(): Promise<void>;
}

/** What is used of @nats-io/transport-node. */
interface Transport {
  connect(options: object): Promise<Connection>;
}

/** What is used of @nats-io/jetstream. */
interface JetStream {
  jetstream(connection: Connection, options: object): NatsJetStream;
  jetstreamManager(connection: Connection): Promise<{ streams: { list(subject: string): AsyncIterable<unknown> } }>;
}

export const natsEngine: QueueEngine = {
  name: 'nats',
  says: 'the URL of NATS with JetStream',
  url: { variable: 'NATS_URL', example: 'nats://localhost:4222', protocols: ['nats:', 'tls:', 'ws:', 'wss:'] },

  async open({ address, queue }) {
    const { connect } = needed<Transport>('@nats-io/transport-node');
    const { jetstream, jetstreamManager } = needed<JetStream>('@nats-io/jetstream');
    const { url, ...login } = withLogin(address);
    const connection = await connect({ servers: url, ...login, timeout: CONNECT_TIMEOUT_MS, reconnect: false });
    try {
      const { streams } = await jetstreamManager(connection);
      const names: string[] = [];
      for await (const found of streams.list('*.dead')) names.push((found as { config: { name: string } }).config.name);
      const stream = existingQueue(queue, names.sort(), 'NATS');
      const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS });
      return { queue: natsQueue({ jetstream: client, stream }), close: () => connection.close() };
    } catch (error) {
      await connection.close();
      throw error;
    }
  },
};

/** The client of NATS takes a user and a password as options, not in the URL. */
function withLogin(address: string): { url: string; user?: string; pass?: string } {
  const url = new URL(address);
  const [user, pass] = [url.username, url.password].map(decodeURIComponent);
  url.username = '';
  url.password = '';
  return user ? { url: url.href, user, ...(pass && { pass }) } : { url: url.href };
}
