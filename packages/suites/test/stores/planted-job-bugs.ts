import { setImmediate } from 'node:timers/promises';
import type { JobCounts, JobPage, JobRecord, JobRecords } from 'service-webhooks';
import type { Plant } from './planted-bugs.js';

type Jobs = Required<JobRecords>;

/** Makes the records of jobs of a right store wrong in one way. */
const plant = (change: (jobs: Jobs, now: () => number) => Partial<JobRecords>): Plant => {
  return (store, now) => ({ jobs: { ...store.jobs, ...change(store.jobs as Jobs, now) } });
};

/** Changes what is written. */
const writes = (change: (record: JobRecord) => Partial<JobRecord>) =>
  plant((jobs) => ({ write: (record, replaces) => jobs.write({ ...record, ...change(record) }, replaces) }));

/** Changes what a write is answered. */
const answers = (change: (written: boolean, record: JobRecord) => boolean) =>
  plant((jobs) => ({ write: async (record, replaces) => change(await jobs.write(record, replaces), record) }));

/** Changes what is read. */
const reads = (change: (record: JobRecord | undefined, key: string) => JobRecord | undefined) =>
  plant((jobs) => ({
    async read(key) {
      const { now, record } = await jobs.read(key);
      return { now, record: change(record, key) };
    },
  }));

/** Changes what is listed. */
const lists = (change: (records: JobRecord[], page: JobPage) => JobRecord[]) =>
  plant((jobs) => ({ list: async (page) => change(await jobs.list(page), page) }));

const counts = (change: (counts: JobCounts) => Partial<JobCounts>) =>
  plant((jobs) => ({
    async count() {
      const counted = await jobs.count();
      return { ...counted, ...change(counted) };
    },
  }));

const READ = 'a record is read as it was written, over each client, and an absent one is undefined';
const TEXTS = 'a text of any length and with any characters is kept as it came';
const KEYS = 'records whose keys differ in case, in the last byte or in special characters are different records';
const REPLACED = 'a write that replaces the stored version is stored, and one that is sent again succeeds again';
const REFUSED = 'a write that replaces another version, or none where there is one, is refused and changes nothing';
const OUTDATED = 'a write that was replaced is refused when it is sent again';
const RACE = 'exactly one of the simultaneous writes that replace the same version is stored';
const TIMES = 'times that are not positive integers, and a record with both or neither of them, are refused';
const EXPIRY = 'a record without a dueAt is absent after its keepMs, and an open one stays';
const PURGE = 'a purge removes records that have expired, no more than the limit, and no others';
const ORDER = 'open records are listed by their dueAt and then by their keys, a page at a time';
const LATEST = 'a list has a record at its latest dueAt only, and none that is no longer open or was removed';
const FIRST = 'a list without a place begins with the first open record';
const OVERDUE = 'a record is overdue from its dueAt on, by the clock of the store';
const COUNT = 'a count has the open and the overdue records, and the first dueAt';
const WATCH = 'a watcher is called when another client writes a record that is not open, until it ends';

