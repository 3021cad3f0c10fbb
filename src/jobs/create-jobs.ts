import type { JobClaims } from '../dedupe/job-claims.js';
import { durationMs } from '../duration.js';
import { WebhookError } from '../errors.js';
import type { WebhookEvent } from '../event.js';
import { check, checkKnownOptions, checkObject, checkPositiveInteger, integers } from '../option-checks.js';
import { checkEventType } from '../receiver/handlers.js';
import type { DedupeStore } from '../stores/contract.js';
import { jobClaims } from './claim-job.js';
import { createJobBook, type JobName } from './job-book.js';
import { type Job, toJob, withExpectation } from './job-record.js';
import { type Reconciliation, reconcile } from './reconcile.js';
import type { ReconcileOptions } from './reconcile-options.js';
import { createWaiting } from './waiting.js';

const NO_DEFAULT = 'It has no default: choose a time after which you would look for the job.';

/** Options of {@link createJobs}. */
export interface JobsOptions {
  /** A store of `service-webhooks`: in memory, SQLite, Redis, PostgreSQL or DynamoDB. It may be the one of `dedupe`. */
  store: DedupeStore;
  /** How often `ended()` asks the store, in milliseconds; a fifth as often where the store notifies. Default: 1 000. */
  pollMs?: number | undefined;
  /** How long the claim of a job lasts if its process stops responding, in milliseconds. Default: 25 000. */
  leaseMs?: number | undefined;
}

/** Which tenant's job it is, where the receiver has tenants. */
export interface OfTenant {
  /** The tenant whose secret signs the events of the job. */
  tenant?: string | undefined;
}

/** Options of `jobs.expect()`. */
export interface ExpectOptions extends OfTenant {
  /** After which time without its event the job is overdue: milliseconds, or `'90s'`, `'30m'`, `'2h'`, `'1d'`. */
  within: number | string;
  /** The types of the events that end the job. Default: every type that ends in `.completed` or `.failed`. */
  types?: readonly string[] | undefined;
  /** Text of yours that the job is listed with, at most 1 000 characters. */
  note?: string | undefined;
}

/** Options of `jobs.ended()`. */
export interface EndedOptions extends OfTenant {
  /** Ends the wait: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** The longest wait, in milliseconds. Default: no limit. */
  timeoutMs?: number | undefined;
}

/** Which jobs are listed. */
export interface ListOptions {
  /** The largest number of jobs. Default: 100. */
  limit?: number | undefined;
  /** The last job of the page before. */
  after?: Job | undefined;
}

/** The number of jobs that are waited for. */
export interface JobStats {
  /** Jobs whose event has not come, overdue ones included. */
  expected: number;
  overdue: number;
  /** How long the first of them has been overdue, in milliseconds; undefined where none is. */
  oldestMs: number | undefined;
}

/** Jobs of the service whose events are waited for, in a store that all processes share. */
export interface Jobs extends JobClaims {
  /**
   * Records that an event must end a job. Call it once the API has answered with the id of the job: an event that came
   * before counts. Another call for the same job changes nothing. Resolves to the job.
   *
   * @throws WebhookError `invalid_option`; `store_unavailable` (as rejections)
   * @example
   * await jobs.expect(jobId, { types: ['dubbing.completed', 'dubbing.failed'], within: '2h' });
   */
  expect(jobId: string, options: ExpectOptions): Promise<Job>;
  /**
   * Resolves to the event that ends a job, once its handler has returned in any process. The wait keeps the process alive.
   *
   * @throws WebhookError `job_timeout` after `timeoutMs`; the reason of `signal`; `store_unavailable` where the store has
   *   failed for a minute (as rejections)
   * @example
   * const event = await jobs.ended(jobId, { timeoutMs: 60_000 });
   * if (event.type.endsWith('.failed')) throw new Error('the dubbing failed');
   */
  ended(jobId: string, options?: EndedOptions): Promise<WebhookEvent>;
  /** Returns a job; undefined where nothing is known of it. */
  find(jobId: string, options?: OfTenant): Promise<Job | undefined>;
  /** Returns the jobs whose event has not come, in the order in which they are due. */
  expected(options?: ListOptions): Promise<Job[]>;
  /** Returns the jobs that are overdue, the most overdue first. */
  overdue(options?: ListOptions): Promise<Job[]>;
  /**
   * Asks the service for every overdue job, and runs the handler of the event that it would have sent: once over all
   * processes. A webhook that comes afterwards is answered as a duplicate. Call it regularly, in any number of processes; a
   * call that ends early is continued by the next one.
   *
   * @throws WebhookError `invalid_option`; `store_unavailable` where the jobs cannot be listed (as rejections)
   * @example
   * const { ended, failed } = await jobs.reconcile({ on, fetch: askService, name: 'clips' });
   */
  reconcile(options: ReconcileOptions): Promise<Reconciliation>;
  /** Removes what is known of a job, whether it has ended or not: its id can be expected again. */
  forget(jobId: string, options?: OfTenant): Promise<void>;
  /** Counts the jobs that are waited for. */
  stats(): Promise<JobStats>;
}

const MAX_NOTE = 1_000;

/**
 * Creates the jobs in a store: what `expect()` records is ended by the receivers and workers that are given `jobs`.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const jobs = createJobs({ store });
 * const receiver = createReceiver({ secret, on, jobs, dedupe: { store, name: 'clips' } });
 */
