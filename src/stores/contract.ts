/**
 * A dedupe store. It remembers each event as one row that is in progress, completed or released, and assigns the row to
 * one owner at a time. `docs/add-a-store.md` has the rules of a store and a test suite for them.
 *
 * Each method is one atomic operation by the clock of the server. A method that fails rejects; the receiver limits how
 * long it waits for each call.
 */
export interface DedupeStore {
  /** The processes that share the rows: this process, the processes of this host, or all receivers. */
  readonly scope: 'process' | 'host' | 'shared';
  /**
   * Creates what is missing, such as a table. The receiver awaits it before the first claim and calls it again after a
   * failure, so it may be called several times.
   */
  init?(): Promise<void>;
  /**
   * Acquires the key, or returns the state of its row. A claim with the same token again is the same claim: it keeps
   * its fence, and its lease is renewed. Another token acquires a key that was released, whose lease has expired or
   * whose row has expired.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** Renews the lease of the owner. */
  extend(claim: ClaimRef, options: { leaseMs: number }): Promise<Mutation>;
  /**
   * Marks the key as completed for the retention time. The owner may complete after the end of its lease, and twice. A
   * row that was lost is created again as completed. A store may keep the end of retention that the claim has set where
   * it is less than 1 % of `retainMs` earlier.
   */
  complete(claim: ClaimRef, options: { retainMs: number }): Promise<Mutation>;
  /** Releases the key for the next claim. The row keeps its fence, its attempts and the values of the first claim. */
  release(claim: ClaimRef): Promise<Mutation>;

  /** Returns the row, or undefined where there is none; for the operator. */
  inspect?(key: string): Promise<DedupeRecord | undefined>;
  /** Removes the event, so that a redelivery is handled again; for the operator. */
  forget?(key: string): Promise<void>;
  /**
   * Removes up to `limit` rows whose retention is over, and resolves to the number of removed rows; for the operator.
   */
  purgeExpired?(options: { limit: number }): Promise<number>;
  /** Stores the report of one receiver for `ttlMs`, in place of its last one; for `receiver.health()`. */
  saveReport?(report: HealthReport): Promise<void>;
  /** Resolves to the newest 1,000 reports of an endpoint that have not expired; for `receiver.health()`. */
  loadReports?(name: string): Promise<string[]>;
  /** Where `createJobs` of `service-webhooks/jobs` keeps its records; undefined where the store cannot keep any. */
  readonly jobs?: JobRecords;
  /** Closes what the store has opened itself, and never a client that was passed to it. */
  close?(): Promise<void>;
}

/** A claim of a receiver. */
export interface ClaimRequest {
  /** The key: at most 200 bytes of visible ASCII. */
  key: string;
  /**
   * The proof of ownership: unique, made once for each delivery, and sent again unchanged when a claim is repeated. It is no
   * secret.
   */
  token: string;
  /** A hash of the body without its timestamp. It shows whether another body arrives under the same key. */
  fingerprint: string;
  /**
   * The unsigned Idempotency-Key: at most 255 visible ASCII characters. It is stored and compared; no row is found by it.
   */
  alias?: string | undefined;
  /** How long the claim lasts if its owner stops responding, in milliseconds. */
  leaseMs: number;
  /** How long the row lives in any state, in milliseconds. */
  retainMs: number;
}

/** The report of one receiver about an endpoint. */
export interface HealthReport {
  /** The name of the endpoint. */
  name: string;
  /** A random id of the receiver. */
  instance: string;
  /** The report: at most 2,000 characters of JSON, which a store keeps unchanged. */
  text: string;
  /** How long the report is kept, in milliseconds. */
  ttlMs: number;
}

/** An acquired claim, as its owner refers to it. */
export type ClaimRef = Readonly<Pick<ClaimRequest, 'key' | 'token' | 'fingerprint' | 'alias'>> & {
  readonly fence: number;
};

