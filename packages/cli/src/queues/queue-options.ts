import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { FollowedJob } from 'service-webhooks/queue';
import { Failure, reasonOf } from '../failure.js';
import { type Ask, placeAt } from '../placed.js';
import { CONFIG_FILE, type QueueSettings } from '../project-config.js';
import { fieldsIn, redactOption } from '../redact.js';
import { isSource, SOURCES } from '../secrets.js';
import type { Session } from '../session.js';
import { bullmqEngine } from './bullmq-engine.js';
import type { JobState } from './listed-letter.js';
import { natsEngine } from './nats-engine.js';
import { graphileWorkerEngine, pgBossEngine } from './postgres-engines.js';
import { type BodySettings, bodyFailure, readBodies, withBodyOptions } from './queue-bodies.js';
import { CLOSE_TIMEOUT_MS, JOB_STATES, type OpenedQueue, type QueueEngine, type QueuePlace } from './queue-engine.js';
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
  return withBodyOptions(command);
}

/** Adds the options of a command that shows jobs: those that say where a queue is, and what is not shown. */
export function withShownQueueOptions<Taken extends CommandUnknownOpts>(command: Taken): Taken {
  const says =
    'fields of the body that are not shown, nor what the reason repeats of them: data.text,data.*.url (repeatable)';
  return withQueueOptions(command).addOption(redactOption(says)) as Taken;
}

/** Where a queue is: the engine, its address as an option has it, the names, and how bodies are read. */
export interface NamedPlace extends Omit<QueuePlace, 'address' | 'bodies'>, BodySettings {
  engine: QueueEngine;
  /** The value of the engine's option: a file, a URL, the place of a URL, or true for the usual variable. */
  at: unknown;
}

/** Returns the queue that options name, or else that of the project. @throws Failure where there is neither */
export function placeOf({ config }: Pick<Session, 'config'>, options: object): NamedPlace {
  const { queue, schema, table, prefix, decrypt, overflow } = options as Record<string, string | undefined>;
  const named = { queue, schema, table, prefix, decrypt, overflow };
  const engine = ENGINES.find(({ name }) => Reflect.get(options, optionName(name)) !== undefined);
  if (engine) return { engine, at: Reflect.get(options, optionName(engine.name)), ...named };
  if (config.queue) return { ...configured(config.queue), ...withoutUndefined(named) };
  const names = ENGINES.map(({ name }) => `--${name}`);
  const pass = `pass ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new Failure('usage', `say where the queue is: ${pass}, or name it once with 'queue use'.`);
}

function configured({ engine: name, at, redact: _, ...names }: QueueSettings): NamedPlace {
  const { decrypt } = names;
  if (decrypt !== undefined && (decrypt === '-' || !isSource(decrypt)))
    throw new Failure('file', `${CONFIG_FILE}: queue.decrypt must say where the keys are, env:NAME or file:PATH.`);
  const engine = ENGINES.find((one) => one.name === name);
  if (engine) return { engine, at: at ?? true, ...names };
  const all = ENGINES.map((one) => one.name).join(', ');
  throw new Failure('file', `${CONFIG_FILE}: queue.engine must be one of ${all}.`);
}

function withoutUndefined(names: object): object {
  return Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined));
}

/** Returns the fields that options and the project redact; undefined for none. @throws Failure */
export function redactedFields({ config }: Pick<Session, 'config'>, options: object): string[] | undefined {
  const { redact: given = [] } = options as { redact?: readonly string[] };
  const { redact: named } = config.queue ?? {};
  try {
    const fields = [...new Set([...(named === undefined ? [] : fieldsIn(named)), ...given])];
    return fields.length === 0 ? undefined : fields;
  } catch (error) {
    throw new Failure('file', `${CONFIG_FILE}: queue.redact: ${reasonOf(error)}`);
  }
}

interface Reading {
  /** Whether no field is redacted, because nothing is shown of the letters. */
  isExact?: boolean;
}

/** Calls `use` with the queue that the options of a command name, or that of the project, and closes it. @throws Failure */
export async function withQueue<T>(
  session: Session,
  options: object,
  use: (opened: OpenedQueue) => Promise<T>,
  reading: Reading = {},
): Promise<T> {
  const { open } = await queuePlaced(session, options, reading);
  const opened = await open();
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** A queue that options or the project name, which can be opened several times. */
export interface PlacedQueue {
  engine: Pick<QueueEngine, 'name' | 'unlisted'>;
  /** The engine and where it is, without a password: `bullmq at localhost:6379`. */
  where: string;
  /** Every call rejects with a Failure that says what does not answer. Closing never rejects. @throws Failure */
  open(): Promise<OpenedQueue>;
}

/** Returns the queue that the options of a command name, or that of the project. @throws Failure */
export async function queuePlaced(
  session: Session,
  options: object,
  { isExact = false }: Reading = {},
): Promise<PlacedQueue> {
  const { engine, at, decrypt, overflow, ...names } = placeOf(session, options);
  const { state = 'dead' } = options as { state?: JobState };
  checkState(engine, state);
  const redact = isExact ? undefined : redactedFields(session, options);
  const bodies = await readBodies(session, { decrypt, overflow });
  const { address, where, ask } = await placeAt(session, engine, at, { advice: ' Ids stand in front of it.' });
  return {
    engine,
    where,
    open: async () => ({ ...asking(await ask(() => engine.open({ address, ...names, bodies })), ask), redact }),
  };
}

/** Returns an opened queue whose calls go through `ask`. */
function asking(opened: OpenedQueue, ask: Ask): OpenedQueue {
  const { queue: letters, jobs } = opened;
  const follow = letters.retryAndFollow && (async (id: string) => following(await letters.retryAndFollow?.(id), ask));
  return {
    ...opened,
    queue: {
      name: letters.name,
      stats: () => ask(() => letters.stats()),
      deadLetters: (page) => ask(() => letters.deadLetters(page)),
      retry: (id) => ask(() => letters.retry(id)),
      discard: (id) => ask(() => letters.discard(id).catch((error) => Promise.reject(bodyFailure(error)))),
      ...(follow && { retryAndFollow: (id) => ask(() => follow(id)) }),
    },
    ...(jobs && {
      jobs: (...which) => jobs.apply(opened, which).map((read) => (page) => ask(() => read(page))),
    }),
    // The process ends anyway.
    close: () => Promise.race([opened.close().catch(() => {}), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]),
  };
}

function following(job: FollowedJob | undefined, ask: Ask): FollowedJob | undefined {
  return job && { state: () => ask(() => job.state()), close: () => job.close() };
}

/** @throws Failure for a state whose jobs the engine cannot list */
function checkState({ name, unlisted = {} }: QueueEngine, state: JobState): void {
  const reason = unlisted[state];
  if (reason === undefined) return;
  const listed = JOB_STATES.filter((one) => unlisted[one] === undefined).join(' or ');
  throw new Failure('usage', `${name} cannot list jobs that are ${state}: ${reason}. Pass --state ${listed}.`);
}

/** As the argument parser calls it. */
function optionName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