export function createJobs(options: JobsOptions): Jobs {
  check(typeof options === 'object' && options !== null, 'createJobs() has no store', 'Pass { store }.');
  checkKnownOptions('createJobs', options, ['store', 'pollMs', 'leaseMs']);
  const { store } = options;
  const { pollMs, leaseMs } = integers(options, { pollMs: 1_000, leaseMs: 25_000 });
  const book = createJobBook(recordsOf(store));
  const waiting = createWaiting(book, pollMs);
  const claims = jobClaims({ store, book, leaseMs, changed: waiting.wake });

  /** The names of the endpoints in this process. */
  const names = new Set<string>();
  const claimsFor: Jobs['claimsFor'] = (endpoint) => {
    if (endpoint !== undefined) names.add(endpoint);
    return claims(endpoint);
  };

  /** Returns the only endpoint of a process, whose memory no other process shares. @throws WebhookError `invalid_option` */
  function onlyName(): string | undefined {
    if (store.scope !== 'process') return undefined;
    check(
      names.size < 2,
      `name is missing, and these jobs are in several receivers: ${[...names].join(', ')}`,
      'Pass the name of the receiver whose handlers these are.',
    );
    return [...names][0];
  }

  async function list(overdue: boolean, options: ListOptions = {}): Promise<Job[]> {
    checkOptions(overdue ? 'overdue()' : 'expected()', options, ['limit', 'after']);
    const { limit } = integers(options, { limit: 100 });
    const page = await book.list({ limit, overdue, after: options.after && (await placeOf(options.after)) });
    const now = overdue ? Number.POSITIVE_INFINITY : (await book.count()).now;
    return page.flatMap(({ job }) => (job ? [toJob(job, now)] : []));
  }

  async function placeOf(job: Job) {
    check(job?.dueAt !== undefined, 'after must be the last job of the page before');
    return { dueAt: job.dueAt, key: await book.keyOf(job) };
  }

  return {
    claimsFor,

    async expect(jobId, options) {
      check(Object(options) === options, 'expect() has no time', "Pass the time as well, such as { within: '2h' }.");
      const name = nameOf(jobId, options, 'expect()', ['within', 'types', 'note']);
      const { types, note } = options;
      const withinMs = durationMs('within', options.within, NO_DEFAULT);
      checkTypes(types);
      const isNote = note === undefined || (typeof note === 'string' && note.length <= MAX_NOTE);
      check(isNote, `note must be a text of at most ${MAX_NOTE} characters`);
      const { job, now } = await book.change(name, (job, at) =>
        withExpectation(job, { at, dueAt: at + withinMs, types, note }),
      );
      if (job.ended) waiting.wake(await book.keyOf(name));
      return toJob(job, now);
    },

    async ended(jobId, options = {}) {
      const name = nameOf(jobId, options, 'ended()', ['signal', 'timeoutMs']);
      const { signal, timeoutMs } = options;
      check(signal === undefined || signal instanceof AbortSignal, 'signal must be an AbortSignal');
      if (timeoutMs !== undefined) checkPositiveInteger('timeoutMs', timeoutMs);
      return waiting.ended(name, { signal, timeoutMs });
    },

    async find(jobId, options = {}) {
      const { job, now } = await book.read(await book.keyOf(nameOf(jobId, options, 'find()')));
      return job && toJob(job, now);
    },

    expected: (options) => list(false, options),
    overdue: (options) => list(true, options),
    reconcile: (options) => reconcile({ book, claimsFor: claims, onlyName }, options),

    async forget(jobId, options = {}) {
      await book.remove(nameOf(jobId, options, 'forget()'));
    },

    async stats() {
      const { now, open, overdue, firstDueAt = now } = await book.count();
      return { expected: open, overdue, oldestMs: overdue === 0 ? undefined : now - firstDueAt };
    },
  };
}

/** @throws WebhookError `invalid_option` */
function recordsOf(store: DedupeStore) {
  check(
    typeof store?.claim === 'function',
    'store is not a store',
    'Pass one, such as { store: redisStore({ ioredis: client }) }.',
  );
  if (store.jobs !== undefined) return store.jobs;
  throw new WebhookError('invalid_option', {
    message: 'This store cannot keep jobs.',
    hint: 'Use memoryStore, sqliteStore, redisStore, postgresStore or dynamodbStore, or d1Store on Cloudflare.',
  });
}

/** Returns what identifies a job. @throws WebhookError `invalid_option` */
function nameOf(jobId: string, options: OfTenant, subject: string, known: readonly string[] = []): JobName {
  check(
    typeof jobId === 'string' && jobId !== '',
    'jobId must be a text that is not empty',
    'Pass the id of the job from the answer of the API.',
  );
  checkOptions(subject, options, ['tenant', ...known]);
  const { tenant } = options;
  check(
    tenant === undefined || (typeof tenant === 'string' && tenant !== ''),
    'tenant must be a text that is not empty',
  );
  return { jobId, tenant };
}

function checkOptions(subject: string, options: object, known: readonly string[]): void {
  checkObject('options', options);
  const aliases = Object.entries({ timeout: 'timeoutMs', timeoutMs: 'within', type: 'types' });
  checkKnownOptions(subject, options, known, Object.fromEntries(aliases.filter(([, name]) => known.includes(name))));
}

/** @throws WebhookError `invalid_option` */
function checkTypes(types: readonly string[] | undefined): void {
  if (types === undefined) return;
  check(Array.isArray(types) && types.length > 0, "types must be a list of event types, such as ['dubbing.completed']");
  for (const type of types) checkEventType('types', type);
}
