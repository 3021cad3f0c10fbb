import type { JobRecord } from 'service-webhooks';
import { must } from '../../define-suite.js';
import {
  farTime,
  inShort,
  isSame,
  jobCase,
  justBefore,
  keysOf,
  mustRead,
  mustWrite,
  type Open,
  placeOf,
} from '../job-trial.js';
import { LONG, SHORT, type StoreTrialCase } from '../trial.js';
import { withClock } from '../with-clock.js';

/** Cases about the lists and the counts of open records of jobs. */
export const jobLists: readonly StoreTrialCase[] = [
  jobCase({
    name: 'open records are listed by their dueAt and then by their keys, a page at a time',
    rules: ['R16'],
    async run({ one, two, open, ended, newKey }) {
      const base = farTime();
      const prefix = newKey();
      const places = [
        ...['B', 'a', 'b', '-', 'a!'].map((suffix) => ({ key: prefix + suffix, dueAt: base })),
        { key: `${prefix}z`, dueAt: base - 1 },
        { key: `${prefix}A`, dueAt: base + 10 },
        { key: `${prefix}C`, dueAt: base + 2 },
      ];
      const records = places.map((place) => open(place));
      for (const record of records) await mustWrite(one, record);
      await mustWrite(one, ended());
      const order = ['z', '-', 'B', 'a', 'a!', 'b', 'C', 'A'];
      const keys = order.map((suffix) => prefix + suffix);
      const start = { dueAt: base - 1, key: '' };
      const all = await two.list({ limit: 8, overdue: false, after: start });
      must(isSame(keysOf(all), keys), `in the order ${order}`, keysOf(all));
      const complete = all.every((one) => records.some((record) => isSame(one, record)));
      must(complete, 'each with its version, text and dueAt', all);
      for (const limit of [1, 2, 3]) {
        const found: JobRecord[] = [];
        for (let after: { dueAt: number; key: string } = start; found.length < keys.length; ) {
          const page = await two.list({ limit, overdue: false, after });
          const want = keys.slice(found.length, found.length + limit);
          const got = keysOf(page).slice(0, want.length);
          must(page.length <= limit && isSame(got, want), `a page of ${limit}`, keysOf(page));
          found.push(...page.slice(0, want.length));
          after = placeOf(found.at(-1));
        }
      }
      const [nine, ten] = [open({ dueAt: 9 }), open({ dueAt: 10 })];
      for (const record of [ten, nine]) await mustWrite(one, record);
      const small = keysOf(await two.list({ limit: 2, overdue: false, after: { dueAt: 8, key: '' } }));
      must(isSame(small, [nine.key, ten.key]), 'in the order of numbers', small);
      const between = await two.list({ limit: 2, overdue: false, after: { dueAt: base, key: `${prefix}a ` } });
      must(isSame(keysOf(between), keys.slice(4, 6)), 'those after a place without a record', keysOf(between));
    },
  }),
  jobCase({
    name: 'a list has a record at its latest dueAt only, and none that is no longer open or was removed',
    rules: ['R16'],
    async run({ one, two, open, ended }) {
      const base = farTime();
      const [moved, closed, removed, kept] = four((nth) => open({ dueAt: base + nth }));
      const keys = [moved, closed, removed, kept].map(({ key }) => key);
      for (const record of [moved, closed, removed, kept]) await mustWrite(one, record);
      await mustWrite(one, open({ key: moved.key, dueAt: base + 9 }), moved.version);
      await mustWrite(one, ended({ key: closed.key }), closed.version);
      await one.remove(removed.key);
      const listed = await two.list({ limit: 4, overdue: false, after: { dueAt: base, key: '' } });
      const found = keysOf(listed).filter((key) => keys.includes(key));
      must(isSame(found, [kept.key, moved.key]), 'the kept record, and then the moved record', found);
      await mustRead(two, removed.key, undefined);
      await mustWrite(two, open({ key: removed.key }));
      await one.remove(crypto.randomUUID());
    },
  }),
  jobCase({
    name: 'a list without a place begins with the first open record',
    rules: ['R16'],
    async run({ one, two, open }) {
      const first = open({ dueAt: 0 });
      await mustWrite(one, first);
      const listed = await two.list({ limit: 1, overdue: false });
      must(listed.length === 1 && listed[0]?.dueAt === 0, 'a record that is due at 0', inShort(listed[0]));
      const overdue = await two.list({ limit: 1, overdue: true });
      must(overdue.length === 1 && overdue[0]?.dueAt === 0, 'a record that is overdue since 0', inShort(overdue[0]));
      const { firstDueAt } = await two.count();
      must(firstDueAt === 0, 'a firstDueAt of 0', firstDueAt);
    },
  }),
  jobCase({
    name: 'a record is overdue from its dueAt on, by the clock of the store',
    rules: ['R16', 'R11'],
    async run({ one, two, open, elapse }) {
      const { now } = await one.read(crypto.randomUUID());
      const [past, soon, later] = [now, now + SHORT, now + LONG].map((dueAt) => open({ dueAt })) as [Open, Open, Open];
      for (const record of [later, soon, past]) await mustWrite(one, record);
      const after = { dueAt: now - LONG, key: '' };
      const overdue = async () => keysOf(await two.list({ limit: 100, overdue: true, after }));
      const before = await overdue();
      must(before.includes(past.key) && !before.includes(later.key), 'only what is due now', before);
      await elapse(SHORT);
      const since = await overdue();
      const [first, second] = since.filter((key) => [past, soon, later].some((record) => record.key === key));
      must(first === past.key && second === soon.key && !since.includes(later.key), 'both that are due', since);
      const page = keysOf(await two.list({ limit: 1, overdue: true, after }));
      must(isSame(page, since.slice(0, 1)), 'a page of those that are overdue', page);
    },
  }),
  jobCase({
    name: 'the clock of the receiver does not decide what is overdue or has expired',
    rules: ['R16', 'R15'],
    skip: ({ advance, clockSkewMs }) =>
      advance
        ? 'its clock is moved by advance'
        : clockSkewMs === undefined
          ? undefined
          : 'goes by the clocks of clients',
    async run({ one, two, open, ended, store }) {
      if (store.scope === 'process') return; // its clock is that of the receiver
      const { now } = await one.read(crypto.randomUUID());
      const [past, later] = [open({ dueAt: now }), open({ dueAt: now + 5 * LONG })];
      const kept = ended({ keepMs: 5 * LONG });
      for (const record of [past, later, kept]) await mustWrite(one, record);
      for (const offset of [-10 * LONG, 10 * LONG]) {
        await withClock(offset, async () => {
          const overdue = keysOf(await two.list({ limit: 100, overdue: true, after: justBefore(past) }));
          const isRight = overdue.includes(past.key) && !overdue.includes(later.key);
          must(isRight, `only what is due, for a clock ${offset} ms apart`, overdue);
          await mustRead(two, kept.key, kept);
          const read = await two.read(past.key);
          must(Math.abs(read.now - now) < 5 * LONG, `the time of the server, for a clock ${offset} ms apart`, read.now);
        });
      }
    },
  }),
  jobCase({
    name: 'a count has the open and the overdue records, and the first dueAt',
    rules: ['R16'],
    async run({ one, two, open, ended }) {
      const before = await two.count();
      must(Number.isInteger(before.now) && before.now > 0, 'the time of the server', before);
      const { now } = await one.read(crypto.randomUUID());
      must(now >= before.now && now < before.now + LONG, 'the same clock as a read', [before.now, now]);
      const mustCount = async (open: number, overdue: number) => {
        const { open: allOpen, overdue: allOverdue } = await two.count();
        const found = [allOpen - before.open, allOverdue - before.overdue];
        must(isSame(found, [open, overdue]), `${open} more open records, ${overdue} of them overdue`, found);
      };
      const records = [now, now - 1, now + LONG].map((dueAt) => open({ dueAt })) as [Open, Open, Open];
      for (const record of [...records, ended()]) await mustWrite(one, record);
      await mustCount(3, 2);
      const { firstDueAt } = await two.count();
      must(firstDueAt === Math.min(before.firstDueAt ?? now, now - 1), 'the first dueAt', firstDueAt);
      await mustWrite(one, open({ key: records[0].key, dueAt: now + LONG }), records[0].version);
      await mustCount(3, 1);
      await mustWrite(one, ended({ key: records[1].key }), records[1].version);
      await mustCount(2, 0);
      for (const { key } of records) await two.remove(key);
      await mustCount(0, 0);
      const after = await two.count();
      must(after.firstDueAt === before.firstDueAt, 'the first dueAt as before', after);
    },
  }),
];

function four<T>(make: (nth: number) => T): [T, T, T, T] {
  return [make(0), make(1), make(2), make(3)];
}
