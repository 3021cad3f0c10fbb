import { checkEndpointName, checkRetention, RETAIN_MS } from '../endpoint.js';
import type { AnyEvent } from '../event.js';
import { check, checkKnownOptions, integers } from '../option-checks.js';
import type { Delivery } from '../verify/verify.js';

/** Options of every inbox. */
export interface InboxOptions {
  /**
   * The name of this endpoint, part of every key, as in the `dedupe` options of a receiver. The service gives an event
   * the same id at every endpoint, so two endpoints that share a table need two names. 1 to 64 visible ASCII characters
   * without a colon.
   */
  name: string;
  /** The table. Default: `'webhook_inbox'`. It must not be the table of a store. */
  table?: string | undefined;
  /** How long an event is remembered, in milliseconds, at least 6 h: retries span 5 h 15 min. Default: 72 h. */
  retainMs?: number | undefined;
  /** How long `once` waits for another transaction, in milliseconds. Default: 300. */
  waitMs?: number | undefined;
}

/** {@link InboxOptions} that were checked, with their defaults. */
export interface InboxSettings {
  name: string;
  retainMs: number;
  waitMs: number;
}

/** The result of `once`: `work` has run, or the event was already recorded. */
export type InboxResult<T> = { status: 'done'; result: T } | { status: 'duplicate' };

/** An inbox whose `once` takes the open transaction of the user. */
export interface TransactionInbox<Transaction> {
  /** Creates the table where it is missing and updates an older one; may be called several times. */
  init(): Promise<void>;
  /**
   * Records the event in `tx`, your open transaction, and runs `work`, which must write through the same `tx`. If the
   * event is already recorded, `work` does not run. Record and writes take effect with your commit. If `work` throws,
   * both are undone, whether you roll back or not.
   *
   * @throws WebhookError `delivery_in_progress` where another transaction has recorded the event, or holds the locks
   *   that this needs for longer than `waitMs`: if your handler rethrows it, the delivery is answered 409.
   *   `invalid_option` where `tx` is not an open transaction.
   */
  once<T>(
    tx: Transaction,
    delivery: Pick<Delivery<AnyEvent>, 'event' | 'tenant'>,
    work: () => T | PromiseLike<T>,
  ): Promise<InboxResult<T>>;
  /** Removes the record of an event, of a tenant's where there are tenants, so that a redelivery is handled again. */
  forget(eventId: string, options?: { tenant?: string | undefined }): Promise<void>;
  /**
   * Removes up to `limit` events whose retention is over, and resolves to the number of removed events; for the
   * operator.
   */
  purgeExpired(options: { limit: number }): Promise<number>;
}

/** @throws WebhookError `invalid_option` */
export function inboxSettings(subject: string, options: InboxOptions, others: readonly string[] = []): InboxSettings {
  check(
    typeof options === 'object' && options !== null,
    `${subject} needs the name of the endpoint: { name: 'clips' }`,
  );
  checkKnownOptions(subject, options, ['name', 'table', 'retainMs', 'waitMs', ...others]);
  const { name } = options;
  checkEndpointName(name, 'name must be the name of the endpoint:');
  const { retainMs, waitMs } = integers(options, { retainMs: RETAIN_MS, waitMs: 300 });
  checkRetention('retainMs', retainMs);
  return { name, retainMs, waitMs };
}
