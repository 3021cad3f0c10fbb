import { SIGNED_REFUSALS } from '../errors.js';
import { MAX_ATTEMPTS, PAUSE_AFTER_DEAD } from '../service/schedule.js';
import type { DedupeStore } from '../stores/contract.js';
import { sharedCall, unrefTimeout, withTimeout } from '../timers.js';
import type { DeliveryQueue, QueueStats } from './delivery-queue.js';
import { isNotice, type Notice, type Outcome } from './outcome.js';

/** The health of an endpoint, as far as its receivers can see. Times are milliseconds since the epoch. */
export interface Health {
  /** The number of receivers in the report: more than one only where the store shares reports. */
  receivers: number;
  /** The time at which the first of them was created. */
  since: number;
  /** The time of the last delivery that was answered with 2xx. */
  lastAcceptedAt: number | undefined;
  /** The time and the code of the last refused request. */
  lastRefused: { at: number; code: string } | undefined;
  /** The time and the code of the last delivery that could not be handled. */
  lastFailed: { at: number; code: string } | undefined;
  /** The number of refusals since the last accepted delivery. Any sender can cause them. */
  refusalsInARow: number;
  /**
   * The number of failures and passed deadlines since the last accepted delivery. Requests that fail before their
   * signature is verified are counted too: `lastFailed.code` is then `secret_unavailable`, `invalid_secret`,
   * `body_already_parsed` or `body_already_read`.
   */
  failuresInARow: number;
  /** The number of deliveries that are claimed and not settled. */
  inProgress: number;
  /**
   * An estimate of the dead deliveries since the last accepted one: sixth attempts, by their unsigned header, with a
   * valid signature, that failed or were refused. A receiver does not see deliveries that never reached it, and with a
   * wrong secret it does not recognise any: then `refusalsInARow` grows and `lastAcceptedAt` stays.
   */
  deadInARowEstimate: number;
  /** The number of consecutive dead deliveries that pause the endpoint. */
  deadInARowLimit: number;
  /**
   * The state of the queue, when it was read last. Undefined where the receiver has no queue with `stats()`, and where the
   * engine did not answer within 2 s. A store that shares reports keeps the last state for ten minutes.
   */
  queue: QueueHealth | undefined;
}

/** The state of a queue at a time. */
export interface QueueHealth extends QueueStats {
  /** The time at which the engine answered. */
  at: number;
}

/** What `health()` reads. */
export interface HealthReadOptions {
  /** Whether the queue is asked. Default: true. `false` for a call that must be quick, or that is made often. */
  queue?: boolean | undefined;
}

/** The health of one receiver. */
export interface HealthRecord {
  /** Updates the record with a decision or a notice. */
  outcome(outcome: Outcome): void;
  /** Counts a claimed delivery as in progress. */
  claimed(): void;
  /** Counts the end of its claim. */
  ended(): void;
  /** Returns the health of all receivers that share a store, or of this one. */
  read(options?: HealthReadOptions): Promise<Health>;
}

const SHARE_INTERVAL_MS = 10_000;
const REPORT_TTL_MS = 600_000;
/** How long one call of the store or of the queue may take. */
const CALL_TIMEOUT_MS = 2_000;

/** The store that shares reports, and the endpoint's name. */
export interface HealthSharing {
  store: DedupeStore;
  name: string;
}

/** Where reports are shared, which queue is asked, and when silence is reported. */
export interface HealthOptions {
  sharing?: HealthSharing | undefined;
  queue?: Pick<DeliveryQueue, 'stats'> | undefined;
  silentAfterMs: number | undefined;
  notify(notice: Notice): void;
}

