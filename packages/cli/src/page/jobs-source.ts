/** So many jobs are on the page. */
export const MOST_JOBS = 100;

/**
 * The jobs that a store waits for, for a view that changes nothing. Everything here is sent to the browser as JSON. Text in
 * it is bounded and has no control characters, since anyone who reached the store may have written it. Times are in
 * milliseconds since the epoch, by the clock of the store.
 */
export interface JobsSource {
  /** For the document. */
  readonly title: string;
  /** Resolves to what is known. Reads the store where that is some time ago, so that it is read only while a page asks. */
  state(): Promise<JobsState>;
  /** Closes the store. */
  close(): Promise<void>;
}

export interface JobsState {
  now: number;
  /** The engine and where it is, without a password. */
  where: string;
  /** Undefined until they are known; then as they were last read. */
  counts?: { expected: number; overdue: number } | undefined;
  /** The jobs that are due first, overdue ones at the beginning. */
  jobs: readonly JobRow[];
  /** How long ago they were read, in milliseconds. */
  readMs?: number | undefined;
  /** Why the store cannot be read now, and what to do. */
  problem?: string | undefined;
}

export interface JobRow {
  id: string;
  tenant?: string | undefined;
  note?: string | undefined;
  /** The types of the events that end it; undefined for every type that ends in `.completed` or `.failed`. */
  types?: readonly string[] | undefined;
  expectedAt?: number | undefined;
  dueAt?: number | undefined;
  isOverdue: boolean;
}
