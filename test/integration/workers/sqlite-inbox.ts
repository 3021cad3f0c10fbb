import { sqliteInbox } from '../../../src/stores/sqlite.js';
import { clientOf, type Driver, openSqlite } from '../sqlite.js';
import { input, say } from './messages.js';

// Says how many effects are there, and what an inbox makes of the same event now.
const { driver, file, key } = input<{ driver: Driver; file: string; key: string }>();
const handle = openSqlite(driver, file);
const inbox = sqliteInbox(clientOf(driver, handle), { name: 'default' });
await inbox.init();
const { effects } = handle.prepare('SELECT count(*) AS effects FROM clips').get() as { effects: number };
const event = { id: key, type: 't', version: '2026-01-01', jobId: null, data: {}, timestamp: '2026-01-01T00:00:00Z' };
say({ effects, next: inbox.once({ event }, () => {}).status });
