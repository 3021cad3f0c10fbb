import { STORE_TIMEOUT_MS } from '../dedupe/store-call.js';
import { endpointKey } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { initOnce } from '../init-once.js';
import type { JobCounts, JobPage, JobRecord, JobRecords } from '../stores/contract.js';
import { sleep, withTimeout } from '../timers.js';
import { fromRecord, type JobContent, newJob, toRecord } from './job-record.js';

/** What identifies a job. */
export interface JobName {
  jobId: string;
  tenant?: string | undefined;
}

/** An open job and its place in the list. */
export interface ListedJob {
  key: string;
  dueAt: number;
  /** Undefined for a record in another form, which must not keep the other jobs from being listed. */
  job: JobContent | undefined;
}

/** The jobs in a store, as objects. Each call is limited in time and rejects with `store_unavailable`. */
export interface JobBook {
  readonly records: JobRecords;
  keyOf(name: JobName): Promise<string>;
  read(key: string): Promise<{ now: number; job: JobContent | undefined }>;
  /**
   * Changes a job, or creates it, by a function that may be called again with a newer state. Nothing is written where it
   * returns the same object. Resolves to what is stored then.
   */
  change(
    name: JobName,
    change: (job: JobContent, now: number) => JobContent,
  ): Promise<{ now: number; job: JobContent }>;
  remove(name: JobName): Promise<void>;
  list(page: JobPage): Promise<ListedJob[]>;
  /** Removes records that have expired. */
  purgeExpired(signal?: AbortSignal): Promise<void>;
  count(): Promise<JobCounts>;
}

/** How often one change is tried again where others change the same job meanwhile. */
const MAX_TRIES = 30;
/** How many expired records one call of the store removes. */
const PURGED = 1_000;

export function createJobBook(records: JobRecords): JobBook {
  const initialise = initOnce(() => records.init?.());

  async function call<T>(operation: () => Promise<T>): Promise<T> {
    try {
      if (records.init) await initialise(STORE_TIMEOUT_MS);
      return await withTimeout(STORE_TIMEOUT_MS, operation);
    } catch (cause) {
      const message = 'The store of the jobs failed: a change may have been made or not.';
      throw new WebhookError('store_unavailable', { message, hint: 'Fix error.cause, and call again.', cause });
    }
  }

  const keyOf = async ({ jobId, tenant }: JobName) => endpointKey('job', jobId, tenant);

  return {
    records,
    keyOf,
    async read(key) {
      const { now, record } = await call(() => records.read(key));
      return { now, job: record && fromRecord(record) };
    },
    async change(name, change) {
      const key = await keyOf(name);
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const { now, record } = await call(() => records.read(key));
        const before = record ? fromRecord(record) : newJob(name.jobId, name.tenant);
        const job = change(before, now);
        if (job === before) return { now, job };
        if (await call(() => records.write(toRecord(key, job), record?.version))) return { now, job };
        await sleep(Math.random() * 5 * tries);
      }
      throw new WebhookError('store_unavailable', {
        message: `Others changed the job ${MAX_TRIES} times while this change was tried.`,
        hint: 'Call again.',
      });
    },
    async remove(name) {
      const key = await keyOf(name);
      await call(() => records.remove(key));
    },
    async list(page) {
      const found = await call(() => records.list(page));
      return found.map((record) => ({ key: record.key, dueAt: Number(record.dueAt), job: readable(record) }));
    },
    async purgeExpired(signal) {
      while (!signal?.aborted && (await call(() => records.purgeExpired({ limit: PURGED }))) === PURGED);
    },
    count: () => call(() => records.count()),
  };
}

function readable(record: JobRecord): JobContent | undefined {
  try {
    return fromRecord(record);
  } catch {
    return undefined;
  }
}
