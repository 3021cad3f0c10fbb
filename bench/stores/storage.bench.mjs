// What one event costs in storage: bytes of table and indexes a key, write-ahead log, and the share of updates that are
// heap-only (PostgreSQL); bytes of table and indexes a key (MySQL, MariaDB); bytes a key (SQLite, Redis); and what a purge does to the write-ahead log and the event loop
// (SQLite). The server of PostgreSQL has to be idle otherwise, because its log is one for all databases.
//
//   npm run build && node bench/stores/storage.bench.mjs [events] [redis | sqlite | postgres | mysql]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql2 from 'mysql2/promise';
import pg from 'pg';

const modules = process.env.STORES ?? 'service-webhooks/stores';
const { mysqlStore } = await import(`${modules}/mysql${process.env.STORES ? '.js' : ''}`);
const { postgresStore } = await import(`${modules}/postgres${process.env.STORES ? '.js' : ''}`);
const { redisStore } = await import(`${modules}/redis${process.env.STORES ? '.js' : ''}`);
const { sqliteStore } = await import(`${modules}/sqlite${process.env.STORES ? '.js' : ''}`);

const EVENTS = Number(process.argv[2] ?? 50_000);
const hash = () => crypto.randomUUID().replaceAll('-', '').repeat(2);
const requestOf = (i) => ({
  key: `clips:evt_${crypto.randomUUID().replaceAll('-', '')}${String(i).padStart(6, '0')}`,
  token: crypto.randomUUID(),
  fingerprint: hash(),
  alias: `evt_${crypto.randomUUID().replaceAll('-', '')}`,
  leaseMs: 25_000,
  retainMs: 259_200_000,
});

async function fill(store, atOnce) {
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < EVENTS; i = next++) {
      const request = requestOf(i);
      const { fence } = await store.claim(request);
      await store.complete({ ...request, fence }, request);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

const print = (name, values) => console.log(name.padEnd(10), JSON.stringify(values));

async function postgres() {
  const pool = new pg.Pool({
    connectionString: process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test',
    max: 8,
  });
  const one = async (sql) => Object.values((await pool.query(sql)).rows[0])[0];
  await pool.query('CREATE SCHEMA bench');
  const store = postgresStore({ pg: pool }, { table: 'bench.deliveries' });
  await store.init();
  await pool.query('CHECKPOINT');
  const before = await one('SELECT pg_current_wal_lsn()');
  await fill(store, 8);
  const wal = Number(await one(`SELECT pg_current_wal_lsn() - '${before}'::pg_lsn`));
  await new Promise((resolve) => setTimeout(resolve, 2_000)); // statistics are written a moment later
  const { rows } =
    await pool.query(`SELECT n_tup_ins::int AS inserts, n_tup_upd::int AS updates, n_tup_hot_upd::int AS heap_only,
    pg_table_size(relid)::int AS table_bytes, pg_indexes_size(relid)::int AS index_bytes
    FROM pg_stat_all_tables WHERE relid = 'bench.deliveries'::regclass`);
  const { table_bytes: table, index_bytes: indexes, ...counts } = rows[0];
  const each = (bytes) => Math.round(bytes / EVENTS);
  print('postgres', {
    ...counts,
    bytesAKey: each(table + indexes),
    table: each(table),
    indexes: each(indexes),
    wal: each(wal),
  });
  await pool.query("UPDATE bench.deliveries SET expires_at = now() - interval '1 second'");
  let removed = 0;
  const purge = performance.now();
  for (let count = 1; count > 0; removed += count) count = await store.purgeExpired({ limit: 10_000 });
  print('  purge', { removed, msFor10000: Math.round(((performance.now() - purge) / removed) * 10_000) });
  await pool.query('DROP SCHEMA bench CASCADE');
  await pool.end();
}

async function mysql() {
  const pool = mysql2.createPool(process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test');
  await pool.query('CREATE DATABASE bench');
  const store = mysqlStore({ mysql2: pool }, { table: 'bench.deliveries' });
  await store.init();
  await fill(store, 8);
  await pool.query('ANALYZE TABLE bench.deliveries');
  const [[{ DATA_LENGTH: table, INDEX_LENGTH: indexes }]] = await pool.query(
    "SELECT DATA_LENGTH, INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'bench' AND TABLE_NAME = 'deliveries'",
  );
  const each = (bytes) => Math.round(bytes / EVENTS);
  print('mysql', { bytesAKey: each(table + indexes), table: each(table), indexes: each(indexes) });
  await pool.query('UPDATE bench.deliveries SET expires_at = 1');
  let removed = 0;
  const purge = performance.now();
  for (let count = 1; count > 0; removed += count) count = await store.purgeExpired({ limit: 1_000 });
  print('  purge', { removed, msFor1000: Math.round(((performance.now() - purge) / removed) * 1_000) });
  await pool.query('DROP DATABASE bench');
  await pool.end();
}

async function sqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'bench.db');
  const from = new URL('../../test/integration/better-sqlite3/package.json', import.meta.url);
  const Database = createRequire(from)('better-sqlite3');
  const handle = new Database(file);
  const store = sqliteStore({ betterSqlite3: handle });
  await store.init();
  handle.pragma('synchronous = NORMAL');
  await fill(store, 1);
  handle.pragma('wal_checkpoint(TRUNCATE)');
  print('sqlite', { bytesAKey: Math.round(statSync(file).size / EVENTS) });
  handle.exec('UPDATE webhook_deliveries SET expires_at = 0');
  handle.pragma('wal_checkpoint(TRUNCATE)');
  let [removed, biggest, longest, last] = [0, 0, 0, performance.now()];
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const begun = performance.now();
  for (let count = 1; count > 0; removed += count) {
    count = await store.purgeExpired({ limit: 10_000 });
    biggest = Math.max(biggest, statSync(`${file}-wal`).size);
  }
  const ms = performance.now() - begun;
  await new Promise((resolve) => setTimeout(resolve, 10));
  clearInterval(watch);
  print('  purge', {
    removed,
    seconds: +(ms / 1_000).toFixed(1),
    walMegabytes: +(biggest / 1e6).toFixed(1),
    longestBlockMs: Math.round(longest),
  });
  handle.close();
  rmSync(folder, { recursive: true });
}

async function redis() {
  const client = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
  const prefix = `bench-${crypto.randomUUID().slice(0, 4)}:`;
  const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1]);
  const before = await used();
  await fill(redisStore({ ioredis: client }, { keyPrefix: prefix }), 8);
  print('redis', { bytesAKey: Math.round(((await used()) - before) / EVENTS) });
  for (const keys of [await client.keys(`${prefix}*`)])
    while (keys.length > 0) await client.unlink(keys.splice(0, 5_000));
  client.disconnect();
}

const [, , , only] = process.argv;
for (const measure of [redis, sqlite, postgres, mysql]) if (!only || only === measure.name) await measure();
