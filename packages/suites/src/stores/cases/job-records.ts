import { must } from '../../define-suite.js';
import { until } from '../../waiting.js';
import { inShort, isSame, jobCase, justBefore, mustRead, mustRefuse, mustStay, mustWrite } from '../job-trial.js';
import { inTime, LONG, SHORT, type StoreTrialCase } from '../trial.js';

/** Cases about how long and how exactly the records of jobs are kept, and about their watchers. */
export const jobRecords: readonly StoreTrialCase[] = [
  jobCase({
    name: 'a record is read as it was written, over each client, and an absent one is undefined',
    rules: ['R15'],
    async run({ one, two, open, ended }) {
      for (const record of [open({ dueAt: 0 }), open({ dueAt: Number.MAX_SAFE_INTEGER }), ended()]) {
        await mustRead(two, record.key, undefined);
        await mustWrite(one, record);
        await mustRead(one, record.key, record);
        await mustRead(two, record.key, record);
      }
    },
  }),
  jobCase({
    name: 'a text of any length and with any characters is kept as it came',
    rules: ['R15'],
    async run({ one, two, open, ended }) {
      for (const text of awkwardTexts()) {
        for (const record of [open({ text }), ended({ text })]) {
          await mustWrite(one, record);
          await mustRead(two, record.key, record);
          if (record.dueAt === undefined) continue;
          const [listed] = await two.list({ limit: 1, overdue: false, after: justBefore(record) });
          must(isSame(listed, record), `the listed text of ${text.length} characters`, inShort(listed));
        }
      }
    },
  }),
  jobCase({
    name: 'records whose keys differ in case, in the last byte or in special characters are different records',
    rules: ['R15', 'R7'],
    async run({ one, two, open, newKey }) {
      const key = newKey();
      const longest = key.padEnd(199, '-');
      const suffixes = ['', 'a', 'A', ':', '{a}', '}', '%', '_', "'", '"', '\\', '*', '$1', ';--', '\u007e'];
      const keys = [...suffixes.map((suffix) => key + suffix), `${longest}a`, `${longest}b`];
      const records = keys.map((one) => open({ key: one }));
      for (const record of records) await mustWrite(one, record);
      for (const record of records) await mustRead(two, record.key, record);
    },
  }),
  jobCase({
    name: 'a record without a dueAt is absent after its keepMs, and an open one stays',
    rules: ['R15', 'R11'],
    async run({ one, two, open, ended, elapse }) {
      const [brief, long, still] = [ended({ keepMs: SHORT }), ended({ keepMs: LONG }), open({ dueAt: 1 })];
      for (const record of [brief, long, still]) await mustWrite(one, record);
      let reopened = open();
      const soon = await inTime('a record is opened again', async (ms) => {
        reopened = open();
        const closed = ended({ key: reopened.key, keepMs: ms });
        await mustWrite(one, closed);
        return one.write(reopened, closed.version);
      });
      await elapse(soon);
      await mustRead(two, brief.key, undefined);
      for (const record of [long, still, reopened]) await mustStay(two, record);
      await mustRefuse(two, open({ key: brief.key }), brief.version);
      const next = open({ key: brief.key });
      await mustWrite(two, next);
      await mustRead(one, brief.key, next);
    },
  }),
  jobCase({
    name: 'a purge removes records that have expired, no more than the limit, and no others',
    rules: ['R15', 'R11'],
    async run({ one, two, open, ended, elapse, options }) {
      const kept = [open({ dueAt: 1 }), open(), ended({ keepMs: LONG })];
      for (const record of kept) await mustWrite(one, record);
      for (let i = 0; i < 5; i += 1) await mustWrite(one, ended({ keepMs: SHORT }));
      await elapse(SHORT);
      let total = 0;
      for (let purged = 1; purged > 0; total += purged) {
        const answers = await Promise.all([one, two].map((by) => by.purgeExpired({ limit: 2 })));
        must(
          answers.every((count) => count <= 2),
          'at most as many records as the limit says',
          answers,
        );
        purged = answers.reduce((sum, count) => sum + count, 0);
      }
      must(total >= 5 || options.expiresByItself === true, 'all records that have expired', total);
      for (const record of kept) await mustStay(two, record);
    },
  }),
  jobCase({
    name: 'init may be called again and by several clients at once, and keeps the records',
    rules: ['R15'],
    async run({ one, two, open }) {
      const record = open();
      await mustWrite(one, record);
      await Promise.all([one, two, one, two].map((by) => by.init?.()));
      await mustRead(two, record.key, record);
    },
  }),
  jobCase({
    name: 'a watcher is called when another client writes a record that is not open, until it ends',
    rules: ['R17'],
    async run({ two, open, ended, watch }) {
      const [woken, silent]: [string[], string[]] = [[], []];
      const end = await watch(woken);
      if (end === undefined) return; // this client cannot notify, and its callers poll
      (await watch(silent))?.();
      const record = ended();
      const isWoken = (key: string) => until(PATIENCE_MS, 'a watcher is called', () => woken.includes(key));
      await mustWrite(two, record);
      await isWoken(record.key);
      const stillOpen = open();
      await mustWrite(two, stillOpen);
      await mustRefuse(two, ended({ key: stillOpen.key }), undefined);
      const closed = ended();
      const opened = open({ key: closed.key });
      await mustWrite(two, opened);
      await mustWrite(two, closed, opened.version);
      await isWoken(closed.key);
      must(!woken.includes(stillOpen.key), 'no call for a record that stays open', woken);
      must(silent.length === 0, 'no call after the end', silent);
      end();
      await mustWrite(two, ended());
      const other: string[] = [];
      await watch(other);
      const last = ended();
      await mustWrite(two, last);
      await until(PATIENCE_MS, 'a second watcher is called', () => other.includes(last.key));
      must(!woken.includes(last.key), 'no call after the end', woken);
    },
  }),
];

/** Long enough for a notification on a busy machine. */
const PATIENCE_MS = 10_000;

function awkwardTexts(): string[] {
  const values = [
    { 'é €': ['😀', '\u2028\u2029\ufeff\u007f', 'line\r\n\ttab', '\u001e\u0000\u0001\u001f', '\ud800 \udc00'] },
    { sql: `'; DROP TABLE x; --\\'" $1 ? :name @x %s {0} $$` },
    'x'.repeat(1_000_000),
    `${'é😀"\\'.repeat(40_000)}`,
  ];
  const texts = values.map((value) => JSON.stringify(value));
  return [...texts, '123', '"123"', 'null', '[]', '{}', ' { "a" :\n\t1 }\r\n ', '1e5', '"\\u0000\\u001E\\ud83d"', '""'];
}
