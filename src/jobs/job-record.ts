import { RETAIN_MS } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { parseEvent, type WebhookEvent } from '../event.js';
import type { JobRecord } from '../stores/contract.js';

/** A job, as `jobs` returns it. Times are milliseconds since the epoch, by the clock of the store. */
export interface Job {
  jobId: string;
  /** The tenant whose events end the job, where the receiver has tenants. */
  tenant?: string | undefined;
  /**
   * `'expected'` until it is due, then `'overdue'`; `'completed'` or `'failed'` by the type of the event that has ended it.
   */
  state: 'expected' | 'overdue' | 'completed' | 'failed';
  /** The time of the first `expect()`; undefined where no `expect()` has been called. */
  expectedAt?: number | undefined;
  /** The time from which the job is overdue. */
  dueAt?: number | undefined;
  /** The types of the events that end the job; undefined for every type that ends in `.completed` or `.failed`. */
  types?: readonly string[] | undefined;
  note?: string | undefined;
  /** The event that has ended the job. */
  event?: WebhookEvent | undefined;
  /** The time at which that event had been handled. */
  endedAt?: number | undefined;
  /** Whether `reconcile()` made that event. */
  reconciled?: boolean | undefined;
}

/** What `expect()` records. */
export interface Expectation {
  at: number;
  dueAt: number;
  types?: readonly string[] | undefined;
  note?: string | undefined;
  /** Whether an `overdue` notice has reported the job. */
  noticed?: boolean | undefined;
  /** The reconciliation that asks the service for the job, and how long no other one does so. */
  asking?: { by: string; until: number } | undefined;
}

/** An event about the job whose handler has returned. */
export interface Ending {
  type: string;
  /** The event as JSON: what was received can be stored at any depth, what it parses to cannot. */
  body: string;
  at: number;
  reconciled?: boolean | undefined;
}

/** An event that a reconciliation made. The first webhook of its type that comes to the endpoint afterwards is its twin. */
export interface Reconciled {
  endpoint: string;
  type: string;
  at: number;
  /** The event id of the twin, whose retries are duplicates as well. */
  twin?: string | undefined;
}

/** The contents of a record. */
export interface JobContent {
  v: 1;
  jobId: string;
  tenant?: string | undefined;
  expected?: Expectation | undefined;
  ended?: Ending | undefined;
  /** Events that came before `expect()`: the newest of each type. */
  early: readonly Ending[];
  reconciled: readonly Reconciled[];
}

/** A project whose exports share its id, for example, has events of several types. */
const MAX_EARLY = 4;

export function newJob(jobId: string, tenant: string | undefined): JobContent {
  return { v: 1, jobId, tenant, early: [], reconciled: [] };
}

/** Returns the job with an expectation. Another one of the same job changes nothing. */
export function withExpectation(job: JobContent, expected: Expectation): JobContent {
  if (job.expected !== undefined) return job;
  const ended = job.ended ?? job.early.find(({ type }) => endsJob(type, expected.types));
  return { ...job, expected, ended, early: [] };
}

/** Returns the job with an event that has been handled. */
export function withEnding(job: JobContent, ending: Ending): JobContent {
  if (job.ended !== undefined) return job;
  const { type } = ending;
  const ends = endsJob(type, job.expected?.types);
  if (job.expected !== undefined) return ends ? { ...job, ended: ending, early: [] } : job;
  if (!ends) return job;
  const early = [...job.early.filter((one) => one.type !== type), ending].slice(-MAX_EARLY);
  return { ...job, early };
}

/** Returns the job with a mark that an event of this type was made for an endpoint. */
export function withReconciled(job: JobContent, made: Reconciled): JobContent {
  return { ...job, reconciled: [...job.reconciled, made] };
}

/** Returns the mark of a type at an endpoint. */
export function reconciledAt(job: JobContent | undefined, endpoint: string, type: string): Reconciled | undefined {
  return job?.reconciled.find((made) => made.endpoint === endpoint && made.type === type);
}

/** Returns the job with the twin of an event that was made. Only the owner of the claim of this type changes the mark. */
export function withTwin(job: JobContent, { endpoint, type }: Reconciled, twin: string): JobContent {
  const made = reconciledAt(job, endpoint, type);
  return { ...job, reconciled: job.reconciled.map((one) => (one === made ? { ...made, twin } : one)) };
}

/** Returns whether a job is still open, by the same expectation. */
export function isWaitedFor(job: JobContent | undefined, expectedAt: number | undefined): boolean {
  return job?.expected !== undefined && job.ended === undefined && job.expected.at === expectedAt;
}

/** Returns the event that has ended a job, whether it was expected or not. */
export function endingOf(job: JobContent | undefined): Ending | undefined {
  return job?.ended ?? (job?.expected ? undefined : job?.early[0]);
}

/** Returns whether an event of a type ends a job. */
export function endsJob(type: string, types: readonly string[] | undefined): boolean {
  return types === undefined ? /\.(completed|failed)$/.test(type) : types.includes(type);
}

/** Returns how a job is stored: open until it has ended. */
export function toRecord(key: string, job: JobContent): JobRecord {
  const isOpen = job.expected !== undefined && job.ended === undefined;
  const lifetime = isOpen ? { dueAt: job.expected?.dueAt } : { keepMs: RETAIN_MS };
  return { key, version: crypto.randomUUID(), text: JSON.stringify(job), ...lifetime };
}

/** @throws WebhookError `store_unavailable` for a record in another form */
export function fromRecord({ text }: JobRecord): JobContent {
  let content: Partial<JobContent> | null = null;
  try {
    content = JSON.parse(text);
  } catch {} // another program wrote it
  const lists = [content?.early, content?.reconciled];
  if (content?.v === 1 && typeof content.jobId === 'string' && lists.every(Array.isArray)) return content as JobContent;
  throw new WebhookError('store_unavailable', {
    message: 'The record of the job has another form than this version reads.',
    hint: 'Run one version in all processes. A record of something else can be removed with jobs.forget().',
  });
}

/** Returns a job as the user sees it at a time. */
export function toJob(content: JobContent, now: number): Job {
  const { jobId, tenant, expected } = content;
  const { at: expectedAt, dueAt, types, note } = expected ?? {};
  const job = { jobId, tenant, expectedAt, dueAt, types, note };
  const ending = endingOf(content);
  if (ending === undefined) return { ...job, state: dueAt !== undefined && dueAt <= now ? 'overdue' : 'expected' };
  const { type, body, at: endedAt, reconciled = false } = ending;
  const state = type.endsWith('.failed') ? 'failed' : 'completed';
  return { ...job, state, event: parseEvent(body), endedAt, reconciled };
}
