import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookHandler } from 'service-webhooks/node';
import { listening } from '../listening.js';
import type { Session } from '../session.js';
import { createIntake } from './intake.js';
import type { ListenOptions } from './options.js';
import type { Received } from './received-log.js';
import { report } from './report.js';

/** How long what is being handled may still take after Ctrl+C. */
const GRACE_MS = 2_000;

export interface Serving {
  url: string;
  /** Takes no more, and ends what has begun. Gives how many deliveries were seen. */
  stop(): Promise<number>;
}

export interface ServeOptions {
  host: string;
  port: number;
  /** Is told of every delivery. */
  received(received: Received): void;
}

/** @throws Failure where the port cannot be had */
export async function serve(
  session: Session,
  options: ListenOptions,
  { host, port, received }: ServeOptions,
): Promise<Serving> {
  const cut = new AbortController();
  setMaxListeners(0, cut.signal);
  const pending = new Set<Promise<void>>();
  let count = 0;

  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const [begun, at, path] = [performance.now(), options.now(), req.url ?? '/'];
    const intake = createIntake(req, at, options, cut.signal);
    await webhookHandler(intake)(req, res);
    if (intake.taken === undefined || cut.signal.aborted) return;
    count += 1;
    const ms = Math.round(performance.now() - begun);
    report(session.out, intake.taken, { at, ms, path }, options);
    if ('seen' in intake.taken) {
      const { message, seen, response } = intake.taken;
      received({ at, endedAt: at + ms, url: `http://${req.headers.host ?? host}${path}`, message, seen, response });
    }
  };
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (req, res) => {
    const handling: Promise<void> = handle(req, res).finally(() => pending.delete(handling));
    pending.add(handling);
  });
  await listening(server, host, port);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/`,
    async stop() {
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => cut.abort(), GRACE_MS);
      await Promise.allSettled(pending);
      clearTimeout(timer);
      server.closeAllConnections();
      return count;
    },
  };
}
