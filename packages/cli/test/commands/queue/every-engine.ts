import { join } from 'node:path';
import type { PayloadOptions, WorkerOptions } from 'service-webhooks/queue';
import { installPackage } from '../../../../../test/support/installed-package.js';
import { type EngineFixture, enginesOn } from './engine-fixtures.js';
import { hasSqlite, openQueueFile } from './sqlite-queue-file.js';

/** An engine that this machine has, as a test opens it in the project of a command. */
export interface OpenableEngine {
  name: string;
  /** The variables of the command. */
  env: Record<string, string>;
  /** The options of the command that name the queue. */
  place: string[];
  open(bodies?: PayloadOptions): Promise<EngineFixture>;
}

/** Returns every engine with a queue of this name, in the project in `cli.cwd`. */
export function everyEngine(
  cli: { readonly cwd: string },
  servers: Parameters<typeof enginesOn>[0],
  queueName: string,
): OpenableEngine[] {
  const others = enginesOn(servers).map(({ name, packageName, variable, url, options, open }) => ({
    name,
    env: { [variable]: url },
    place: [`--${name}`, '--queue', queueName, ...options],
    open(bodies?: PayloadOptions) {
      installPackage(cli.cwd, packageName);
      return open(queueName, bodies);
    },
  }));
  const place = ['--sqlite', 'webhooks.db'];
  const sqlite = {
    name: 'sqlite',
    env: {},
    place,
    open: (bodies?: PayloadOptions) => openSqlite(cli.cwd, queueName, bodies),
  };
  return [...others, ...(hasSqlite ? [sqlite] : [])];
}

async function openSqlite(directory: string, queueName: string, bodies?: PayloadOptions): Promise<EngineFixture> {
  const { queue, handle } = openQueueFile(directory, join(directory, 'webhooks.db'), queueName, bodies);
  let worker: ReturnType<typeof queue.work> | undefined;
  return {
    queue,
    work(options: WorkerOptions) {
      worker = queue.work({ ...options, concurrency: 2 });
    },
    async close() {
      await worker?.stop();
      handle.close();
    },
  };
}
