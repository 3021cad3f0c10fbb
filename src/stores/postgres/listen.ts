import { unrefTimeout, withTimeout } from '../../timers.js';
import { hasMethods } from '../named-client.js';
import { untilEnded } from '../until-ended.js';
import type { PgClient, PgListener, PostgresClient, PostgresJsClient } from './client.js';

/**
 * Calls `notified` with what is sent on a channel. Resolves to a function that ends it, or to undefined where nothing
 * arrives; `notify` sends a text.
 */
export type Listen = (
  channel: string,
  notified: (text: string) => void,
  notify: (text: string) => Promise<void>,
) => Promise<(() => void) | undefined>;

type Open = (channel: string, notified: (text: string) => void) => Promise<() => void>;

/** How long the first notification may take. */
const PROBE_MS = 5_000;
/** The pause before a lost connection is opened again. */
const PAUSE_MS = 1_000;

/** Returns how to listen: undefined for a client of one connection and for a transaction. */
export function listenOf({ pg, postgresJs }: PostgresClient): Listen | undefined {
  if (isPool(pg)) return probed(openOnPg(pg));
  return hasMethods(postgresJs, ['listen']) ? probed(openOnPostgresJs(postgresJs as Listener)) : undefined;
}

type Pool = PgClient & Required<Pick<PgClient, 'Client' | 'options'>>;
type Listener = Required<PostgresJsClient>;

function isPool(pg: PgClient | undefined): pg is Pool {
  return hasMethods(pg, ['Client']) && pg?.options !== undefined;
}

/** Listens where a notification of our own arrives: PgBouncer in transaction mode accepts LISTEN and delivers nothing. */
function probed(open: Open): Listen {
  return async (channel, notified, notify) => {
    const probe = ` ${crypto.randomUUID()}`; // no key has a space
    let arrived = () => {};
    const arrival = new Promise<true>((resolve) => {
      arrived = () => resolve(true);
    });
    const end = await untilEnded(notified, (receive) =>
      open(channel, (text) => {
        if (text === probe) arrived();
        else if (!text.startsWith(' ')) receive(text);
      }),
    );
    let works = false;
    try {
      await notify(probe);
      works = await withTimeout(PROBE_MS, () => arrival).catch(() => false);
    } finally {
      if (!works) end?.();
    }
    return works ? end : undefined;
  };
}

/** Listens on a connection next to those of the pool, and opens it again when it is lost. */
function openOnPg({ Client, options }: Pool): Open {
  return async (channel, notified) => {
    let ended = false;
    let current: PgListener | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function connect(): Promise<void> {
      const client = new Client(options as never);
      current = client;
      let isListening = false;
      client.on('error', () => {}); // the end follows
      client.on('notification', ({ payload }) => notified(payload ?? ''));
      client.on('end', () => {
        if (isListening) reconnect();
      });
      try {
        await client.connect();
        await client.query(`LISTEN "${channel}"`);
        isListening = true;
      } catch (error) {
        close(client);
        throw error;
      }
    }

    function reconnect(): void {
      if (!ended) timer = unrefTimeout(() => connect().catch(reconnect), PAUSE_MS);
    }

    await connect();
    return () => {
      ended = true;
      clearTimeout(timer);
      if (current) close(current);
    };
  };
}

function close(client: PgListener): void {
  client.end().catch(() => {});
}

/** Listens on the connection that the client keeps for that, opens again when it is lost, and closes when it ends. */
function openOnPostgresJs(sql: Listener): Open {
  return async (channel, notified) => {
    // After a reconnection the client knows the listener under another name, and goes on calling it.
    const { unlisten } = await sql.listen(channel, notified);
    return () => void unlisten().catch(() => {});
  };
}