/**
 * The answer to a claim.
 *
 * `fence` is a positive safe integer that grows with every new owner of the key, also after the row was forgotten,
 * purged or lost: the server's clock in microseconds, or the last fence + 1 where that is more. `attempt` counts the
 * owners of the row from 1.
 */
export type ClaimResult =
  | { status: 'acquired'; fence: number; attempt: number; seen?: Seen | undefined }
  | { status: 'in_progress'; fence: number; retryAfterMs: number; seen: Seen }
  | { status: 'completed'; fence: number; seen: Seen };

/** The values of the first claim of a row. */
export interface Seen {
  fingerprint: string;
  alias?: string | undefined;
}

/**
 * The answer to a change. `'lost'`: another token owns or has completed the row. That is an answer and not an error.
 */
export type Mutation = 'ok' | 'lost';

/** A row, as the operator sees it. */
export interface DedupeRecord {
  state: 'in_progress' | 'completed' | 'released';
  fence: number;
  attempt: number;
  fingerprint: string;
  alias?: string | undefined;
  /** The rest of the lease, in milliseconds; 0 or less when it has expired. Only while the row is in progress. */
  leaseMsLeft?: number | undefined;
  /** The rest of the retention, in milliseconds. */
  retainMsLeft: number;
}

/**
 * The records of jobs. A store keeps them unchanged and does not read them: their meaning is the same on every store. A
 * record has a key and a version, and is either open, with a time at which it is due, or kept for a limited time.
 *
 * Each method is one atomic operation by the clock of the server, in milliseconds since the epoch. A method that fails
 * rejects; the caller limits how long it waits for each call.
 */
export interface JobRecords {
  /** Creates what is missing, such as a table. It may be called several times. */
  init?(): Promise<void>;
  /** Returns the record, where there is one that has not expired, and the time of the server. */
  read(key: string): Promise<{ now: number; record: JobRecord | undefined }>;
  /**
   * Writes a record where the stored one has the version `replaces`, or where there is none and `replaces` is undefined.
   * Resolves to whether the stored record is this one; so a write that is sent again succeeds again. A written record that
   * is not open wakes those who {@link watch}.
   */
  write(record: JobRecord, replaces: string | undefined): Promise<boolean>;
  /** Removes a record. */
  remove(key: string): Promise<void>;
  /** Returns open records in the order of `dueAt` and then of their keys. */
  list(page: JobPage): Promise<JobRecord[]>;
  /** Counts the open records. */
  count(): Promise<JobCounts>;
  /** Removes up to `limit` records that have expired, and resolves to the number of removed records. */
  purgeExpired(options: { limit: number }): Promise<number>;
  /**
   * Calls `changed` with the key of each record that is written and not open, by any process, from when the promise
   * resolves. A notification may be lost. Resolves to a function that ends it, or to undefined where this client cannot
   * notify.
   */
  watch?(changed: (key: string) => void): Promise<(() => void) | undefined>;
}

/** The record of a job, as it is stored. */
export interface JobRecord {
  /** The key: at most 200 bytes of visible ASCII. */
  key: string;
  /** Random, and another one for each write. At most 40 letters, digits and `-`. */
  version: string;
  /** JSON, of any length. A store keeps it unchanged. */
  text: string;
  /**
   * The time at which an open record is due: a safe integer of milliseconds since the epoch. Undefined where the record is
   * not open.
   */
  dueAt?: number | undefined;
  /**
   * How long a record that is not open is kept after it was written, in milliseconds; undefined where it is open. It is for
   * `write` alone: a record that is read does not have it.
   */
  keepMs?: number | undefined;
}

/** Which open records are listed. */
export interface JobPage {
  /** The largest number of records. */
  limit: number;
  /** Only records that are due. */
  overdue: boolean;
  /** Only records that come after this one. */
  after?: { readonly dueAt: number; readonly key: string } | undefined;
}

/** The number of open records. */
export interface JobCounts {
  /** The time of the server. */
  now: number;
  open: number;
  /** The open records that are due. */
  overdue: number;
  /** The earliest `dueAt` of an open record; undefined where there is none. */
  firstDueAt: number | undefined;
}
