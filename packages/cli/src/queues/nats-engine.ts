import { jobReader } from 'service-webhooks/queue';
import { type NatsJetStream, type NatsStoredMessage, natsQueue } from 'service-webhooks/queue/nats';
import { jsonFields } from '../http/json-fields.js';
import { needed } from '../installed.js';
import { type StoredJob, storedJob } from './listed-letter.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, existingQueue, type QueueEngine, type ReadJobs } from './queue-engine.js';

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
  jetstreamManager(connection: Connection): Promise<Manager>;
}

interface Manager {
  streams: {
    list(subject: string): AsyncIterable<unknown>;
    getMessage(stream: string, query: object): Promise<NatsStoredMessage | null>;
  };
  consumers: { info(stream: string, consumer: string): Promise<{ delivered: { stream_seq: number } }> };
}

const UNKNOWN = 'JetStream does not record which of the delivered messages are acknowledged';

export const natsEngine: QueueEngine = {
  name: 'nats',
  says: 'the URL of NATS with JetStream',
  url: { variable: 'NATS_URL', example: 'nats://localhost:4222', protocols: ['nats:', 'tls:', 'ws:', 'wss:'] },
  unlisted: { running: UNKNOWN, done: UNKNOWN },

  async open({ address, queue, bodies }) {
    const { connect } = needed<Transport>('@nats-io/transport-node');
    const { jetstream, jetstreamManager } = needed<JetStream>('@nats-io/jetstream');
    const { url, ...login } = withLogin(address);
    const connection = await connect({ servers: url, ...login, timeout: CONNECT_TIMEOUT_MS, reconnect: false });
    try {
      const manager = await jetstreamManager(connection);
      const names: string[] = [];
      for await (const found of manager.streams.list('*.dead'))
        names.push((found as { config: { name: string } }).config.name);
      const stream = existingQueue(queue, names.sort(), 'NATS');
      const read = jobReader(bodies);
      const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS });
      return {
        queue: natsQueue({ jetstream: client, stream, ...bodies }),
        jobs: () => ['jobs', 'unreadable'].map((subject) => waitingIn(manager, { stream, subject, read })),
        close: () => connection.close(),
      };
    } catch (error) {
      await connection.close();
      throw error;
    }
  },
};

interface Waiting {
  stream: string;
  /** What stands behind the name of the stream. */
  subject: string;
  read: ReturnType<typeof jobReader>;
}

/**
 * Reads the jobs that no worker has received, and those that no worker could read: the worker which can removes them. A
 * job between two attempts looks like one that runs, and is left out.
 */
function waitingIn({ streams, consumers }: Manager, { stream, subject, read }: Waiting): ReadJobs {
  let seq: number | undefined;
  return async ({ limit }) => {
    seq ??= subject === 'unreadable' ? 1 : (await consumers.info(stream, 'workers')).delivered.stream_seq + 1;
    const jobs: StoredJob[] = [];
    while (jobs.length < limit) {
      const message = await streams.getMessage(stream, { seq, next_by_subj: `${stream}.${subject}` });
      if (!message) break;
      seq = message.seq + 1;
      const job = jsonFields(message.string());
      const queuedAt = message.time.getTime();
      jobs.push(await storedJob(read, String(message.seq), { state: 'waiting', job, queuedAt }));
    }
    return jobs;
  };
}

/** The client of NATS takes a user and a password as options, not in the URL. */
function withLogin(address: string): { url: string; user?: string; pass?: string } {
  const url = new URL(address);
  const [user, pass] = [url.username, url.password].map(decodeURIComponent);
  url.username = '';
  url.password = '';
  return user ? { url: url.href, user, ...(pass && { pass }) } : { url: url.href };
}
