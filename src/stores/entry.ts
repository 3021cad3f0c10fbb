import type { ClaimRequest, ClaimResult, DedupeRecord, Mutation, Seen } from './contract.js';

/** A row as an object, for a store whose rows one thread owns. A row without an owner has an empty token. */
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

/** Returns a fence that is higher than the last one and than every fence of an earlier millisecond. */
export function nextFence(last: number, epochMs: number): number {
  return Math.max(last + 1, Math.floor(epochMs * 1_000));
}

/** A new row without an owner. */
export function newEntry({ fingerprint, alias }: Seen): Entry {
  return { state: 'released', token: '', fence: 0, attempt: 0, leaseUntil: 0, expiresAt: 0, fingerprint, alias };
}

/**
 * Returns a row that was lost or has expired, recreated for an owner. The number of its attempts is no longer known.
 */
export function lostEntry(owner: Seen & { token: string; fence: number }, lastFence = 0): Entry {
  return { ...newEntry(owner), token: owner.token, fence: Math.max(owner.fence, lastFence), attempt: 1 };
}

/** Claims a row. `fence` is for a new owner. */
export function claimEntry(entry: Entry, request: ClaimRequest, time: number, fence: number): ClaimResult {
  const { state, fingerprint, alias } = entry;
  const seen: Seen = { fingerprint, alias };
  if (state === 'completed') return { status: state, fence: entry.fence, seen };
  if (entry.token !== request.token) {
    const retryAfterMs = entry.leaseUntil - time;
    if (retryAfterMs > 0) return { status: 'in_progress', fence: entry.fence, retryAfterMs, seen };
    entry.fence = fence;
    entry.attempt += 1;
  }
  entry.state = 'in_progress';
  entry.token = request.token;
  entry.leaseUntil = time + request.leaseMs;
  entry.expiresAt = time + request.retainMs;
  return { status: 'acquired', fence: entry.fence, attempt: entry.attempt, seen };
}

export function extendEntry(entry: Entry | undefined, token: string, leaseMs: number, time: number): Mutation {
  if (entry?.token !== token || entry.state === 'completed') return 'lost';
  entry.leaseUntil = time + leaseMs;
  entry.expiresAt = Math.max(entry.expiresAt, entry.leaseUntil);
  return 'ok';
}

export function completeEntry(entry: Entry, token: string, retainMs: number, time: number): Mutation {
  if (entry.token !== token) return 'lost';
  entry.state = 'completed';
  entry.leaseUntil = 0;
  entry.expiresAt = time + retainMs;
  return 'ok';
}

export function releaseEntry(entry: Entry | undefined, token: string): Mutation {
  if (!entry || entry.state === 'released') return 'ok';
  if (entry.token !== token || entry.state === 'completed') return 'lost';
  entry.state = 'released';
  entry.token = '';
  entry.leaseUntil = 0;
  return 'ok';
}

export function recordOf({ token: _, leaseUntil, expiresAt, ...rest }: Entry, time: number): DedupeRecord {
  const leaseMsLeft = leaseUntil ? leaseUntil - time : undefined;
  return { ...rest, leaseMsLeft, retainMsLeft: expiresAt - time };
}
