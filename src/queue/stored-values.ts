import { fromBase64 } from '../bytes.js';
import { isWebhookError } from '../errors.js';
import { parseEvent } from '../event.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import type { DeadLetter, QueueStats, UnopenedDelivery } from './dead-letters.js';
import { asPacked, type PackedDelivery, type QueueJob } from './packed-delivery.js';
import type { Payloads } from './payloads.js';
import { safeStack } from './reason.js';

// Any program that can write to an engine may have stored another value than this package has.

/** Returns a count that an engine has stored, or 0 for another value. */
export function countOf(value: unknown): number {
  return knownNumber(value) ?? 0;
}

/** Returns a number of 0 or more that an engine has stored, perhaps as text, or undefined for another value. */
export function knownNumber(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,15}$/.test(value);
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

/** Returns a text that an engine has stored, or undefined for another value. */
export function knownText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value that an engine has stored as JSON. Text that is not JSON stays text, which a processor refuses. */
export function parsedJob(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns a stored job as a queued delivery, or undefined where it is not one of this version. */
export function asQueued(job: unknown): QueuedDelivery | undefined {
  const { v, body, key } = (job ?? {}) as Partial<QueuedDelivery>;
  return v === 1 && typeof body === 'string' && typeof key === 'string' ? (job as QueuedDelivery) : undefined;
}

/** Returns a stored job as one of this version, also where its body is packed; undefined where it is none. */
export function asJob(job: unknown): QueueJob | undefined {
  return asQueued(job) ?? asPacked(job);
}

/** Returns the fields of a queued event by which engines order and filter; a body that is not an event has none. */
export function eventOf({ body }: QueuedDelivery): { id?: string; type?: string; jobId?: string | null } {
  try {
    return parseEvent(fromBase64(body));
  } catch {
    return {};
  }
}

/** Resolves to a dead letter from the values that an engine has stored. */
export async function deadLetterOf(
  payloads: Payloads,
  id: string,
  { job, diedAt, attempts, reason, stack }: StoredValues,
): Promise<DeadLetter> {
  return {
    id,
    ...(await openedDelivery(payloads, job)),
    diedAt: knownNumber(diedAt),
    attempts: knownNumber(attempts),
    reason: knownText(reason),
    stack: safeStack(knownText(stack) ?? '') || undefined,
  };
}

/** Resolves to the delivery of a stored job, or to what is known of it where its body cannot be read. Never rejects. */
export async function openedDelivery(
  payloads: Payloads,
  job: unknown,
): Promise<{ delivery: QueuedDelivery | undefined; unopened?: UnopenedDelivery }> {
  try {
    return { delivery: asQueued(await payloads.open(job)) };
  } catch (error) {
    const { key, tenant } = asPacked(job) as PackedDelivery;
    return {
      delivery: undefined,
      unopened: { key, tenant: knownText(tenant), why: problemOf(error), needs: await payloads.lacks(job) },
    };
  }
}

function problemOf(error: unknown): string {
  return isWebhookError(error) ? error.problem : 'Its body could not be read.';
}

/** Resolves to the results of calls one after the other: each letter may hold a large body. */
export async function inTurn<In, Out>(items: readonly In[], call: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const item of items) results.push(await call(item));
  return results;
}

interface StoredValues {
  job: unknown;
  diedAt: unknown;
  attempts: unknown;
  reason: unknown;
  stack?: unknown;
}

/** The row of a statement that returns the state of a queue: `oldest` in milliseconds, NULL for none. */
export interface StatsRow {
  depth: number | string;
  oldest: number | string | null;
  dead: number | string;
}

/** Returns the state of a queue from its row. The clocks of two servers may make an age negative, which counts as 0. */
export function statsOf(row: StatsRow | undefined): QueueStats {
  return { depth: countOf(row?.depth), oldestMs: Math.max(0, Number(row?.oldest ?? 0)), dead: countOf(row?.dead) };
}
