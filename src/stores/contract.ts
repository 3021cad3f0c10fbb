/**
 * What a dedupe store is. A store remembers each event as one row in one of three states (in progress, completed,
 * released) and hands it to one owner at a time. `docs/add-a-store.md` has the rules and how to prove them.
 *
 * Every method is one atomic operation on the server's own clock. A failure rejects; the receiver bounds each call in
 * time itself.
 */
export interface DedupeStore {
  /** How far its memory reaches: this process, this host, or all receivers. */
  readonly scope: 'process' | 'host' | 'shared';
  /**
   * Makes what is missing (a table); may be called twice. The receiver awaits it before the first claim, and calls it
   * again after a failure.
   */
  init?(): Promise<void>;
  /**
   * Takes the key, or says who has it. The same token again is the same claim: same fence, lease renewed. Another
   * token gets a key that was released, whose lease is over or whose row has expired, with a higher fence.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** Renews the lease of the owner. */
  extend(claim: ClaimRef, options: { leaseMs: number }): Promise<Mutation>;
  /**
   * Done, for the retention time. The owner may complete after its lease, and twice; a row that is gone is made
   * again as completed.
   */
  complete(claim: ClaimRef, options: { retainMs: number }): Promise<Mutation>;
  /** Given back: the next claim takes it at once. `fence`, `attempt` and what was seen first stay. */
  release(claim: ClaimRef): Promise<Mutation>;

  /** For the operator: the row as it stands. */
  inspect?(key: string): Promise<DedupeRecord | undefined>;
  /** For the operator: forgets the row, so that a redelivery runs again. */
  forget?(key: string): Promise<void>;
  /** For the operator: removes up to `limit` rows whose retention is over, and says how many. */
  purgeExpired?(options: { limit: number }): Promise<number>;
  /** Closes what the store itself opened; never a client that was handed to it. */
  close?(): Promise<void>;
}

/** Who wants which key, for how long. */
export interface ClaimRequest {
  /** At most 200 bytes of visible ASCII. */
  key: string;
  /** Proof of ownership: 122 random bits in hex, made once for a delivery and kept when its claim is sent again. */
  token: string;
  /** Of the body, to notice that another one came under the same key. */
  fingerprint: string;
  /** Of the unsigned Idempotency-Key: a witness that is stored and compared, never looked up. */
  alias?: string | undefined;
  /** How long the claim holds if its owner goes silent, in milliseconds. */
  leaseMs: number;
  /** Life of the row in whatever state, in milliseconds. */
  retainMs: number;
}

/** A claim that was acquired, as its owner refers to it. */
export type ClaimRef = Readonly<Pick<ClaimRequest, 'key' | 'token' | 'fingerprint' | 'alias'>> & {
  readonly fence: number;
};

/** `fence` grows with every new owner, `attempt` counts the claims of the key. */
export type ClaimResult =
  | { status: 'acquired'; fence: number; attempt: number; seen?: Seen | undefined }
  | { status: 'in_progress'; fence: number; retryAfterMs: number; seen: Seen }
  | { status: 'completed'; fence: number; seen: Seen };

/** What came when the key was seen first. */
export interface Seen {
  fingerprint: string;
  alias?: string | undefined;
}

/** `'lost'`: another token owns the row or has finished it. That is an answer, not an error. */
export type Mutation = 'ok' | 'lost';

/** A row, for the operator. */
export interface DedupeRecord {
  state: 'in_progress' | 'completed' | 'released';
  fence: number;
  attempt: number;
  fingerprint: string;
  alias?: string | undefined;
  /** What is left of the lease, in milliseconds; 0 or less when it is over. Only while in progress. */
  leaseMsLeft?: number | undefined;
  /** What is left of the retention, in milliseconds. */
  retainMsLeft: number;
}
