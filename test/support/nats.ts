import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { missing } from '../integration/file-of.js';
import { endServer, freePort, untilAnswers } from './server-process.js';

/** A server with JetStream to test on. */
export interface TestNats {
  url: string;
  stop(): Promise<void>;
}

/** A server of our own, with which a test may do what it likes. */
export interface PrivateNats extends TestNats {
  port: number;
  /** Stops answering without closing a connection. */
  freeze(): void;
  thaw(): void;
  /** As `kill -9` does, and then starts again on the same port and data. */
  crash(): Promise<void>;
}

const { PATH = '', NATS_URL } = process.env;
const program = ['/usr/sbin', ...PATH.split(':')].map((directory) => join(directory, 'nats-server')).find(existsSync);

/**
 * The server at NATS_URL, or a private one from the binary of this machine when none answers. Without either the tests
 * are skipped, which is a failure under CI.
 */
export async function findNats(): Promise<TestNats | undefined> {
  const url = NATS_URL ?? 'nats://127.0.0.1:4222';
  if (await answers(url)) return { url, async stop() {} };
  return canStartNats() ? startNats() : undefined;
}

/** Whether there is a binary; where there is none, tests that need a server of their own are skipped. */
export function canStartNats(): boolean {
  if (program === undefined) missing('nats-server', 'install NATS; the tests find nats-server on the PATH');
  return program !== undefined;
}

export async function startNats(): Promise<PrivateNats> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-nats-'));
  const url = `nats://127.0.0.1:${port}`;
  const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory];
  let server = await start(args, url);
  return {
    url,
    port,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async crash() {
      await endServer(server);
      server = await start(args, url);
    },
    async stop() {
      await endServer(server);
      rmSync(directory, { recursive: true });
    },
  };
}

/** A client that connects again whenever it can. */
export function openNats(url: string): Promise<NatsConnection> {
  return connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
}

async function start(args: readonly string[], url: string): Promise<ChildProcess> {
  const server = spawn(program ?? 'nats-server', args, { stdio: 'ignore' });
  await untilAnswers(server, () => answers(url));
  return server;
}

async function answers(url: string): Promise<boolean> {
  try {
    const connection = await connect({ servers: url, timeout: 2_000, reconnect: false });
    const hasJetStream = connection.info?.jetstream === true;
    await connection.close();
    return hasJetStream;
  } catch {
    return false;
  }
}
