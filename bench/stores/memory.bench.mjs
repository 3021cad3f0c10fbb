// The memory store with keys, tokens and fingerprints of the size that a receiver makes: pairs of claim and complete a
// second, of new events all the time, before it is full and from then on, beside the least there could be: a Map behind
// two async functions. And the heap that a remembered event takes, alone and with its texts.
//
//   npm run build && node bench/stores/memory.bench.mjs
import { createHash, randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { memoryStore } from 'service-webhooks';
import { interleaved, median, ratio } from '../interleaved.mjs';

const GOAL_PAIRS = 500_000;
const GOAL_BYTES = 250;
const KEPT = 100_000;
const PAIRS = 200_000;
const TIMES = { leaseMs: 25_000, retainMs: 259_200_000 };

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

let made = 0;
function aRequest() {
  made += 1;
  const id = `evt_01J2Q4Z8R6N3W5Y7T9V1${String(made).padStart(8, '0')}`;
  const fingerprint = createHash('sha256').update(id).digest('base64').slice(0, 24);
  return {
    key: `default:${id}`,
    token: randomUUID().toLowerCase(), // as it does: in one piece
    fingerprint: Buffer.from(fingerprint).toString(),
    alias: Buffer.from(fingerprint).toString(),
    ...TIMES,
  };
}

async function pair(store, request) {
  const { fence } = await store.claim(request);
  await store.complete({ ...request, fence }, request);
}

/** Requests are made before, in a ring that is longer than what a full store remembers. */
const ring = Array.from({ length: PAIRS }, aRequest);
function pairsOf(store) {
  let next = 0;
  return () => {
    next = (next + 1) % PAIRS;
    return pair(store, ring[next]);
  };
}

const map = new Map();
const bareMap = {
  async claim({ key, token }) {
    map.set(key, token);
    return { fence: 1 };
  },
  async complete({ key }) {
    map.set(key, 'done');
  },
};

const full = memoryStore({ maxEntries: KEPT });
for (const request of ring.slice(0, KEPT)) await pair(full, request);
const times = await interleaved({ 'a bare Map': pairsOf(bareMap), full: pairsOf(full) }, { turns: 21, turnMs: 300 });

const rows = [];
const pairs = 1e6 / median(times.full);
const beside = ratio(times['a bare Map'], times.full).median;
rows.push({ name: 'full', value: pairs, unit: 'pairs/s', goal: GOAL_PAIRS, ok: pairs > GOAL_PAIRS, beside });

const empty = { token: 'token', fingerprint: 'body', alias: 'header', ...TIMES };
for (const [name, make] of [
  ['an event', () => ({ ...empty, key: aRequest().key })],
  ['an event and its texts', aRequest],
]) {
  gc();
  const before = process.memoryUsage().heapUsed;
  const store = memoryStore({ maxEntries: KEPT });
  for (let i = 0; i < KEPT; i += 1) await pair(store, make());
  gc();
  const bytes = (process.memoryUsage().heapUsed - before) / KEPT;
  rows.push({ name, value: bytes, unit: 'bytes', goal: GOAL_BYTES, ok: bytes <= GOAL_BYTES });
  await store.inspect('keeps it alive');
}

for (const { name, value, unit, goal, ok, beside } of rows) {
  const number = Math.round(value).toLocaleString('en').padStart(10);
  const rest = beside === undefined ? '' : `   ${beside.toFixed(2)} of a bare Map`;
  console.log(
    `memory, ${name.padEnd(20)}${number} ${unit.padEnd(8)} goal ${goal.toLocaleString('en')} ${ok ? 'ok' : 'MISSED'}${rest}`,
  );
}
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
