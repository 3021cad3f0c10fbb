import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket, connect as tcpConnect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { missing } from '../integration/file-of.js';
import {
  endServer,
  findProgram,
  freePort,
  scratchDirectory,
  unprivilegedUser,
  untilAnswers,
} from './server-process.js';

/** A real server, with a database for one test file, since engines notify all programs of a database. */
export interface TestPostgres {
  url: string;
  schema: string;
  /** For what a test does beside the store. */
  admin: pg.Pool;
  stop(): Promise<void>;
}

/**
 * The server at POSTGRES_URL, or a private one from the binaries of this machine when none answers. Without either the
 * tests are skipped, which is a failure under CI.
 */
export async function startPostgres(): Promise<TestPostgres | undefined> {
  const { POSTGRES_URL: url = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;
  const running = (await answers(url)) ? { url, async stop() {} } : await startPrivateServer();
  if (running === undefined) return missing('PostgreSQL', 'install it, or run one at POSTGRES_URL');
  const schema = `test_${process.pid}_${Date.now().toString(36)}`;
  const server = poolOf(running.url, { max: 1 });
  await server.query(`CREATE DATABASE ${schema} TEMPLATE template0`);
  const { href } = Object.assign(new URL(running.url), { pathname: schema });
  const admin = poolOf(href, { max: 2 });
  await admin.query(`CREATE SCHEMA ${schema}`);
  return {
    url: href,
    schema,
    admin,
    async stop() {
      await admin.end();
      await server.query(`DROP DATABASE ${schema} WITH (FORCE)`);
      await server.end();
      await running.stop();
    },
  };
}

/** A server of our own, with which a test may do what it likes. */
export interface PrivatePostgres {
  url: string;
  /** Ends it at once and without a checkpoint, and then starts it again on the same port and data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined where this machine has no binaries, which is a failure under CI. */
export async function startPrivatePostgres(): Promise<PrivatePostgres | undefined> {
  return (await startPrivateServer()) ?? missing('the binaries of PostgreSQL', 'apt-get install postgresql');
}

/** With the listener that every user of a pool needs: connections break in these tests. */
export function poolOf(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 6, ...options });
  pool.on('error', () => {});
  return pool;
}

/** PgBouncer in transaction mode in front of a server: few connections, each used by everyone in turn. */
export async function startPgBouncer(serverUrl: string): Promise<{ url: string; stop(): Promise<void> } | undefined> {
  const program = findProgram('pgbouncer', ['/usr/sbin', '/usr/local/bin']);
  if (program === undefined) return missing('PgBouncer', 'apt-get install pgbouncer');
  const server = new URL(serverUrl);
  const port = await freePort();
  const directory = scratch();
  const config = join(directory, 'pgbouncer.ini');
  const password = server.password ? ` password=${decodeURIComponent(server.password)}` : '';
  writeFileSync(
    config,
    `[databases]
* = host=${server.hostname} port=${server.port || 5432} user=${server.username}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
`,
  );
  const bouncer = spawn(program, ['-q', config], { stdio: 'ignore', ...unprivileged() });
  const url = `postgres://${server.username}@127.0.0.1:${port}${server.pathname}`;
  await untilAnswers(bouncer, () => answers(url));
  return {
    url,
    async stop() {
      await endServer(bouncer, 'SIGINT');
      rmSync(directory, { recursive: true });
    },
  };
}

/** Between a client and its server: forwards, until it is told to drop a reply. */
export interface Proxy {
  url: string;
  /** Cuts the connection instead of handing on the next complete reply; what it answers has been done by then. */
  loseNextReply(): void;
  stop(): Promise<void>;
}

// The last message of every reply: ready for the next query, in no transaction.
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let armed = false;
  const server = createServer((client) => {
    const upstream = tcpConnect(Number(port || 5432), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      const isLost = armed && data.subarray(-READY.length).equals(READY);
      if (isLost) client.destroy();
      else client.write(data);
      armed &&= !isLost;
    });
  });
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${await listen(server)}`;
  return {
    url: url.href,
    loseNextReply() {
      armed = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function startPrivateServer(): Promise<PrivatePostgres | undefined> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort(byNumber) : [];
  const directories = versions.reverse().map((version) => `/usr/lib/postgresql/${version}/bin`);
  const [initdb, program] = [findProgram('initdb', directories), findProgram('postgres', directories)];
  if (initdb === undefined || program === undefined) return undefined;
  const directory = scratch();
  const port = await freePort();
  execFileSync(initdb, ['-D', join(directory, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    stdio: 'ignore',
    cwd: directory,
    ...unprivileged(),
  });
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async () => {
    const args = ['-D', join(directory, 'data'), ...settings.flatMap((setting) => ['-c', setting])];
    const server = spawn(program, args, { stdio: 'ignore', cwd: directory, ...unprivileged() });
    await untilAnswers(server, () => answers(url));
    return server;
  };
  let server = await start();
  return {
    url,
    async crash() {
      await endServer(server, 'SIGQUIT');
      server = await start();
    },
    async stop() {
      await endServer(server, 'SIGINT');
      rmSync(directory, { recursive: true });
    },
  };
}

/** These servers refuse to run as root. */
const unprivileged = () => unprivilegedUser('postgres');
const scratch = () => scratchDirectory('postgres');

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function listen(server: ReturnType<typeof createServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}

function byNumber(a: string, b: string): number {
  return Number(a) - Number(b);
}
