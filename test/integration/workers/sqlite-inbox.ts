import { sqliteInbox } from '../../../src/stores/sqlite.js';
import { sampleEvent } from '../../../src/testing/sample-event.js';
import { clientOf, type Driver, openSqlite } from '../sqlite.js';
import { input, say } from './messages.js';

// Says how many effects are there, and what an inbox makes of the same event now.
const { driver, file, key } = input<{ driver: Driver; file: string; key: string }>();
const handle = openSqlite(driver, file);
const inbox = sqliteInbox(clientOf(driver, handle), { name: 'default' });
await inbox.init();
const { effects } = handle.prepare('SELECT count(*) AS effects FROM clips').get() as { effects: number };
const event = sampleEvent('stt.completed', { id: key });
say({ effects, next: inbox.once({ event }, () => {}).status });
