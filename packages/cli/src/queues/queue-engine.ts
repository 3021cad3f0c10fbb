import { nearestName } from 'service-webhooks/option-checks';
import type { OperatedQueue, PayloadOptions } from 'service-webhooks/queue';
import type { SqliteJobFilter } from 'service-webhooks/queue/sqlite';
import { Failure } from '../failure.js';
import type { ServerUrl } from '../server-url.js';
import type { JobState, OtherState, Shown, StoredJob } from './listed-letter.js';

export const JOB_STATES = ['dead', 'waiting', 'running', 'done'] as const satisfies JobState[];

/** An engine whose queues the command line can open. */
export interface QueueEngine {
  /** The option that names it, without its dashes. */
  name: string;
  /** What the value of the option is, for the help. */
  says: string;
  /** The URLs that it takes, and the variable that has one where none is given; absent where the address is a file. */
  url?: ServerUrl;
  /** The states whose jobs it cannot list without a change to them, each with the reason. */
  unlisted?: { readonly [State in JobState]?: string };
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
  /** How the bodies of jobs are read. */
  bodies: PayloadOptions;
}

/** The methods of a queue for its operator. */
export type OperatorsQueue = Omit<OperatedQueue, 'init' | 'put'>;

/** A queue of the project. */
export interface OpenedQueue extends Shown {
  queue: OperatorsQueue;
  /**
   * Returns readers of the jobs in a state that the engine lists, each with the oldest first, to be read one after the
   * other. A reader may return jobs that the filter does not let through.
   */
  jobs?(state: OtherState, filter: JobFilter): ReadJobs[];
  /** The engine hands out its dead letters from the first one on, so that all are read at once. */
  hasNoPages?: true;
  close(): Promise<unknown>;
}

export type JobFilter = Pick<SqliteJobFilter, 'since' | 'eventType' | 'eventId'>;

/** Reads a page of jobs. */
export type ReadJobs = (page: { limit: number; offset: number }) => Promise<readonly StoredJob[]>;

export const CONNECT_TIMEOUT_MS = 10_000;
export const CALL_TIMEOUT_MS = 60_000;
export const CLOSE_TIMEOUT_MS = 2_000;
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
