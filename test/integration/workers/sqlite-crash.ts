import { sqliteInbox, sqliteStore } from '../../../src/stores/sqlite.js';
import { sampleEvent } from '../../../src/testing/sample-event.js';
import { clientOf, type Driver, openSqlite } from '../sqlite.js';
import { input, say } from './messages.js';

type At = 'claimed' | 'completed' | 'before commit' | 'after commit';

// Dies at the given point as a process dies of kill -9: no handler runs, nothing is closed.
const { driver, file, at, key } = input<{ driver: Driver; file: string; at: At; key: string }>();
const handle = openSqlite(driver, file);
const client = clientOf(driver, handle);

if (at === 'claimed' || at === 'completed') {
  const store = sqliteStore(client);
  await store.init?.();
  const request = { key, token: 'owner', fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 };
  const claim = await store.claim(request);
  if (at === 'completed') await store.complete({ ...request, fence: claim.fence }, request);
} else {
  const inbox = sqliteInbox(client, { name: 'default' });
  await inbox.init();
  handle.exec('CREATE TABLE IF NOT EXISTS clips (id TEXT)');
  const event = sampleEvent('stt.completed', { id: key });
  inbox.once({ event }, () => {
    handle.prepare('INSERT INTO clips VALUES (?)').run(key);
    if (at === 'before commit') die();
  });
}
die();

function die(): void {
  say(at);
  process.kill(process.pid, 'SIGKILL');
}
