import type { DedupeStore, JobRecord, JobRecords } from 'service-webhooks';
import { must } from '../define-suite.js';
import { LONG, needsMethod, type StoreTrial, type StoreTrialCase } from './trial.js';

/** A record that is open. */
export type Open = JobRecord & { dueAt: number };

/** The tools of a case about jobs. After it, its records are removed and its watchers end. */
export interface JobTrial extends StoreTrial {
  /** The records over the two clients. */
  one: JobRecords;
  two: JobRecords;
  newKey(): string;
  /** Adds the keys that a watcher of the first client is called with to a list. */
  watch(woken: string[]): Promise<(() => void) | undefined>;
  /** Returns a new record that is open. */
  open(changes?: Partial<Open>): Open;
  /** Returns a new record that is not open. */
  ended(changes?: Partial<JobRecord>): JobRecord;
}

type JobCase = Omit<StoreTrialCase, 'run'> & { run(trial: JobTrial): Promise<void> };

/** Returns a case about jobs, which a store without them skips. */
export function jobCase({ run, skip, ...one }: JobCase): StoreTrialCase {
  const needsJobs = needsMethod('jobs');
  return {
    ...one,
    skip: (options) => needsJobs(options) ?? skip?.(options),
    async run(trial) {
      const keys = new Set<string>();
      const ends: (() => void)[] = [];
      const [one, two] = [jobsOf(trial.store), jobsOf(trial.store2)];
      await one.init?.();
      await two.init?.();
      const newRecord = (key = `suite:${crypto.randomUUID()}`) => {
        keys.add(key);
        return { key, version: crypto.randomUUID(), text: '{"text":"text"}' };
      };
      const jobTrial: JobTrial = {
        ...trial,
        one,
        two,
        newKey: () => newRecord().key,
        async watch(woken) {
          const end = await one.watch?.((key) => void woken.push(key));
          if (end) ends.push(end);
          return end;
        },
        open: ({ key, ...changes } = {}) => ({ ...newRecord(key), dueAt: farTime(), ...changes }),
        ended: ({ key, ...changes } = {}) => ({ ...newRecord(key), keepMs: LONG, ...changes }),
      };
      try {
        await run(jobTrial);
      } finally {
        for (const end of ends) end();
        for (const key of keys) await two.remove(key).catch(() => {});
      }
    },
  };
}

function jobsOf({ jobs }: DedupeStore): JobRecords {
  if (jobs === undefined) throw new Error("the store has no jobs: pass without: ['jobs']");
  return jobs;
}

/** Returns a time that is not due within a case. Each is another one, so that records of other cases come before or after. */
export function farTime(): number {
  const HUNDRED_YEARS = 100 * 365 * 86_400_000;
  return Date.now() + HUNDRED_YEARS + Math.floor(Math.random() * HUNDRED_YEARS);
}

/** Returns a place that comes right before a record, with no place between them. */
export function justBefore({ dueAt = 1, key }: JobRecord): { dueAt: number; key: string } {
  return { dueAt, key: key.slice(0, -1) };
}

export function placeOf(record: JobRecord | undefined): { dueAt: number; key: string } {
  return { dueAt: Number(record?.dueAt), key: String(record?.key) };
}

export function keysOf(records: readonly JobRecord[]): string[] {
  return records.map(({ key }) => key);
}

export async function mustWrite(jobs: JobRecords, record: JobRecord, replaces?: string): Promise<void> {
  const written = await jobs.write(record, replaces);
  must(written === true, 'a write succeeds: true', written);
}

export async function mustRefuse(jobs: JobRecords, record: JobRecord, replaces: string | undefined): Promise<void> {
  const written = await jobs.write(record, replaces);
  must(written === false, 'a write is refused: false', written);
}

export async function mustRead(jobs: JobRecords, key: string, expected: JobRecord | undefined): Promise<void> {
  const { now, record } = await jobs.read(key);
  must(Number.isInteger(now) && now > 0, 'a read has the time of the store', now);
  if (expected === undefined) must(record === undefined, 'no record', inShort(record));
  else must(isSame(record, expected), 'the record that was written', inShort(record));
}

/** Checks that a record is still there, by a clock that may have been moved. */
export async function mustStay(jobs: JobRecords, { key, version, text, dueAt }: JobRecord): Promise<void> {
  const { record } = await jobs.read(key);
  const isRight =
    record?.version === version && record.text === text && (record.dueAt === undefined) === (dueAt === undefined);
  must(isRight, 'the record is still there', inShort(record));
}

/** Compares values, and records without `keepMs`, which a store does not return. */
export function isSame(found: unknown, expected: unknown): boolean {
  return JSON.stringify(normal(found)) === JSON.stringify(normal(expected));
}

function normal(value: unknown): unknown {
  if (value === undefined || Array.isArray(value)) return value;
  const { key, version, text, dueAt } = value as JobRecord;
  return [key, version, text, dueAt];
}

/** A record for a message. */
export function inShort(record: JobRecord | undefined): unknown {
  return record && { ...record, text: record.text.slice(0, 100) };
}
