import { checkPositiveInteger } from '../option-checks.js';
import { checkRecord } from './check-record.js';
import type { JobRecord, JobRecords } from './contract.js';

/** Returns the records of jobs in the memory of this process, by a clock in milliseconds since the epoch. */
export function jobsInMemory(now: () => number): JobRecords {
  const records = new Map<string, { record: JobRecord; expiresAt: number }>();
  const watchers = new Set<(key: string) => void>();

  function find(key: string): JobRecord | undefined {
    const kept = records.get(key);
    return kept && kept.expiresAt > now() ? kept.record : undefined;
  }

  /** Returns the open records in their order. */
  function open(): (JobRecord & { dueAt: number })[] {
    return [...records.values()]
      .map(({ record }) => record as JobRecord & { dueAt: number })
      .filter(({ dueAt }) => dueAt !== undefined)
      .sort(inOrder);
  }

  return {
    async read(key) {
      return { now: now(), record: find(key) };
    },
    async write({ keepMs, ...record }, replaces) {
      checkRecord({ ...record, keepMs });
      const version = find(record.key)?.version;
      if (version === record.version) return true;
      if (version !== replaces) return false;
      records.set(record.key, { record, expiresAt: now() + (keepMs ?? Number.POSITIVE_INFINITY) });
      if (record.dueAt === undefined) for (const changed of watchers) changed(record.key);
      return true;
    },
    async remove(key) {
      records.delete(key);
    },
    async list({ limit, overdue, after }) {
      checkPositiveInteger('limit', limit);
      const wanted = open().filter((one) => !(overdue && one.dueAt > now()) && (!after || inOrder(after, one) < 0));
      return wanted.slice(0, limit);
    },
    async count() {
      const all = open();
      const overdue = all.filter(({ dueAt }) => dueAt <= now()).length;
      return { now: now(), open: all.length, overdue, firstDueAt: all[0]?.dueAt };
    },
    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const expired = [...records].filter(([, { expiresAt }]) => expiresAt <= now()).slice(0, limit);
      for (const [key] of expired) records.delete(key);
      return expired.length;
    },
    async watch(changed) {
      const watcher = (key: string) => changed(key); // one for each call, also where two pass the same function
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

interface Place {
  readonly dueAt: number;
  readonly key: string;
}

function inOrder(a: Place, b: Place): number {
  return a.dueAt - b.dueAt || (a.key < b.key ? -1 : Number(a.key > b.key));
}
