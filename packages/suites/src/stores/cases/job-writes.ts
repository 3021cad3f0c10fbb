import type { JobRecord } from 'service-webhooks';
import { must } from '../../define-suite.js';
import { inShort, isSame, jobCase, justBefore, mustRead, mustRefuse, mustWrite } from '../job-trial.js';
import { LONG, type StoreTrialCase } from '../trial.js';

/** Cases about the writes of records of jobs. */
export const jobWrites: readonly StoreTrialCase[] = [
  jobCase({
    name: 'a write that replaces the stored version is stored, and one that is sent again succeeds again',
    rules: ['R14'],
    async run({ one, two, open, ended }) {
      const first = open();
      await mustWrite(one, first);
      await mustWrite(two, first);
      const second = open({ key: first.key, dueAt: first.dueAt + 1 });
      await mustWrite(two, second, first.version);
      await mustWrite(one, second, first.version);
      const last = ended({ key: first.key });
      await mustWrite(one, last, second.version);
      await mustWrite(two, last, second.version);
      await mustRead(two, last.key, last);
      const reopened = open({ key: first.key });
      await mustWrite(two, reopened, last.version);
      await mustRead(one, last.key, reopened);
    },
  }),
  jobCase({
    name: 'a write that replaces another version, or none where there is one, is refused and changes nothing',
    rules: ['R14'],
    async run({ one, two, open, ended }) {
      for (const stored of [open(), ended()]) {
        await mustWrite(one, stored);
        for (const replaces of [undefined, crypto.randomUUID(), stored.version.slice(0, -1)]) {
          for (const record of [open({ key: stored.key }), ended({ key: stored.key })]) {
            await mustRefuse(two, record, replaces);
            await mustRead(one, stored.key, stored);
          }
        }
        const listed = await two.list({ limit: 1, overdue: false, after: justBefore(stored) });
        must(
          stored.dueAt === undefined || isSame(listed[0], stored),
          'the record is listed as before',
          inShort(listed[0]),
        );
      }
      const absent = open();
      await mustRefuse(two, absent, crypto.randomUUID());
      await mustRead(one, absent.key, undefined);
    },
  }),
  jobCase({
    name: 'a write that was replaced is refused when it is sent again',
    rules: ['R14'],
    async run({ one, two, open }) {
      const first = open();
      const second = open({ key: first.key });
      await mustWrite(one, first);
      await mustWrite(two, second, first.version);
      await mustRefuse(one, first, undefined);
      await mustRead(one, first.key, second);
    },
  }),
  jobCase({
    name: 'exactly one of the simultaneous writes that replace the same version is stored',
    rules: ['R14'],
    async run({ one, two, open, ended, rounds }) {
      for (let round = 0; round < rounds; round += 1) {
        for (const last of [open(), ended(), undefined]) {
          const { key } = last ?? open();
          if (last) await mustWrite(one, last);
          const rivals = [open({ key }), ended({ key }), open({ key }), ended({ key })];
          const answers = await Promise.all(
            rivals.map((rival, i) => (i % 2 === round % 2 ? one : two).write(rival, last?.version)),
          );
          must(answers.filter(Boolean).length === 1, 'exactly one is stored', answers);
          await mustRead(two, key, rivals[answers.indexOf(true)]);
        }
      }
    },
  }),
  jobCase({
    name: 'simultaneous writes of the same record all succeed',
    rules: ['R14'],
    async run({ one, two, open, ended, rounds }) {
      for (let round = 0; round < rounds; round += 1) {
        const first = open();
        const second = ended({ key: first.key });
        for (const [record, replaces] of [[first, undefined] as const, [second, first.version] as const]) {
          const answers = await Promise.all([one, two, one, two].map((by) => by.write(record, replaces)));
          must(answers.every(Boolean), 'all succeed', answers);
        }
      }
    },
  }),
  jobCase({
    name: 'times that are not positive integers, and a record with both or neither of them, are refused',
    rules: ['R10'],
    async run({ one, open, ended }) {
      const wrong = [
        ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((keepMs) => ended({ keepMs })),
        ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((dueAt) => open({ dueAt })),
        { ...open(), keepMs: LONG },
        { ...open(), dueAt: undefined },
      ];
      for (const record of wrong) {
        const times = `dueAt ${record.dueAt} and keepMs ${record.keepMs}`;
        const refused = await one.write(record as JobRecord, undefined).then(
          () => 'written',
          () => 'refused',
        );
        must(refused === 'refused', `a record is refused: ${times}`, refused);
        await mustRead(one, record.key, undefined);
      }
    },
  }),
];
