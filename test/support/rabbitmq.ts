import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import amqp, { type ChannelModel } from 'amqplib';
import { missing } from '../integration/file-of.js';
import { endServer, freePort, untilAnswers } from './server-process.js';

/** The address of the server at RABBITMQ_URL; undefined where none answers, which is a failure under CI. */
export async function findRabbitmq(): Promise<string | undefined> {
  const { RABBITMQ_URL: url = 'amqp://guest:guest@127.0.0.1:5672' } = process.env;
  return (await answers(url)) ? url : missing('RabbitMQ', 'install it, or run one at RABBITMQ_URL');
}

/** A connection whose end is the business of what uses it. */
export async function openRabbitmq(url: string): Promise<ChannelModel> {
  const connection = await amqp.connect(url);
  connection.on('error', () => {});
  return connection;
}

/** A server of our own, with which a test may do what it likes. */
export interface PrivateRabbitmq {
  url: string;
  /** As `kill -9` does, and then starts again on the same port and data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

const LIBRARY = '/usr/lib/rabbitmq/lib';
// The command on the PATH of Debian changes the user and the directory; this is the one behind it.
const program = (existsSync(LIBRARY) ? readdirSync(LIBRARY) : [])
  .map((version) => join(LIBRARY, version, 'sbin/rabbitmq-server'))
  .find(existsSync);

/** Undefined where this machine has no binary, which is a failure under CI. */
export async function startPrivateRabbitmq(): Promise<PrivateRabbitmq | undefined> {
  if (program === undefined) return missing('the binary of RabbitMQ', 'apt-get install rabbitmq-server');
  const [port, distribution] = [await freePort(), await freePort()];
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-rabbitmq-'));
  const config = join(directory, 'test.conf');
  writeFileSync(config, `listeners.tcp.default = 127.0.0.1:${port}\n`);
  const env = {
    ...process.env,
    HOME: directory,
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_NODENAME: `test-${port}@localhost`,
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: directory,
    RABBITMQ_LOG_BASE: directory,
    RABBITMQ_PID_FILE: join(directory, 'pid'),
    RABBITMQ_ENABLED_PLUGINS: '',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(directory, 'none.config'),
    RABBITMQ_CONFIG_FILES: join(directory, 'none/*.conf'),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const start = async () => {
    const server = spawn(program, [], { env, stdio: 'ignore', detached: true });
    await untilAnswers(server, () => answers(url));
    return server;
  };
  let server = await start();
  return {
    url,
    async crash() {
      await kill(server, url);
      server = await start();
    },
    async stop() {
      await kill(server, url);
      rmSync(directory, { recursive: true });
    },
  };
}

/** With its processes: the first is a shell, so that the port is free only some time after it has ended. */
async function kill(server: ChildProcess, url: string): Promise<void> {
  if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
  await endServer(server);
  while (await answers(url)) await pause(50);
}

async function answers(url: string): Promise<boolean> {
  const connection = await openRabbitmq(url).catch(() => undefined);
  await connection?.close();
  return connection !== undefined;
}
