import { setImmediate } from 'node:timers/promises';
import type { ClaimResult, DedupeStore } from 'service-webhooks';

interface Row {
  state: 'in_progress' | 'completed' | 'released';
  token: string;
  fence: number;
  attempt: number;
  leaseUntil: number;
  expiresAt: number;
  fingerprint: string;
  alias?: string | undefined;
}

/**
 * Broken on purpose, as dedupe is often written: it looks first and writes afterwards, and whoever looks in between
 * sees the same. Called one after the other it does everything right.
 */
export function getThenSetStore(now: () => number): DedupeStore {
  const rows = new Map<string, Row>();

  async function get(key: string): Promise<Row | undefined> {
    const row = rows.get(key);
    await setImmediate(); // the way back from the server
    return row !== undefined && row.expiresAt > now() ? row : undefined;
  }

  async function set(key: string, row: Row): Promise<void> {
    await setImmediate(); // the way to the server
    rows.set(key, row);
  }

  return {
    scope: 'process',

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      refuseUnlessPositive(leaseMs, retainMs);
      const row = await get(key);
      const seen = row === undefined ? { fingerprint, alias } : { fingerprint: row.fingerprint, alias: row.alias };
      if (row?.state === 'completed') return { status: 'completed', fence: row.fence, seen };
      const ours = row?.state === 'in_progress' && row.token === token;
      const left = row?.state === 'in_progress' && !ours ? row.leaseUntil - now() : 0;
      if (row !== undefined && left > 0) return { status: 'in_progress', fence: row.fence, retryAfterMs: left, seen };
      const fence = ours ? (row?.fence ?? 0) : Math.max((row?.fence ?? 0) + 1, now() * 1_000);
      const attempt = (row?.attempt ?? 0) + (ours ? 0 : 1);
      const [leaseUntil, expiresAt] = [now() + leaseMs, now() + retainMs];
      await set(key, { state: 'in_progress', token, fence, attempt, leaseUntil, expiresAt, ...seen });
      return { status: 'acquired', fence, attempt, seen };
    },

    async extend({ key, token }, { leaseMs }) {
      refuseUnlessPositive(leaseMs);
      const row = await get(key);
      if (row?.state !== 'in_progress' || row.token !== token) return 'lost';
      const leaseUntil = now() + leaseMs;
      await set(key, { ...row, leaseUntil, expiresAt: Math.max(row.expiresAt, leaseUntil) });
      return 'ok';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }) {
      refuseUnlessPositive(retainMs);
      const row = await get(key);
      if (row !== undefined && (row.state === 'released' || row.token !== token)) return 'lost';
      const known = { fence, attempt: 1, fingerprint, alias, ...row };
      await set(key, { ...known, state: 'completed', token, leaseUntil: 0, expiresAt: now() + retainMs });
      return 'ok';
    },

    async release({ key, token }) {
      const row = await get(key);
      if (row === undefined || row.state === 'released') return 'ok';
      if (row.state === 'completed' || row.token !== token) return 'lost';
      await set(key, { ...row, state: 'released' });
      return 'ok';
    },

    async forget(key) {
      rows.delete(key);
    },
  };
}

function refuseUnlessPositive(...durations: readonly number[]): void {
  if (!durations.every((ms) => Number.isSafeInteger(ms) && ms > 0)) throw new RangeError(`durations ${durations}`);
}
