import type { Advice } from '../diagnosis/advice.js';
import type { Explanation } from '../explain/index.js';
import type { HttpMessage } from '../http/http-message.js';

/**
 * The data and the actions of the page, which knows nothing else of the origin of deliveries. Everything here is sent
 * to the browser as JSON, so it must not contain a secret.
 */
export interface PageSource {
  /** The title, for the heading. */
  readonly title: string;
  /** What there is to do as long as there is no delivery. */
  readonly start: Start;
  snapshot(): Snapshot;
  /** Calls back with the changes since the last snapshot or change. Returns a function that ends it. */
  watch(changed: (change: Change) => void): () => void;
  /** Returns undefined for a delivery that is not kept. */
  delivery(id: string): DeliveryDetails | undefined;
  /** Returns undefined for an attempt that is not kept. */
  attempt(id: string): AttemptDetails | undefined | Promise<AttemptDetails | undefined>;
  /** Returns the exact request of an attempt, which the server offers in other forms; undefined as for `attempt`. */
  message(attemptId: string): SentMessage | undefined;
  /**
   * Returns what can be searched in the kept attempts: headers, bodies, answers and causes. The page asks for it at each
   * search, so it must not copy bodies.
   */
  attemptTexts(): Iterable<AttemptText>;
  /** The actions of the source; the page offers each. */
  readonly actions: Actions;
}

export interface Start {
  text: string;
  /** What to type into a terminal. */
  command: string;
}

/** A request, where it went, and when by the clock of this machine. */
export interface SentMessage extends HttpMessage {
  url: string;
  at: number;
}

/** A part of an attempt in which the page searches. */
export interface AttemptText {
  /** The id of the delivery. */
  delivery: string;
  text: string | Uint8Array;
}

export interface Snapshot {
  overview: Overview;
  /** The deliveries, the oldest first. */
  deliveries: readonly DeliveryRow[];
}

export interface Change {
  overview: Overview;
  /** New and changed deliveries, each as a whole. */
  deliveries: readonly DeliveryRow[];
  /** The ids of deliveries that are no longer kept. */
  removed: readonly string[];
}

export interface Overview {
  /** By the clock of the source, in milliseconds since the epoch, as all times here. */
  now: number;
  /** How far `now` is ahead of the clock of this machine, in milliseconds, since the page has skipped time. */
  ahead?: number | undefined;
  /** How many times faster than the clock the waits between attempts pass; 0 where time only passes by `advance`. */
  speed: number;
  endpoints: readonly EndpointRow[];
  /** The number of requests that `failNext` still lets fail. */
  failing: number;
  /** The number of deliveries since the start or the last `clear`, where the source no longer keeps all of them. */
  total?: number | undefined;
}

export interface EndpointRow {
  id: string;
  url: string;
  state: 'active' | 'paused';
  /** Dead deliveries since the last success, and the number that pauses the endpoint. */
  deadInARow: number;
  pausesAfter: number;
}

/**
 * `failed`: refused or not answered, and another sender decides about the next attempt. `lost`: no attempt was made, and
 * none follows.
 */
export type DeliveryState = 'sending' | 'waiting' | 'delivered' | 'failed' | 'dead' | 'lost';

/** A delivery in the list. */
export interface DeliveryRow {
  id: string;
  eventId: string;
  type: string;
  endpointId: string;
  state: DeliveryState;
  /** The attempts of the current round: a redelivery begins at 1 again. */
  attempts: number;
  redeliveries: number;
  /** The number of manual replays, outside of the schedule. */
  replays: number;
  /** How many of its requests repeat another one. */
  duplicates: number;
  test: boolean;
  createdAt: number;
  nextAt?: number | undefined;
  /** The status of the latest answer, or why there is none. */
  status?: number | undefined;
  problem?: string | undefined;
  /** The address it was sent to, if that is not the URL of an endpoint. */
  url?: string | undefined;
  /** The verdict on the signature of the latest attempt. */
  verdict?: string | undefined;
  /** Why the latest attempt was not acknowledged, in short. */
  cause?: string | undefined;
  /** Whether any of its attempts was not acknowledged, also where a later one was. */
  hasFailed: boolean;
}

export interface DeliveryDetails {
  delivery: DeliveryRow;
  /** The attempts in the order in which they were made. */
  attempts: readonly AttemptRow[];
  /** The waits of the schedule, in milliseconds. */
  waits: readonly number[];
  /** The actions that are possible now. */
  offers: readonly ('redeliver' | 'replay')[];
  /** Where the first round was lost: that no attempt was made, and what an app can do. */
  lost?: string | undefined;
  /** Why a replay cannot be signed again; undefined where it can. */
  cannotSign?: string | undefined;
}

export interface AttemptRow {
  id: string;
  number: number;
  /** The number of earlier redeliveries. */
  redelivery: number;
  /** `duplicate`: sent twice by a fault. `replay`: sent manually, outside of the schedule. */
  kind: 'attempt' | 'duplicate' | 'replay';
  at: number;
  endedAt: number;
  acknowledged: boolean;
  status?: number | undefined;
  /** Why it failed, if not because of the status. */
  problem?: string | undefined;
  faults: readonly string[];
  /** Whether the app has answered that it knows the event already. */
  recognised?: boolean | undefined;
}

export interface AttemptDetails extends AttemptRow {
  request: { method: string; url: string; headers: readonly Header[]; body: BodyView };
  answer?: { status: number; headers: readonly Header[]; body: BodyView } | undefined;
  /** The code of the answer, or the outcome that it names. */
  code?: string | undefined;
  /** Why the app did not acknowledge the delivery, and what to do about it. */
  advice?: Advice | undefined;
  verdict: Verdict;
  /** When it was made by the clock of this machine, which its signature has, where `at` is another time. */
  sentAt?: number | undefined;
}

export type Header = readonly [name: string, value: string];

/** The visible part of a body. */
export interface BodyView {
  text: string;
  /** The size of the whole body. */
  bytes: number;
  /** `hex` where the bytes are not UTF-8. */
  shown: 'text' | 'hex';
  /** Whether only the beginning is shown. */
  cut: boolean;
}

/** Whether the signature is valid, as of the time of the attempt; `unverified` where no secret is known. */
export interface Verdict {
  verdict: Explanation['verdict'] | 'unverified';
  causes: Explanation['causes'];
}

/** The actions, each with its inputs. */
export interface ActionInputs {
  redeliver: { delivery: string };
  /** Sends the latest attempt again: signed again where the source allows it, or with the same bytes and headers. */
  replay: { delivery: string; exact: boolean };
  /** All deliveries that are dead now. */
  redeliverDead: Record<never, never>;
  send: { type: string };
  /** An event as JSON; what the service decides itself may be left out. */
  emit: { event: string };
  failNext: { count: number };
  pause: { endpoint: string };
  enable: { endpoint: string };
  advance: { ms: number };
  /** Takes out of the list what has ended. */
  clear: Record<never, never>;
}

export type ActionName = keyof ActionInputs;

/** Each action resolves to a sentence about its result, and rejects with a WebhookError where it is not possible. */
export type Actions = { readonly [Name in ActionName]?: (input: ActionInputs[Name]) => Promise<string> };
