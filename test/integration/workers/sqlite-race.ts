import { sqliteStore } from '../../../src/stores/sqlite.js';
import { clientOf, type Driver, openSqlite } from '../sqlite.js';
import { input, say, wait } from './messages.js';

// Claims every key, and says which of them it got.
const { driver, file, keys } = input<{ driver: Driver; file: string; keys: number }>();
const store = sqliteStore(clientOf(driver, openSqlite(driver, file)));
await untilAnswered(async () => store.init?.());
say('ready');
await wait();
const won: number[] = [];
for (let key = 0; key < keys; key += 1) {
  const request = {
    key: `race:${key}`,
    token: crypto.randomUUID(),
    fingerprint: 'f',
    leaseMs: 60_000,
    retainMs: 60_000,
  };
  if ((await untilAnswered(() => store.claim(request))).status === 'acquired') won.push(key);
}
say(won);

/** On a busy machine another process may have the lock for longer than a call waits: it is made again. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch {
    return untilAnswered(call);
  }
}
