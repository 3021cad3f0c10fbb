// How long an acknowledgement takes: from the first byte of a new event of 1 KiB to the whole answer, over 4 connections, each
// of which sends the next event when it has the answer. Every store and queue has a receiver in a process of its own, and they
// take turns, so that what else the machine does meets all of them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeResult } from '../scripts/evidence/write-result.mjs';
import { aRequest } from './http/deliveries.mjs';
import { sendAll } from './http/send-all.mjs';
import { places } from './latency/places.mjs';

const CONNECTIONS = 4;
const [WARM, TURNS, REQUESTS] = [4, 20, 200];
const name = `bench_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'latency-'));
const servers = new Map();

try {
  for (const place of Object.keys(places)) servers.set(place, await start(place));
  report(await measure());
} finally {
  for (const { child } of servers.values()) child.kill();
  rmSync(folder, { recursive: true });
  for (const { remove } of Object.values(places)) {
    await remove?.({ name }).catch((error) => console.error(`Not removed: ${error.message}`));
  }
}

async function start(place) {
  const child = fork(join(import.meta.dirname, 'latency/serve.mjs'), [place, name, folder]);
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`The receiver with ${place} has ended.`))),
  ]);
  return { child, port };
}

/** Milliseconds of all answers after the warm-up, by place. */
async function measure() {
  const times = new Map([...servers.keys()].map((place) => [place, []]));
  for (let turn = -WARM; turn < TURNS; turn += 1) {
    const order = turn % 2 ? [...servers] : [...servers].reverse();
    for (const [place, { port }] of order) {
      const requests = Array.from({ length: REQUESTS }, () => aRequest());
      const onAnswer = (ms) => turn >= 0 && times.get(place).push(ms);
      const status = place.endsWith('queue') ? 202 : 200;
      await sendAll(port, requests, { connections: CONNECTIONS, status, isAwake: false, onAnswer });
    }
  }
  return times;
}

function report(times) {
  const bare = percentiles(times.get('no dedupe'));
  const rows = [...times].map(([place, all]) => {
    const { p50, p95, p99 } = percentiles(all);
    return { place, answers: all.length, p50, p95, p99, beside: round(p50 / bare.p50) };
  });
  console.table(rows);
  const [line] = process.versions.node.split('.');
  writeResult(`latency-node-${line}`, {
    command: `npm run bench -- --node ${line} latency`,
    bar: 'every delivery was acknowledged with 2xx',
    passed: rows.every(({ answers }) => answers === TURNS * REQUESTS), // sendAll throws at another status
    figures: { connections: CONNECTIONS, rows },
  });
}

/** In milliseconds, of the nearest rank. */
function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part) => round(sorted[Math.ceil(sorted.length * part) - 1]);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function round(value) {
  return Number(value.toFixed(2));
}