/** Bugs of the records of jobs, one each, with the case or cases of the suite that must catch it. */
export const PLANTED_JOB_BUGS: Readonly<Record<string, { plant: Plant; caughtBy: string | readonly string[] }>> = {
  'writes a record of a job in place of any version': {
    plant: plant((jobs) => ({
      async write(record) {
        const { record: stored } = await jobs.read(record.key);
        return jobs.write(record, stored?.version);
      },
    })),
    caughtBy: [REFUSED, OUTDATED],
  },
  'looks at the version of a record first and writes it afterwards': {
    plant: plant((jobs) => ({
      async write(record, replaces) {
        const { record: stored } = await jobs.read(record.key);
        await setImmediate(); // the way back from the server
        if (stored?.version === record.version) return true;
        if (stored?.version !== replaces) return false;
        await jobs.remove(record.key);
        return jobs.write(record, undefined);
      },
    })),
    caughtBy: RACE,
  },
  'refuses a write of a record that is sent again': {
    plant: plant((jobs) => {
      const versions = new Set<string>();
      return {
        async write(record, replaces) {
          const written = !versions.has(record.version) && (await jobs.write(record, replaces));
          if (written) versions.add(record.version);
          return written;
        },
      };
    }),
    caughtBy: REPLACED,
  },
  'writes a record, and says that it is refused': { plant: answers(() => false), caughtBy: [READ, RACE, COUNT] },
  'refuses a record, and says that it is written': { plant: answers(() => true), caughtBy: [REFUSED, OUTDATED] },
  'remembers that a record was written after it was replaced': {
    plant: (() => {
      const written = new Set<string>();
      return answers((isWritten, { version }) => {
        if (isWritten) written.add(version);
        return written.has(version);
      });
    })(),
    caughtBy: OUTDATED,
  },
  'takes any time of a record': {
    plant: writes(({ dueAt, keepMs }) =>
      dueAt === undefined ? { keepMs: tame(keepMs) } : { dueAt: tame(dueAt), keepMs: undefined },
    ),
    caughtBy: TIMES,
  },
  'writes the text of a record again': {
    plant: writes(({ text }) => ({ text: JSON.stringify(JSON.parse(text)) })),
    caughtBy: TEXTS,
  },
  'cuts the text of a record': { plant: writes(({ text }) => ({ text: text.slice(0, 65_536) })), caughtBy: TEXTS },
  'takes keys of records for the same that differ in case': {
    plant: plant((jobs) => ({
      read: (key) => jobs.read(key.toLowerCase()),
      write: (record, replaces) => jobs.write({ ...record, key: record.key.toLowerCase() }, replaces),
    })),
    caughtBy: KEYS,
  },
  'cuts the keys of records': {
    plant: plant((jobs) => ({
      read: (key) => jobs.read(key.slice(0, 199)),
      write: (record, replaces) => jobs.write({ ...record, key: record.key.slice(0, 199) }, replaces),
    })),
    caughtBy: KEYS,
  },
  'keeps times in 32 bits': {
    plant: writes(({ dueAt }) => (dueAt === undefined ? {} : { dueAt: dueAt % 2 ** 32 })),
    caughtBy: [READ, ORDER],
  },
  'reads no record': { plant: reads(() => undefined), caughtBy: [READ, EXPIRY] },
  'reads a record where there is none': {
    plant: reads((record, key) => record ?? { key, version: '0', text: 'null' }),
    caughtBy: [READ, EXPIRY],
  },
  'reads a record without the time': {
    plant: plant((jobs) => ({ read: async (key) => ({ ...(await jobs.read(key)), now: Number.NaN }) })),
    caughtBy: READ,
  },
  'keeps a record for longer than its keepMs': {
    plant: writes(({ keepMs }) => (keepMs === undefined ? {} : { keepMs: keepMs * 100 })),
    caughtBy: [EXPIRY, PURGE],
  },
  'opens no record again': {
    plant: plant((jobs) => ({
      async write(record, replaces) {
        const { record: stored } = await jobs.read(record.key);
        const isOpenedAgain = stored !== undefined && stored.dueAt === undefined && record.dueAt !== undefined;
        return !isOpenedAgain && (await jobs.write(record, replaces));
      },
    })),
    caughtBy: EXPIRY,
  },
  'writes no record in place of one that has expired': {
    plant: plant((jobs) => {
      const known = new Set<string>();
      return {
        async write(record, replaces) {
          if (replaces === undefined && known.has(record.key)) return false;
          known.add(record.key);
          return jobs.write(record, replaces);
        },
      };
    }),
    caughtBy: EXPIRY,
  },
  'lets open records expire': {
    plant: plant((jobs, now) => {
      const writtenAt = new Map<string, number>();
      return {
        write(record, replaces) {
          writtenAt.set(record.key, now());
          return jobs.write(record, replaces);
        },
        async read(key) {
          if (now() > (writtenAt.get(key) ?? 0)) await jobs.remove(key);
          return jobs.read(key);
        },
      };
    }),
    caughtBy: [EXPIRY, PURGE],
  },
  'purges more records than the limit': {
    plant: plant((jobs) => ({ purgeExpired: () => jobs.purgeExpired({ limit: Number.MAX_SAFE_INTEGER }) })),
    caughtBy: PURGE,
  },
  'purges no records': { plant: plant(() => ({ purgeExpired: async () => 0 })), caughtBy: PURGE },
  'purges what is overdue': {
    plant: plant((jobs) => ({
      async purgeExpired(options) {
        for (const { key } of await jobs.list({ limit: 100, overdue: true })) await jobs.remove(key);
        return jobs.purgeExpired(options);
      },
    })),
    caughtBy: PURGE,
  },
  'lists no records': { plant: lists(() => []), caughtBy: [TEXTS, REFUSED, ORDER, LATEST, FIRST, OVERDUE] },
  'lists more records than the limit': {
    plant: plant((jobs) => ({ list: (page) => jobs.list({ ...page, limit: 1_000 }) })),
    caughtBy: [ORDER, OVERDUE],
  },
  'lists records without their text': {
    plant: lists((records) => records.map((record) => ({ ...record, text: '' }))),
    caughtBy: [TEXTS, ORDER],
  },
  'lists records in the order of a language': {
    plant: lists((records) =>
      records.toSorted((a, b) => Number(a.dueAt) - Number(b.dueAt) || a.key.localeCompare(b.key, 'en')),
    ),
    caughtBy: ORDER,
  },
  'lists records in the order of dueAt as a text': {
    plant: lists((records) => records.toSorted((a, b) => (String(a.dueAt) < String(b.dueAt) ? -1 : 1))),
    caughtBy: ORDER,
  },
  'lists records with the dueAt of the place again': {
    plant: plant((jobs) => ({
      list: ({ after, ...page }) => jobs.list({ ...page, after: after && { ...after, key: '' } }),
    })),
    caughtBy: ORDER,
  },
  'skips records with the dueAt of the place': {
    plant: plant((jobs) => ({
      list: ({ after, ...page }) => jobs.list({ ...page, after: after && { dueAt: after.dueAt + 1, key: '' } }),
    })),
    caughtBy: ORDER,
  },
  'begins again where the record of the place is gone': {
    plant: plant((jobs) => ({
      async list({ after, ...page }) {
        const isThere = after && (await jobs.read(after.key)).record !== undefined;
        return jobs.list({ ...page, after: isThere ? after : after && { ...after, key: '' } });
      },
    })),
    caughtBy: ORDER,
  },
  'lists a record at its first dueAt': {
    plant: (store, now) => {
      const first = new Map<string, JobRecord>();
      const { jobs } = lists((records) => records.map((record) => first.get(record.key) ?? record))(store, now);
      return {
        jobs: {
          ...(jobs as JobRecords),
          write(record, replaces) {
            if (record.dueAt !== undefined && !first.has(record.key)) first.set(record.key, record);
            return store.jobs.write(record, replaces);
          },
          async list(page) {
            const all = (await jobs?.list({ ...page, limit: 1_000 })) ?? [];
            return all.toSorted((a, b) => Number(a.dueAt) - Number(b.dueAt)).slice(0, page.limit);
          },
        },
      };
    },
    caughtBy: LATEST,
  },
  'removes no record': { plant: plant(() => ({ remove: async () => {} })), caughtBy: [LATEST, COUNT] },
  'lists nothing that is overdue': {
    plant: lists((records, { overdue }) => (overdue ? [] : records)),
    caughtBy: [FIRST, OVERDUE],
  },
  'takes a dueAt of 0 for none': {
    plant: counts(({ firstDueAt }) => ({ firstDueAt: firstDueAt || undefined })),
    caughtBy: FIRST,
  },
  'takes a record for overdue only after its dueAt': {
    plant: plant((jobs, now) => ({
      list: async (page) =>
        (await jobs.list(page)).filter(({ dueAt = 0 }) => !page.overdue || dueAt < Math.floor(now())),
    })),
    caughtBy: OVERDUE,
  },
  'knows what is overdue by the time of the first call': {
    plant: plant((jobs, now) => {
      let first: number | undefined;
      return {
        async list(page) {
          first ??= now();
          const limit = first;
          return (await jobs.list(page)).filter(({ dueAt = 0 }) => !page.overdue || dueAt <= limit);
        },
      };
    }),
    caughtBy: OVERDUE,
  },
  'counts without the time': { plant: counts(() => ({ now: Number.NaN })), caughtBy: COUNT },
  'counts by another clock': { plant: counts(({ now }) => ({ now: now + 3_600_000 })), caughtBy: COUNT },
  'counts no open records': { plant: counts(() => ({ open: 0 })), caughtBy: COUNT },
  'counts all open records as overdue': { plant: counts(({ open }) => ({ overdue: open })), caughtBy: COUNT },
  'counts without the first dueAt': { plant: counts(() => ({ firstDueAt: undefined })), caughtBy: [COUNT, FIRST] },
  'counts a first dueAt that is gone': {
    plant: plant((jobs) => {
      let first: number | undefined;
      return {
        async count() {
          const counted = await jobs.count();
          first ??= counted.firstDueAt;
          return { ...counted, firstDueAt: first };
        },
      };
    }),
    caughtBy: COUNT,
  },
  'calls no watcher': { plant: plant(() => ({ watch: async () => () => {} })), caughtBy: WATCH },
  'calls two watchers and no more': {
    plant: plant((jobs) => {
      let watchers = 0;
      return {
        async watch(changed) {
          watchers += 1;
          return watchers > 2 ? () => {} : jobs.watch(changed);
        },
      };
    }),
    caughtBy: WATCH,
  },
  'calls a watcher for each write': {
    plant: plant((jobs) => {
      const watchers = new Set<(key: string) => void>();
      return {
        async write(record, replaces) {
          const written = await jobs.write(record, replaces);
          for (const changed of watchers) changed(record.key);
          return written;
        },
        async watch(changed) {
          watchers.add(changed);
          return () => watchers.delete(changed);
        },
      };
    }),
    caughtBy: WATCH,
  },
  'calls a watcher after its end': {
    plant: plant((jobs) => ({
      async watch(changed) {
        await jobs.watch(changed);
        return () => {};
      },
    })),
    caughtBy: WATCH,
  },
};

function tame(ms: number | undefined): number {
  return Math.max(1, Math.trunc(Number(ms)) || 1);
}
