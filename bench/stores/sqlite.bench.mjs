// Claim and complete of new events, one after the other, beside the barest upsert and update there could be instead, in
// turn in one run, each on a file of its own. With `synchronous = NORMAL`, so that no commit waits for the disk, whose time
// would hide the rest. The ratio is of events a second, bare / ours in time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'service-webhooks/stores/sqlite';

const ROUNDS = 60;
const EVENTS = 100;
const GOAL = 0.25;
const HOURS_72 = 259_200_000;

const folder = mkdtempSync(join(tmpdir(), 'service-webhooks-bench-'));
const [client, handle] = await open('ours.db');
const [, bareHandle] = await open('bare.db');
const store = sqliteStore(client);
await store.init();
handle.exec('PRAGMA synchronous = NORMAL');
bareHandle.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE bare (key TEXT NOT NULL PRIMARY KEY, owner TEXT, done INTEGER) WITHOUT ROWID`);
const upsert = bareHandle.prepare(
  'INSERT INTO bare VALUES (?, ?, 0) ON CONFLICT (key) DO UPDATE SET owner = excluded.owner',
);
const update = bareHandle.prepare('UPDATE bare SET done = 1 WHERE key = ?');
let count = 0;

/** A handle of node:sqlite, or of libsql where this Node has none. */
async function open(name) {
  const file = join(folder, name);
  const builtIn = process.getBuiltinModule('node:sqlite');
  const one = builtIn ? new builtIn.DatabaseSync(file) : new (await import('libsql')).default(file);
  return [builtIn ? { nodeSqlite: one } : { betterSqlite3: one }, one];
}

async function ours(key) {
  const token = crypto.randomUUID();
  const request = { key, token, fingerprint: 'x'.repeat(22), leaseMs: 25_000, retainMs: HOURS_72 };
  const { fence } = await store.claim(request);
  await store.complete({ ...request, fence }, request);
}

async function bare(key) {
  upsert.run(key, crypto.randomUUID());
  update.run(key);
}

/** Milliseconds for EVENTS new events. */
async function time(work) {
  const keys = Array.from({ length: EVENTS }, () => `default:evt_${process.pid}_${count++}`);
  const begun = performance.now();
  for (const key of keys) await work(key);
  return performance.now() - begun;
}

try {
  await time(ours);
  await time(bare);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const times = new Map();
    for (const work of round % 2 === 0 ? [ours, bare] : [bare, ours]) times.set(work, await time(work));
    rounds.push({ ours: times.get(ours), bare: times.get(bare), ratio: times.get(bare) / times.get(ours) });
  }
  const at = (name, part) => rounds.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(part * (ROUNDS - 1))];
  const each = (name) => `${((at(name, 0.5) / EVENTS) * 1_000).toFixed(0)} us`;
  const isMet = at('ratio', 0.5) >= GOAL;
  if (!isMet) process.exitCode = 1;
  console.log(
    isMet ? 'ok' : `MISSED ${GOAL}`,
    `sqlite: ratio ${at('ratio', 0.5).toFixed(2)}`,
    `(${at('ratio', 0.1).toFixed(2)} to ${at('ratio', 0.9).toFixed(2)} in 80 % of ${ROUNDS} rounds);`,
    `an event takes ${each('ours')}, bare ${each('bare')}`,
  );
} finally {
  handle.close();
  bareHandle.close();
  rmSync(folder, { recursive: true });
}
