import { rmSync } from 'node:fs';
import { storeSuite } from 'service-webhooks-suites';
import { sqliteStore } from '../../../src/stores/sqlite.js';
import { clientOf, type Driver, openSqlite } from '../sqlite.js';
import { input, say } from './messages.js';

// Runs the suite without a test runner, in real time.
const { driver, file } = input<{ driver: Driver; file: string }>();
let files = 0;
const cases = storeSuite({
  make() {
    files += 1;
    const path = `${file}-${files}`;
    const handles = [openSqlite(driver, path), openSqlite(driver, path)] as const;
    const [store, store2] = handles.map((handle) => sqliteStore(clientOf(driver, handle)));
    return {
      store: store as NonNullable<typeof store>,
      store2,
      close() {
        for (const handle of handles) handle.close();
        for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      },
    };
  },
  evict: ({ store }, key) => store.forget?.(key),
  rounds: 5,
});
for (const { name, skip, run } of cases) {
  const result = skip === undefined ? await run().then(() => 'passed', String) : 'skipped';
  say({ name, result });
}
say({ node: process.versions.node });
