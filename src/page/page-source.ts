import type { Explanation } from '../explain/index.js';

/**
 * What the page shows, and what can be done from it: the one thing it knows of where deliveries come from. Everything
 * here goes to the browser as JSON, so no secret may be in it.
 */
export interface PageSource {
  /** What this is, for the heading. */
  readonly title: string;
  snapshot(): Snapshot;
  /** Calls back with what has changed since the last snapshot or change. Gives a function that ends it. */
  watch(changed: (change: Change) => void): () => void;
  /** Undefined for a delivery that is not kept. */
  delivery(id: string): DeliveryDetails | undefined;
  /** Undefined for an attempt that is not kept. */
  attempt(id: string): AttemptDetails | undefined;
  /** Those that it has; the page shows a button for each. */
  readonly actions: Actions;
}

export interface Snapshot {
  overview: Overview;
  /** The oldest first. */
  deliveries: readonly DeliveryRow[];
}

export interface Change {
  overview: Overview;
  /** New ones and those that are different; each whole. */
  deliveries: readonly DeliveryRow[];
  /** Ids of those that are no longer kept. */
  removed: readonly string[];
}

export interface Overview {
  /** By the clock of the source, in milliseconds since the epoch, as all times here. */
  now: number;
  /** How many times faster than the clock the waits between attempts pass; 0 where time only passes by `advance`. */
  speed: number;
  endpoints: readonly EndpointRow[];
  /** How many requests are still to fail by `failNext`. */
  failing: number;
}

export interface EndpointRow {
  id: string;
  url: string;
  state: 'active' | 'paused';
  /** Dead deliveries since the last success, and how many of them pause it. */
  deadInARow: number;
  pausesAfter: number;
}

/** `failed`: refused or not answered, and whether another attempt comes is up to someone else. */
export type DeliveryState = 'sending' | 'waiting' | 'delivered' | 'failed' | 'dead';

/** A delivery as the list has it. */
export interface DeliveryRow {
  id: string;
  eventId: string;
  type: string;
  endpointId: string;
  state: DeliveryState;
  /** Of the current round: a redelivery begins at 1 again. */
  attempts: number;
  redeliveries: number;
  /** How often it was sent by hand, beside the schedule. */
  replays: number;
  test: boolean;
  createdAt: number;
  nextAt?: number | undefined;
  /** Of the latest attempt: the status of the answer, or why there is none. */
  status?: number | undefined;
  problem?: string | undefined;
}

export interface DeliveryDetails {
  delivery: DeliveryRow;
  /** In the order in which they were made. */
  attempts: readonly AttemptRow[];
  /** The waits of the schedule, in milliseconds. */
  waits: readonly number[];
  /** What can be done with it now. */
  offers: readonly ('redeliver' | 'replay')[];
}

export interface AttemptRow {
  id: string;
  number: number;
  /** How often the delivery had been redelivered. */
  redelivery: number;
  /** `duplicate`: sent twice by a fault. `replay`: sent by hand, beside the schedule. */
  kind: 'attempt' | 'duplicate' | 'replay';
  at: number;
  endedAt: number;
  acknowledged: boolean;
  status?: number | undefined;
  /** Why it failed, where it is not for the status. */
  problem?: string | undefined;
  faults: readonly string[];
}

export interface AttemptDetails extends AttemptRow {
  request: { method: string; url: string; headers: readonly Header[]; body: BodyView };
  answer?: { status: number; headers: readonly Header[]; body: BodyView } | undefined;
  verdict: Verdict;
}

export type Header = readonly [name: string, value: string];

/** What there is to see of a body. */
export interface BodyView {
  text: string;
  /** Of the whole body. */
  bytes: number;
  /** `hex` where the bytes are not UTF-8. */
  shown: 'text' | 'hex';
  /** Whether this is the beginning alone. */
  cut: boolean;
}

/** Whether the signature holds, as of the time when the attempt was made; `unverified` where no secret is known. */
export interface Verdict {
  verdict: Explanation['verdict'] | 'unverified';
  causes: Explanation['causes'];
}

/** What can be done, each with what it takes. */
export interface ActionInputs {
  redeliver: { delivery: string };
  /** The latest attempt once more; signed anew, or with the bytes and headers as they were. */
  replay: { delivery: string; exact: boolean };
  send: { type: string };
  failNext: { count: number };
  pause: { endpoint: string };
  enable: { endpoint: string };
  advance: { ms: number };
}

export type ActionName = keyof ActionInputs;

/** Each gives a sentence that says what has happened, and rejects with a WebhookError where it cannot be done. */
export type Actions = { readonly [Name in ActionName]?: (input: ActionInputs[Name]) => Promise<string> };
