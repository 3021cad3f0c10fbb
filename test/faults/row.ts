import type { ClaimResult, Seen } from 'service-webhooks';
import type { Operation } from './history.js';

/**
 * Between the clock of a history and that of a store: both count milliseconds of the same machine, but stores round
 * them, at each end of a lease.
 */
export const MARGIN_MS = 3;

/** An instant of which only bounds are known. */
export interface Instant {
  earliest: number;
  latest: number;
}

/** What a store may hold for a key. */
export interface Row {
  state: 'absent' | 'in_progress' | 'completed' | 'released';
  token: string;
  /** The fence, or a number that it is above where no answer has said it. */
  fence: number;
  isFenceKnown: boolean;
  attempt: number;
  seen: Seen;
  leaseUntil: Instant;
  expiresAt: Instant;
}

const NEVER: Instant = { earliest: Number.NEGATIVE_INFINITY, latest: Number.NEGATIVE_INFINITY };

export const ABSENT: Row = {
  state: 'absent',
  token: '',
  fence: 0,
  isFenceKnown: true,
  attempt: 0,
  seen: { fingerprint: '' },
  leaseUntil: NEVER,
  expiresAt: NEVER,
};

/**
 * The rows that an operation may leave, if it takes effect on this one at an instant within `when`; none where its
 * answer is not that of a right store. An operation without an answer may have had any.
 */
export function apply(row: Row, operation: Operation, when: Instant): Row[] {
  const rows: Row[] = [];
  const isKept = row.state !== 'absent' && when.earliest < row.expiresAt.latest + MARGIN_MS;
  const isGone = row.state === 'absent' || when.latest >= row.expiresAt.earliest - MARGIN_MS;
  if (isKept) rows.push(...step(row, operation, when));
  if (isGone) {
    // Fences grow also after a row has expired.
    const gone = { ...ABSENT, fence: row.fence, isFenceKnown: row.isFenceKnown };
    // What changes nothing leaves the row, which the next operation judges by its own time: a store without a clock reads
    // that of a client before it writes.
    rows.push(...step(gone, operation, when).map((after) => (after === gone ? row : after)));
  }
  return rows;
}

function step(row: Row, operation: Operation, when: Instant): Row[] {
  if (operation.kind === 'claim') return claim(row, operation, when);
  const { token, answer } = operation;
  const isOwner = row.state === 'in_progress' && row.token === token;
  const said = (expected: 'ok' | 'lost', after: Row = row) =>
    answer === undefined || answer === expected ? [after] : [];
  switch (operation.kind) {
    case 'extend':
      return isOwner ? said('ok', extended(row, operation)) : said('lost');
    case 'release':
      if (isOwner) return said('ok', { ...row, state: 'released', token: '', leaseUntil: NEVER });
      return said(row.state === 'absent' || row.state === 'released' ? 'ok' : 'lost');
    case 'complete':
      if (row.state === 'absent')
        return remade(row, operation).flatMap((again) => said('ok', completed(again, operation)));
      if (isOwner) return said('ok', completed(row, operation));
      if (row.state !== 'completed' || row.token !== token) return said('lost');
      // Whether it is remembered for longer is left open.
      return said('ok', { ...row, expiresAt: either(row.expiresAt, after(operation, operation.retainMs)) });
  }
}

function claim(row: Row, operation: Operation, when: Instant): Row[] {
  const { token, seen, leaseMs, retainMs } = operation;
  const answer = operation.answer as ClaimResult | undefined;
  const rows: Row[] = [];

  if (row.state === 'completed') {
    rows.push(...asAnswered(row, answer, 'completed'));
    return rows;
  }
  const isOwner = row.state === 'in_progress' && row.token === token;
  const isHeld = row.state === 'in_progress' && !isOwner;
  if (isHeld && when.earliest <= row.leaseUntil.latest + MARGIN_MS) {
    if (answer === undefined || isLeaseLeft(answer, row, operation))
      rows.push(...asAnswered(row, answer, 'in_progress'));
  }
  if (isHeld && when.latest < row.leaseUntil.earliest - MARGIN_MS) return rows;
  const next =
    row.state === 'absent' ? { attempt: 1, seen } : { attempt: row.attempt + (isOwner ? 0 : 1), seen: row.seen };
  const taken: Row = {
    ...next,
    state: 'in_progress',
    token,
    fence: row.fence,
    isFenceKnown: isOwner && row.isFenceKnown,
    leaseUntil: after(operation, leaseMs),
    expiresAt: after(operation, retainMs),
  };
  if (answer === undefined || isAttempt(answer, taken)) rows.push(...asAnswered(taken, answer, 'acquired'));
  return rows;
}

/** The row as an answer tells it; none where the answer is about another row. */
function asAnswered(row: Row, answer: ClaimResult | undefined, status: ClaimResult['status']): Row[] {
  if (answer === undefined) return [row];
  const { fence, isFenceKnown, seen } = row;
  const isFence = isFenceKnown ? answer.fence === fence : answer.fence > fence;
  const isSeen =
    answer.seen === undefined || (answer.seen.fingerprint === seen.fingerprint && answer.seen.alias === seen.alias);
  return answer.status === status && isFence && isSeen ? [{ ...row, fence: answer.fence, isFenceKnown: true }] : [];
}

function isAttempt(answer: ClaimResult, { attempt }: Row): boolean {
  return answer.status === 'acquired' && answer.attempt === attempt;
}

/** What is left of a lease at some time during the operation, also after it has read the row; never a time that is over. */
function isLeaseLeft(answer: ClaimResult, { leaseUntil }: Row, { invoked, answered }: Operation): boolean {
  if (answer.status !== 'in_progress') return false;
  const shortest = Math.max(0, leaseUntil.earliest - answered - MARGIN_MS);
  return answer.retryAfterMs >= shortest && answer.retryAfterMs <= leaseUntil.latest - invoked + MARGIN_MS;
}

/** A store may keep a row at least as long as its lease. */
function extended(row: Row, operation: Operation): Row {
  const leaseUntil = after(operation, operation.leaseMs);
  const latest = Math.max(row.expiresAt.latest, leaseUntil.latest);
  return { ...row, leaseUntil, expiresAt: { ...row.expiresAt, latest } };
}

function completed(row: Row, operation: Operation): Row {
  const expiresAt = after(operation, operation.retainMs);
  return { ...row, state: 'completed', token: operation.token, leaseUntil: NEVER, expiresAt };
}

/** A row that was gone when its owner completed it, with the owner's fence or a later one that is remembered. */
function remade(row: Row, { fence = 0, seen }: Operation): Row[] {
  const known = { ...ABSENT, attempt: 1, seen };
  const rows: Row[] = [{ ...known, fence }];
  if (row.fence > fence || !row.isFenceKnown) rows.push({ ...known, fence: row.fence, isFenceKnown: row.isFenceKnown });
  return rows;
}

/** A store reads its clock at some time during the operation, also before it has to wait for another one. */
function after({ invoked, answered }: Operation, ms: number): Instant {
  return { earliest: invoked + ms, latest: answered + ms };
}

export function either(one: Instant, other: Instant): Instant {
  return { earliest: Math.min(one.earliest, other.earliest), latest: Math.max(one.latest, other.latest) };
}
