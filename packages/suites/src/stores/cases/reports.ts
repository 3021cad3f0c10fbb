import type { HealthReport } from 'service-webhooks';
import { must } from '../../define-suite.js';
import { LONG, needsMethod, SHORT, type StoreTrialCase } from '../trial.js';

/** Cases about the reports of receivers. */
export const reports: readonly StoreTrialCase[] = [
  {
    name: 'a report is kept as it came, in place of the last one of its receiver',
    rules: ['R13'],
    skip: needsMethod('saveReport'),
    async run({ store, store2 }) {
      const name = newName();
      const none = await store.loadReports?.(name);
      must(none?.length === 0, 'no report of a new name', { none });
      const awkward = '{ "text": "\'\u00e9\\n\\u0000;\\"" }';
      await store.saveReport?.(report(name, 'a', '{"first":1}'));
      await store2.saveReport?.(report(name, 'b', awkward));
      await store2.saveReport?.(report(name, 'a', '123'));
      await store.saveReport?.(report(`${name}-2`, 'a', '{}'));
      for (const one of [store, store2]) {
        const found = [...((await one.loadReports?.(name)) ?? [])].sort();
        must(JSON.stringify(found) === JSON.stringify(['123', awkward].sort()), 'the last one of each receiver', {
          found,
        });
      }
    },
  },
  {
    name: 'a report is gone when its time is over, and a new one of its receiver is there again',
    rules: ['R13', 'R11'],
    skip: needsMethod('saveReport'),
    async run({ store, store2, elapse }) {
      const name = newName();
      await store.saveReport?.(report(name, 'short', '"short"', SHORT));
      await store.saveReport?.(report(name, 'long', '"long"'));
      await elapse(SHORT);
      const left = await store2.loadReports?.(name);
      must(JSON.stringify(left) === '["\\"long\\""]', 'only what is not over', { left });
      await store.saveReport?.(report(name, 'short', '"again"'));
      const both = await store2.loadReports?.(name);
      must(both?.length === 2 && both.includes('"again"'), 'both receivers again', { both });
    },
  },
  {
    name: 'a report touches no event, and a purge removes no report whose time is not over',
    rules: ['R13', 'R9'],
    skip: needsMethod('saveReport'),
    async run({ store, store2, request, acquire, options }) {
      const name = newName();
      const first = request({ key: `${name}:evt_1` });
      const { ref } = await acquire(first);
      await store.saveReport?.(report(name, 'evt_1', '"report"'));
      if (!options.without?.includes('purgeExpired')) await store2.purgeExpired?.({ limit: 100 });
      const kept = await store2.loadReports?.(name);
      must(kept?.length === 1, 'the report is still there', { kept });
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'the owner completes', completed);
      const result = await store2.claim({ ...first, token: crypto.randomUUID() });
      must(result.status === 'completed', 'completed', result);
      const after = await store2.loadReports?.(name);
      must(after?.length === 1 && after[0] === '"report"', 'nothing but the report', { after });
    },
  },
  {
    name: 'of more than 1,000 receivers of an endpoint, the newest 1,000 reports are returned',
    rules: ['R13'],
    skip: needsMethod('saveReport'),
    async run({ store, store2 }) {
      const name = newName();
      const save = (instance: string, ttlMs?: number) =>
        store.saveReport?.(report(name, instance, JSON.stringify(instance), ttlMs));
      await save('renewed', LONG / 2);
      await save('oldest', LONG / 2);
      await save('renewed');
      const others = Array.from({ length: KEPT - 1 }, (_, nth) => `receiver ${nth}`);
      while (others.length > 0) await Promise.all(others.splice(0, AT_ONCE).map((instance) => save(instance)));
      const found = new Set(await store2.loadReports?.(name));
      must(found.size === KEPT, '1,000 reports', { size: found.size });
      must(found.has('"renewed"') && !found.has('"oldest"'), 'the newest ones', { size: found.size });
    },
  },
];

/** How many reports of an endpoint a store keeps, as `loadReports` of the contract says. */
const KEPT = 1_000;

/** How many reports are saved at the same time. */
const AT_ONCE = 50;

function newName(): string {
  return `suite-${crypto.randomUUID()}`;
}

function report(name: string, instance: string, text: string, ttlMs = LONG): HealthReport {
  return { name, instance, text, ttlMs };
}
