import type { ClaimRef, ClaimRequest, ClaimResult, DedupeRecord, Mutation, Seen } from './contract.js';

/** A row as an object, for a store where one thread owns it. A key without an owner has no token and no lease. */
export interface Entry {
  state: 'in_progress' | 'completed' | 'released';
  token: string;
  fence: number;
  attempt: number;
  leaseUntil: number;
  expiresAt: number;
  fingerprint: string;
  alias?: string | undefined;
}

/** Of nobody yet. */
export function newEntry({ fingerprint, alias }: Seen): Entry {
  return { state: 'released', token: '', fence: 0, attempt: 0, leaseUntil: 0, expiresAt: 0, fingerprint, alias };
}

/** Of an owner whose row is gone: for all that is known it was the first attempt. */
export function ownedEntry({ token, fence, fingerprint, alias }: ClaimRef): Entry {
  return { ...newEntry({ fingerprint, alias }), token, fence, attempt: 1 };
}

export function claimEntry(
  entry: Entry,
  { token, leaseMs, retainMs }: Pick<ClaimRequest, 'token' | 'leaseMs' | 'retainMs'>,
  time: number,
): ClaimResult {
  const { state, fence } = entry;
  const seen: Seen = { fingerprint: entry.fingerprint, alias: entry.alias };
  if (state === 'completed') return { status: state, fence, seen };
  if (entry.token !== token) {
    const retryAfterMs = entry.leaseUntil - time;
    if (retryAfterMs > 0) return { status: 'in_progress', fence, retryAfterMs, seen };
    entry.fence += 1;
    entry.attempt += 1;
  }
  entry.state = 'in_progress';
  entry.token = token;
  entry.leaseUntil = time + leaseMs;
  entry.expiresAt = time + retainMs;
  return { status: 'acquired', fence: entry.fence, attempt: entry.attempt, seen };
}

export function extendEntry(
  entry: Entry | undefined,
  { token }: Pick<ClaimRef, 'token'>,
  { leaseMs }: { leaseMs: number },
  time: number,
): Mutation {
  if (entry?.token !== token || entry.state === 'completed') return 'lost';
  entry.leaseUntil = time + leaseMs;
  entry.expiresAt = Math.max(entry.expiresAt, entry.leaseUntil);
  return 'ok';
}

export function completeEntry(
  entry: Entry,
  { token }: Pick<ClaimRef, 'token'>,
  { retainMs }: { retainMs: number },
  time: number,
): Mutation {
  if (entry.token !== token) return 'lost';
  entry.state = 'completed';
  entry.leaseUntil = 0;
  entry.expiresAt = time + retainMs;
  return 'ok';
}

export function releaseEntry(entry: Entry | undefined, { token }: Pick<ClaimRef, 'token'>): Mutation {
  if (!entry || entry.state === 'released') return 'ok';
  if (entry.token !== token || entry.state === 'completed') return 'lost';
  entry.state = 'released';
  entry.token = '';
  entry.leaseUntil = 0;
  return 'ok';
}

export function recordOf(
  { state, fence, attempt, fingerprint, alias, leaseUntil, expiresAt }: Entry,
  time: number,
): DedupeRecord {
  const leaseMsLeft = state === 'in_progress' ? leaseUntil - time : undefined;
  return { state, fence, attempt, fingerprint, alias, leaseMsLeft, retainMsLeft: expiresAt - time };
}
