import { type ChildProcess, spawn } from 'node:child_process';
import { on } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { createClient, createCluster, type RedisClientOptions } from 'redis';
import { missing } from '../integration/file-of.js';
import { endServer, freePort } from './server-process.js';

/** A server to test on. */
export interface TestRedis {
  url: string;
  stop(): Promise<void>;
}

/** A server of our own, with which a test may do what it likes. */
export interface PrivateRedis extends TestRedis {
  port: number;
  /** Stops answering without closing a connection. */
  freeze(): void;
  thaw(): void;
  /** As `kill -9` does, and then starts again on the same port and data. */
  crash(): Promise<void>;
}

const program = (process.env['PATH'] ?? '')
  .split(':')
  .map((directory) => join(directory, 'redis-server'))
  .find(existsSync);

/**
 * The server at REDIS_URL, or a private one from the binary of this machine when none answers. Without either the
 * tests are skipped, which is a failure under CI.
 */
export async function findRedis(): Promise<TestRedis | undefined> {
  const { REDIS_URL: url = 'redis://127.0.0.1:6379' } = process.env;
  if (await answers(url)) return { url, async stop() {} };
  return canStartRedis() ? startRedis() : undefined;
}

/** Whether there is a binary; where there is none, tests that need a server of their own are skipped. */
export function canStartRedis(): boolean {
  if (program === undefined) missing('redis-server', 'install Redis; the tests find redis-server on the PATH');
  return program !== undefined;
}

/**
 * The settings of a server that has forgotten nothing after a crash. With Redis's default for `appendfsync`, it answers
 * before it has written while the disk is slow.
 */
export const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'] as const;

/** Settings as on the command line: `'--maxmemory', '3mb'`. */
export async function startRedis(...settings: string[]): Promise<PrivateRedis> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...settings];
  let server = await start(args);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async crash() {
      await endServer(server);
      server = await start(args);
    },
    async stop() {
      await endServer(server);
      rmSync(directory, { recursive: true });
    },
  };
}

/** A Redis Cluster of two nodes that share the slots. */
export async function startCluster(): Promise<TestRedis & { ports: readonly number[] }> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', '2000'];
  // Their own would be 10 000 above the port, where another program may listen.
  const buses = [await freePort(), await freePort()].map(String) as [string, string];
  const startNode = (bus: string) => startRedis(...settings, '--cluster-port', bus);
  const nodes = [await startNode(buses[0]), await startNode(buses[1])] as const;
  const [one, two] = nodes.map(({ url }) => openIoredis(url)) as [Redis, Redis];
  await one.call('CLUSTER', 'ADDSLOTSRANGE', 0, 8191);
  await two.call('CLUSTER', 'ADDSLOTSRANGE', 8192, 16383);
  await two.call('CLUSTER', 'SET-CONFIG-EPOCH', 2);
  await one.call('CLUSTER', 'MEET', '127.0.0.1', nodes[1].port, buses[1]);
  for (const node of [one, two]) {
    await until(async () => {
      const info = String(await node.call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2');
    });
    node.disconnect();
  }
  return {
    url: nodes[0].url,
    ports: nodes.map(({ port }) => port),
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}

/** Clients whose failed connections are the business of what uses them. */
export function openIoredis(url: string, options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
  return new Redis(url, options).on('error', () => {});
}

export function openIoredisCluster(url: string): Cluster {
  return new Cluster([url]).on('error', () => {});
}

export function openNodeRedis(url: string, options: RedisClientOptions = {}) {
  const client = createClient({ url, ...options }).on('error', () => {});
  client.connect().catch(() => {}); // what fails is what is asked of it
  return client;
}

export async function openNodeRedisCluster(url: string) {
  return createCluster({ rootNodes: [{ url }] })
    .on('error', () => {})
    .connect();
}

/** Waits for what another process does at its own pace. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function start(args: readonly string[]): Promise<ChildProcess> {
  const server = spawn(program ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let log = '';
  for await (const [text] of on(server.stdout, 'data', { close: ['end'] })) {
    log += text;
    if (log.includes('Ready to accept connections')) {
      server.stdout.resume();
      return server;
    }
  }
  throw new Error(`redis-server did not start:\n${log}`);
}

async function answers(url: string): Promise<boolean> {
  const client = openIoredis(url, { maxRetriesPerRequest: 0, connectTimeout: 2_000, retryStrategy: () => null });
  try {
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