export function createHealth({ sharing, queue, silentAfterMs, notify }: HealthOptions): HealthRecord {
  const own: Health = {
    receivers: 1,
    since: Date.now(),
    lastAcceptedAt: undefined,
    lastRefused: undefined,
    lastFailed: undefined,
    refusalsInARow: 0,
    failuresInARow: 0,
    inProgress: 0,
    deadInARowEstimate: 0,
    deadInARowLimit: PAUSE_AFTER_DEAD,
    queue: undefined,
  };
  const readQueue = queueReader(queue);
  let lastQueue: QueueHealth | undefined;
  let lastDeadAt: number | undefined;
  let instance: string | undefined;
  let shareTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;

  /** At most once an interval. A failure is ignored, because the store's own calls report it. */
  function shareSoon(): void {
    if (!sharing?.store.saveReport || shareTimer !== undefined) return;
    shareTimer = unrefTimeout(() => {
      shareTimer = undefined;
      share().catch(() => {});
    }, SHARE_INTERVAL_MS);
  }

  async function share(): Promise<void> {
    const { store, name } = sharing as HealthSharing;
    instance ??= crypto.randomUUID(); // not sooner: Workers have no random values before the first request
    const shared: SharedHealth = { ...own, queue: lastQueue, lastDeadAt };
    const report = { name, instance, text: JSON.stringify(shared), ttlMs: REPORT_TTL_MS };
    await withTimeout(CALL_TIMEOUT_MS, () => store.saveReport?.(report));
  }

  /** Reports each silence once: the next accepted delivery restarts the time. */
  function waitForSilence(): void {
    if (silentAfterMs === undefined) return;
    clearTimeout(silenceTimer);
    silenceTimer = unrefTimeout(() => notify({ kind: 'silent', sinceMs: silentAfterMs }), silentAfterMs);
  }

  function accepted(): void {
    waitForSilence();
    own.lastAcceptedAt = Date.now();
    own.refusalsInARow = 0;
    own.failuresInARow = 0;
    own.deadInARowEstimate = 0;
  }

  /** Counts a delivery with a valid signature that was not accepted. */
  function notAccepted(attempt: number | undefined): void {
    if (attempt !== MAX_ATTEMPTS) return;
    own.deadInARowEstimate += 1;
    lastDeadAt = Date.now();
  }

  waitForSilence();

  return {
    outcome(outcome) {
      if (isNotice(outcome)) return;
      own.since ||= Date.now(); // Workers have no clock before the first request
      const { kind, error, delivery } = outcome;
      if (kind === 'rejected') {
        own.lastRefused = { at: Date.now(), code: error.code };
        own.refusalsInARow += 1;
        if (SIGNED_REFUSALS.includes(error.code)) notAccepted(outcome.unsigned.attempt);
      } else if (kind === 'failed' || kind === 'past_deadline') {
        own.lastFailed = { at: Date.now(), code: error.code };
        own.failuresInARow += 1;
        notAccepted(delivery?.unsigned.attempt);
      } else if (kind !== 'in_progress') {
        accepted();
      }
      shareSoon();
    },
    claimed() {
      own.inProgress += 1;
    },
    ended() {
      own.inProgress -= 1;
    },
    async read(options) {
      const queue = options?.queue === false ? undefined : await readQueue();
      lastQueue = queue ?? lastQueue;
      try {
        if (!sharing?.store.loadReports) return { ...own, queue };
        await share();
        const texts = await withTimeout(CALL_TIMEOUT_MS, () => sharing.store.loadReports?.(sharing.name) ?? []);
        return texts.length === 0 ? { ...own, queue } : combine(texts.map((text) => JSON.parse(text)));
      } catch {
        return { ...own, queue }; // this receiver's own health, where the store is down
      }
    },
  };
}

/** Returns a function that resolves to the state of a queue, or to undefined where it does not answer in time. */
function queueReader(queue: HealthOptions['queue']): () => Promise<QueueHealth | undefined> {
  if (typeof queue?.stats !== 'function') return async () => undefined;
  const read = sharedCall(CALL_TIMEOUT_MS, async () => knownQueue({ ...(await queue.stats?.()), at: Date.now() }));
  return () => read().catch(() => undefined);
}

/** Returns the state of a queue from a value of its engine or of a report; undefined where it is none, or an old one. */
function knownQueue(value: unknown): QueueHealth | undefined {
  const { at, depth, oldestMs, dead } = (value ?? {}) as { [Name in keyof QueueHealth]?: unknown };
  const isCount = (count: unknown): count is number => Number.isSafeInteger(count) && Number(count) >= 0;
  const isTime = (time: unknown): time is number => Number.isFinite(time) && Number(time) >= 0;
  if (!isTime(at) || Math.abs(Date.now() - at) > REPORT_TTL_MS) return undefined;
  if (!isCount(depth) || !isCount(dead) || !(oldestMs === undefined || isTime(oldestMs))) return undefined;
  return { at, depth, oldestMs, dead };
}

/** The health of one receiver, as it is shared. */
interface SharedHealth extends Health {
  lastDeadAt?: number | undefined;
}

function combine(reports: readonly SharedHealth[]): Health {
  const lastAcceptedAt = latest(reports.map((report) => report.lastAcceptedAt ?? 0)) || undefined;
  const lastRefused = latestOf(reports.map((report) => report.lastRefused));
  const lastFailed = latestOf(reports.map((report) => report.lastFailed));
  // The counts in a row start at the last delivery that any of the receivers accepted.
  const isSince = (at = 0) => at > (lastAcceptedAt ?? 0);
  const sum = (count: (report: SharedHealth) => number) => reports.reduce((total, report) => total + count(report), 0);
  return {
    receivers: reports.length,
    since: Math.min(...reports.map(({ since }) => since)),
    lastAcceptedAt,
    lastRefused,
    lastFailed,
    refusalsInARow: sum((report) => (isSince(report.lastRefused?.at) ? report.refusalsInARow : 0)),
    failuresInARow: sum((report) => (isSince(report.lastFailed?.at) ? report.failuresInARow : 0)),
    inProgress: sum(({ inProgress }) => inProgress),
    deadInARowEstimate: sum((report) => (isSince(report.lastDeadAt) ? report.deadInARowEstimate : 0)),
    deadInARowLimit: PAUSE_AFTER_DEAD,
    queue: latestOf(reports.map(({ queue }) => knownQueue(queue))),
  };
}

function latestOf<T extends { at: number }>(values: readonly (T | undefined)[]): T | undefined {
  return values.filter((value) => value !== undefined).sort((a, b) => b.at - a.at)[0];
}

function latest(instants: readonly number[]): number {
  return Math.max(0, ...instants);
}
