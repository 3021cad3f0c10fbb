import { nearestName } from 'service-webhooks/option-checks';
import type { DeadLetters } from 'service-webhooks/queue';
import type { SqliteQueue } from 'service-webhooks/queue/sqlite';
import { Failure } from '../../failure.js';
import type { ServerUrl } from '../../server-url.js';

/** An engine whose queues the command line can open. */
export interface QueueEngine {
  /** The option that names it, without its dashes. */
  name: string;
  /** What the value of the option is, for the help. */
  says: string;
  /** The URLs that it takes, and the variable that has one where none is given; absent where the address is a file. */
  url?: ServerUrl;
  /** Opens a queue that exists, and creates nothing. @throws Failure; anything else is a problem of the connection */
  open(place: QueuePlace): Promise<OpenedQueue>;
}

/** Where a queue is. */
export interface QueuePlace {
  address: string;
  /** Undefined where none was named. */
  queue?: string | undefined;
  schema?: string | undefined;
  table?: string | undefined;
  prefix?: string | undefined;
}

/** A queue of the project. */
export interface OpenedQueue {
  queue: DeadLetters;
  /** Lists jobs in any state, where the engine can. */
  jobs?: SqliteQueue['jobs'];
  /** The engine hands out its dead letters from the first one on, so that all are read at once. */
  hasNoPages?: true;
  close(): Promise<unknown>;
}

export const CONNECT_TIMEOUT_MS = 10_000;
export const CALL_TIMEOUT_MS = 60_000;
const NAMES_SHOWN = 10;

/** Returns the queue that is meant, out of those that exist. @throws Failure with the nearest name */
export function existingQueue(given: string | undefined, names: readonly string[], where: string): string {
  const [only, ...others] = names;
  if (given !== undefined && names.includes(given)) return given;
  if (only === undefined) {
    const name = given === undefined ? '' : ` '${given}', and no other`;
    throw new Failure('usage', `${where} has no queue${name}. Check where the queue is.`);
  }
  if (given === undefined && others.length === 0) return only;
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  const list = `${names.slice(0, NAMES_SHOWN).join(', ')}${more}`;
  if (given === undefined) throw new Failure('usage', `${where} has several queues: pass --queue, one of ${list}.`);
  const nearest = nearestName(given, names);
  const advice = nearest === undefined ? `It has ${list}` : `Did you mean '${nearest}'?`;
  throw new Failure('usage', `${where} has no queue '${given}'. ${advice}${nearest === undefined ? '.' : ''}`);
}
