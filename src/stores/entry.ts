import type { ClaimRequest, ClaimResult, DedupeRecord, Mutation, Seen } from './contract.js';

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

/** Of nobody yet; or of an owner whose row is gone, for whom it was the first attempt, for all that is known. */
export function newEntry({ fingerprint, alias }: Seen, token = '', fence = 0): Entry {
  const attempt = token ? 1 : 0;
  return { state: 'released', token, fence, attempt, leaseUntil: 0, expiresAt: 0, fingerprint, alias };
}

export function claimEntry(entry: Entry, request: Omit<ClaimRequest, 'key'>, time: number): ClaimResult {
  const { state, fence, fingerprint, alias } = entry;
  const seen: Seen = { fingerprint, alias };
  if (state === 'completed') return { status: state, fence, seen };
  if (entry.token !== request.token) {
    const retryAfterMs = entry.leaseUntil - time;
    if (retryAfterMs > 0) return { status: 'in_progress', fence, retryAfterMs, seen };
    entry.fence += 1;
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
