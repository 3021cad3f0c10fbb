import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { isWebhookError } from '../../errors.js';
import { withTimeout } from '../../timers.js';
import { Failure } from '../failure.js';
import { reasonOf } from '../reason.js';
import { readSecret, SOURCES } from '../secrets.js';
import type { Session } from '../session.js';
import { ENGINES } from './engines.js';
import type { OpenedQueue, QueueEngine } from './queue-engine.js';

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

/** Whether the options of a command name a queue. */
export function namesQueue(options: object): boolean {
  return engineIn(options) !== undefined;
}

/** Calls `use` with the queue that the options of a command name, and closes it. @throws Failure */
export async function withQueue<T>(
  session: Session,
  options: object,
  use: (opened: OpenedQueue) => Promise<T>,
): Promise<T> {
  const engine = engineIn(options);
  if (engine === undefined) {
    const names = ENGINES.map(({ name }) => `--${name}`);
    throw new Failure('usage', `say where the queue is: pass ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`);
  }
  const address = await addressOf(session, engine, Reflect.get(options, optionName(engine.name)));
  const { queue, schema, table, prefix } = options as Record<string, string | undefined>;
  const ask = <Answer>(call: () => Promise<Answer>) => asked(engine, address, call);
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
      ...(jobs && { jobs: (filter) => ask(() => jobs(filter)) }),
    });
  } finally {
    await withTimeout(CLOSE_TIMEOUT_MS, () => opened.close()).catch(() => {}); // the process ends anyway
  }
}

function engineIn(options: object): QueueEngine | undefined {
  return ENGINES.find(({ name }) => Reflect.get(options, optionName(name)) !== undefined);
}

async function addressOf(session: Session, { name, url }: QueueEngine, given: unknown): Promise<string> {
  if (url === undefined) return String(given);
  if (given === true && session.env[url.variable] === undefined)
    throw new Failure('usage', `there is no URL: pass --${name} ${url.example}, or set ${url.variable}, also in .env.`);
  const source = given === true ? `env:${url.variable}` : String(given);
  const isSource = source === '-' || /^(env|file):./.test(source);
  const address = isSource ? String(await readSecret(session, source)).trim() : source;
  // The value may be a password, so that it is not repeated.
  if (!URL.canParse(address) || !url.protocols.includes(new URL(address).protocol)) {
    const ids = isSource ? '' : ' Ids stand in front of it.';
    throw new Failure('usage', `--${name} takes a URL such as ${url.example}, or ${SOURCES}.${ids}`);
  }
  if (!isSource && new URL(address).password !== '') {
    const advice = `set ${url.variable}, also in .env, and pass --${name} without a value`;
    throw new Failure('usage', `the URL has a password in it, which everyone on the machine sees: ${advice}.`);
  }
  return address;
}

/** Turns what a client throws into a Failure, without the password of its URL. */
async function asked<T>({ name, url }: QueueEngine, address: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Failure || (isWebhookError(error) && error.code === 'invalid_option')) throw error;
    const reason = reasonOf(error);
    if (url === undefined) throw new Failure('file', `${address}: ${reason}`);
    const { password, host } = new URL(address);
    const said = [password, decodeURIComponent(password)]
      .filter(Boolean)
      .reduce((text, secret) => text.replaceAll(secret, '***'), reason.replace(/\.$/, ''));
    throw new Failure('network', `${name} at ${host} does not answer: ${said}. Check the URL and the server.`);
  }
}

/** As the argument parser calls it. */
function optionName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
