import { createJobs, type Job } from 'service-webhooks/jobs';
import { printable } from 'service-webhooks/printable';
import { durationOf } from '../duration.js';
import { Failure, isLibraryError, reasonOf } from '../failure.js';
import { shortened } from '../output.js';
import { type JobRow, type JobsSource, type JobsState, MOST_JOBS } from '../page/jobs-source.js';
import { keepOpen } from '../queues/view/kept-open.js';
import { type Pause, realPause, within } from '../queues/within.js';
import type { OpenedStore } from './job-store-engine.js';
import type { PlacedStore } from './job-store-options.js';

export interface JobsViewOptions {
  now?: (() => number) | undefined;
  pause?: Pause | undefined;
}

/** The jobs are read at most so often. */
const READ_MS = 1_500;
/** A store that is silent for so long has a problem, also where the call has not failed yet. */
const SILENT_MS = 5_000;

/** Returns a view of the jobs in a store. It opens the store when a page asks for the first time. */
export function jobsView(
  { where, open }: PlacedStore,
  { now = Date.now, pause = realPause }: JobsViewOptions = {},
): JobsSource {
  const store = keepOpen({ open, pause });
  let found: Found | undefined;
  let problem: string | undefined;
  let reading: Promise<void> | undefined;
  let beganAt = Number.NEGATIVE_INFINITY;
  let endedAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    beganAt = now();
    try {
      found = { ...(await store.use(readJobs)), at: now() };
      problem = undefined;
    } catch (error) {
      problem = printable(reasonOf(error));
      await store.close(); // the next reading opens it again
    }
    endedAt = now();
  }

  function problemNow(): string | undefined {
    const isSilent = reading !== undefined && now() >= beganAt + SILENT_MS;
    return problem ?? (isSilent ? `${where} has not answered for ${durationOf(SILENT_MS)} or longer.` : undefined);
  }

  return {
    title: `Jobs · ${where}`,
    async state(): Promise<JobsState> {
      if (reading === undefined && now() >= endedAt + READ_MS) {
        reading = read().finally(() => {
          reading = undefined;
        });
      }
      if (reading && found === undefined && problemNow() === undefined) await within(SILENT_MS, reading, pause);
      const readMs = found && now() - found.at;
      return {
        now: (found?.storeNow ?? now()) + (readMs ?? 0),
        where,
        counts: found?.counts,
        jobs: found?.jobs ?? [],
        readMs,
        problem: problemNow(),
      };
    },
    close: () => store.close(),
  };
}

/** What was read of a store. */
interface Found {
  counts: { expected: number; overdue: number };
  jobs: readonly JobRow[];
  /** The time of the store, and when that was on this machine. */
  storeNow: number;
  at: number;
}

async function readJobs({ store, ask }: OpenedStore): Promise<Omit<Found, 'at'>> {
  if (store.jobs === undefined) throw new Failure('usage', 'this store cannot keep jobs.');
  // Without what creates tables: the page only reads.
  const { init: _, ...records } = store.jobs;
  const jobs = createJobs({ store: { ...store, jobs: records } });
  return ask(async () => {
    const expected = await jobs.expected({ limit: MOST_JOBS }).catch(throwCause);
    const { now, open, overdue } = await records.count();
    return { counts: { expected: open, overdue }, jobs: expected.map(toRow), storeNow: now };
  });
}

/** Throws the error of the store, which the library has put into one of its own. */
function throwCause(error: unknown): never {
  throw isLibraryError(error) && error.cause !== undefined ? error.cause : error;
}

/** What is shown of a value; longer than any that the service has. */
const [MAX_WORD, MAX_TYPES] = [200, 20];

function toRow({ jobId, tenant, note, types, expectedAt, dueAt, state }: Job): JobRow {
  return {
    id: word(jobId) ?? '',
    tenant: word(tenant),
    note: word(note),
    types: Array.isArray(types) ? types.slice(0, MAX_TYPES).map((type) => word(type) ?? '') : undefined,
    expectedAt: time(expectedAt),
    dueAt: time(dueAt),
    isOverdue: state === 'overdue',
  };
}

/** Any program may have stored another value than a text. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' ? printable(shortened(value, MAX_WORD)) : undefined;
}

/** A number that is no time has none. */
function time(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15 ? value : undefined;
}
