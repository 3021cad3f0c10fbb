import { execFileSync, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { expect, vi } from 'vitest';
import { missing } from '../integration/file-of.js';
import { PATIENTLY } from './patiently.js';
import {
  endServer,
  findProgram,
  freePort,
  scratchDirectory,
  unprivilegedUser,
  untilAnswers,
} from './server-process.js';

/** A real server, with a database for one test file. */
export interface TestMysql {
  url: string;
  database: string;
  /** The server's own name and version, such as `10.11.19-MariaDB`. */
  version: string;
  /** For what a test does beside the store. */
  admin: mysql.Pool;
  stop(): Promise<void>;
}

/**
 * The MySQL or MariaDB at MYSQL_URL, or a private MariaDB from the binaries of this machine when none answers. Without
 * either the tests are skipped, which is a failure under CI.
 */
export async function startMysql(): Promise<TestMysql | undefined> {
  const { MYSQL_URL: url = 'mysql://root@127.0.0.1:3306/test' } = process.env;
  const running = (await answers(url)) ? { url, async stop() {} } : await startPrivateServer();
  if (running === undefined) return missing('MySQL or MariaDB', 'install one, or run one at MYSQL_URL');
  const database = `test_${process.pid}_${Date.now().toString(36)}`;
  const server = poolOf(running.url, { connectionLimit: 1 });
  await server.query(`CREATE DATABASE ${database}`);
  const { href } = Object.assign(new URL(running.url), { pathname: database });
  const admin = poolOf(href, { connectionLimit: 3 });
  const [[row]] = await admin.query<mysql.RowDataPacket[]>('SELECT VERSION() AS version');
  return {
    url: href,
    database,
    version: row?.['version'],
    admin,
    async stop() {
      await admin.end();
      await server.query(`DROP DATABASE ${database}`);
      await server.end();
      await running.stop();
    },
  };
}

/** A server of our own, with which a test may do what it likes. */
export interface PrivateMysql {
  url: string;
  /** As `kill -9` does, and then starts again on the same port and data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined where this machine has no binaries, which is a failure under CI. */
export async function startPrivateMysql(): Promise<PrivateMysql | undefined> {
  return (await startPrivateServer()) ?? missing('the binaries of MariaDB', 'apt-get install mariadb-server');
}

/** The ids of the connections that each pool has opened. */
const connectionsOf = new WeakMap<mysql.Pool, number[]>();

/** A pool, and what each of its connections runs first, such as a SET of the session. */
export function poolOf(url: string, options: mysql.PoolOptions = {}, session: readonly string[] = []): mysql.Pool {
  const pool = mysql.createPool({ uri: url, connectionLimit: 6, ...options });
  const ids: number[] = [];
  connectionsOf.set(pool, ids);
  pool.pool.on('connection', (connection) => {
    ids.push(connection.threadId);
    for (const statement of session) connection.query(statement, () => {});
  });
  return pool;
}

export const isolation = (level: string) => `SET SESSION TRANSACTION ISOLATION LEVEL ${level}`;

/**
 * Waits until the server has begun a statement of another connection to the database of this pool, which a lock keeps from
 * ending. `like` matches that statement alone: one that ends by itself may be running too. The server's own list of blocked
 * statements is a cache, and stays as it is while it is read too often.
 */
export const untilBlocked = (admin: mysql.Pool, like = 'INSERT %'): Promise<void> =>
  vi.waitFor(async () => {
    const [begun] = await admin.query<mysql.RowDataPacket[]>(
      'SELECT id FROM information_schema.PROCESSLIST WHERE db = DATABASE() AND info LIKE ?',
      [like],
    );
    expect(begun).toHaveLength(1);
  }, PATIENTLY);

/** Ends the connections of a pool, as an operator does. */
export async function killConnections(admin: mysql.Pool, pool: mysql.Pool): Promise<void> {
  const ids = connectionsOf.get(pool)?.splice(0) ?? [];
  for (const id of ids) await admin.query(`KILL CONNECTION ${id}`).catch(() => {}); // one that has ended is unknown
}

async function startPrivateServer(): Promise<PrivateMysql | undefined> {
  const directories = ['/usr/sbin', '/usr/local/bin', '/usr/libexec'];
  const [install, program] = [findProgram('mariadb-install-db', directories), findProgram('mariadbd', directories)];
  if (install === undefined || program === undefined) return undefined;
  const directory = scratchDirectory('mysql');
  const port = await freePort();
  // The server must be able to write to the folder of its temporary files.
  const owned = { cwd: directory, env: { ...process.env, TMPDIR: directory }, ...unprivilegedUser('mysql') };
  const settings = ['--no-defaults', `--datadir=${join(directory, 'data')}`];
  execFileSync(install, [...settings, '--auth-root-authentication-method=normal', '--skip-test-db'], {
    stdio: 'ignore',
    ...owned,
  });
  const url = `mysql://root@127.0.0.1:${port}/mysql`;
  const start = async () => {
    const args = [...settings, `--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(directory, 'socket')}`];
    const server = spawn(program, args, { stdio: 'ignore', ...owned });
    await untilAnswers(server, () => answers(url));
    return server;
  };
  let server = await start();
  return {
    url,
    async crash() {
      await endServer(server, 'SIGKILL');
      server = await start();
    },
    async stop() {
      await endServer(server, 'SIGTERM');
      rmSync(directory, { recursive: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
    await connection.query('SELECT 1');
    await connection.end();
    return true;
  } catch {
    return false;
  }
}
