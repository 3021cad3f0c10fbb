// Claim and complete of new events, beside the barest upsert and update there could be instead, in turn in one run.
// The ratio is of events a second, bare / ours in time; the goal is 0.8.
import pg from 'pg';
import { postgresStore } from 'service-webhooks/stores/postgres';

const ROUNDS = 60;
const EVENTS = 100;
const GOAL = 0.8;
const HOURS_72 = 259_200_000;

const { POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;
const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 8 });
const schema = `bench_${process.pid}`;
const store = postgresStore({ pg: pool }, { table: `${schema}.deliveries` });
let count = 0;

async function ours(key) {
  const token = crypto.randomUUID();
  const request = { key, token, fingerprint: 'x'.repeat(22), leaseMs: 25_000, retainMs: HOURS_72 };
  const { fence } = await store.claim(request);
  await store.complete({ ...request, fence }, request);
}

async function bare(key) {
  const upsert = `INSERT INTO ${schema}.bare VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET owner = EXCLUDED.owner`;
  await pool.query(upsert, [key, crypto.randomUUID()]);
  await pool.query(`UPDATE ${schema}.bare SET done = true WHERE key = $1`, [key]);
}

/** Milliseconds for EVENTS new events, so many of them at once. */
async function time(work, atOnce) {
  const keys = Array.from({ length: EVENTS }, () => `default:evt_${process.pid}_${count++}`);
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) await work(key);
    }),
  );
  return performance.now() - begun;
}

async function compare(atOnce) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? [ours, bare] : [bare, ours];
    const times = new Map();
    for (const work of order) times.set(work, await time(work, atOnce));
    rounds.push({ ours: times.get(ours), bare: times.get(bare), ratio: times.get(bare) / times.get(ours) });
  }
  const at = (name, part) => rounds.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(part * (ROUNDS - 1))];
  const each = (name) => `${(at(name, 0.5) / EVENTS).toFixed(2)} ms`;
  const isMet = at('ratio', 0.5) >= GOAL;
  if (!isMet) process.exitCode = 1;
  console.log(
    isMet ? 'ok' : `MISSED ${GOAL}`,
    `postgres, ${atOnce} at once: ratio ${at('ratio', 0.5).toFixed(2)}`,
    `(${at('ratio', 0.1).toFixed(2)} to ${at('ratio', 0.9).toFixed(2)} in 80 % of ${ROUNDS} rounds);`,
    `an event takes ${each('ours')}, bare ${each('bare')}`,
  );
}

await pool.query(
  `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.bare (key text PRIMARY KEY, owner text, done boolean)`,
);
try {
  await store.init();
  await time(ours, 8);
  await time(bare, 8);
  for (const atOnce of [1, 8]) await compare(atOnce);
} finally {
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await pool.end();
}
