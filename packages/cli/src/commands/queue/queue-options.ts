import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { Failure } from '../../failure.js';
import { askFile } from '../../installed.js';
import { SOURCES } from '../../secrets.js';
import { askServer, readServerUrl } from '../../server-url.js';
import type { Session } from '../../session.js';
import { bullmqEngine } from './bullmq-engine.js';
import type { JobState } from './listed-letter.js';
import { natsEngine } from './nats-engine.js';
import { graphileWorkerEngine, pgBossEngine } from './postgres-engines.js';
import { JOB_STATES, type OpenedQueue, type QueueEngine } from './queue-engine.js';
import { rabbitmqEngine } from './rabbitmq-engine.js';
import { sqliteEngine } from './sqlite-engine.js';

/** Every engine, in the order of the help. */
const ENGINES: readonly QueueEngine[] = [
  sqliteEngine,
  bullmqEngine,
  pgBossEngine,
  graphileWorkerEngine,
  rabbitmqEngine,
  natsEngine,
];

const CLOSE_TIMEOUT_MS = 2_000;

/** Adds the options that say where a queue is. */
export function withQueueOptions<Taken extends CommandUnknownOpts>(command: Taken): Taken {
  for (const { name, says, url } of ENGINES) {
    const others = ENGINES.map((engine) => optionName(engine.name)).filter((other) => other !== optionName(name));
    const option = url
      ? new Option(`--${name} [url]`, `${says}, or ${SOURCES}; env:${url.variable}`)
      : new Option(`--${name} <file>`, says);
    command.addOption(option.conflicts(others));
  }
  command.option('--queue <name>', 'the name of the queue; for graphile-worker the task');
  command.option('--schema <name>', 'the schema of pg-boss or graphile-worker (pgboss, graphile_worker)');
  command.option('--table <name>', 'the table of the SQLite queue (webhook_queue)');
  command.option('--prefix <prefix>', 'the prefix of BullMQ in Redis (bull)');
  return command;
}

/** Calls `use` with the queue that the options of a command name, and closes it. @throws Failure */
export async function withQueue<T>(
  session: Session,
  options: object,
  use: (opened: OpenedQueue) => Promise<T>,
): Promise<T> {
  const engine = ENGINES.find(({ name }) => Reflect.get(options, optionName(name)) !== undefined);
  if (engine === undefined) {
    const names = ENGINES.map(({ name }) => `--${name}`);
    throw new Failure('usage', `say where the queue is: pass ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`);
  }
  const { queue, schema, table, prefix, state = 'dead' } = options as Record<string, string | undefined>;
  checkState(engine, state as JobState);
  const address = await addressOf(session, engine, Reflect.get(options, optionName(engine.name)));
  const ask = <Answer>(call: () => Promise<Answer>) =>
    engine.url === undefined ? askFile(address, call) : askServer(engine.name, address, call);
  const opened = await ask(() => engine.open({ address, queue, schema, table, prefix }));
  const { queue: letters, jobs } = opened;
  try {
    return await use({
      ...opened,
      queue: {
        deadLetters: (page) => ask(() => letters.deadLetters(page)),
        retry: (id) => ask(() => letters.retry(id)),
        discard: (id) => ask(() => letters.discard(id)),
      },
      ...(jobs && {
        jobs: (...which) => jobs.apply(opened, which).map((read) => (page) => ask(() => read(page))),
      }),
    });
  } finally {
    // The process ends anyway.
    await Promise.race([opened.close().catch(() => {}), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }
}

/** @throws Failure for a state whose jobs the engine cannot list */
function checkState({ name, unlisted = {} }: QueueEngine, state: JobState): void {
  const reason = unlisted[state];
  if (reason === undefined) return;
  const listed = JOB_STATES.filter((one) => unlisted[one] === undefined).join(' or ');
  throw new Failure('usage', `${name} cannot list jobs that are ${state}: ${reason}. Pass --state ${listed}.`);
}

async function addressOf(session: Session, { name, url }: QueueEngine, given: unknown): Promise<string> {
  if (url === undefined) return String(given);
  return readServerUrl(session, name, url, given, ' Ids stand in front of it.');
}

/** As the argument parser calls it. */
function optionName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
