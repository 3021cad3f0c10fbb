// The emulator and a bare receiver in another process, over loopback:
//
// - 10,000 deliveries that fail five times and arrive with the sixth attempt: five hours on the virtual clock
// - deliveries a second in real time
// - the memory of the emulator while 1,000,000 deliveries go through it, some of which have to be sent again
//
//   npm run build && node bench/emulator.bench.mjs
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createEmulator } from 'service-webhooks-emulator';
import { median } from './interleaved.mjs';

const [DELIVERIES, GOAL_SECONDS] = [10_000, 10];
const [REAL_DELIVERIES, GOAL_RATE] = [20_000, 2_000];
const [MANY, GOAL_MB] = [1_000_000, 300];
const TURNS = 3;
const HOUR = 3_600_000;

if (process.argv[2] === 'receiver') serve();
else await run();

async function run() {
  const receiver = fork(fileURLToPath(import.meta.url), ['receiver']);
  const [port] = await once(receiver, 'message');
  const [seconds, rates] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    seconds.push(await fiveHours(port));
    rates.push(await realTime(port));
  }
  report('10,000 deliveries over five virtual hours', seconds, 's', `under ${GOAL_SECONDS}`, (s) => s < GOAL_SECONDS);
  report('in real time', rates, 'deliveries/s', `at least ${GOAL_RATE}`, (rate) => rate >= GOAL_RATE);
  report('over 1,000,000 deliveries', [await memory(port)], 'MB', `under ${GOAL_MB}`, (mb) => mb < GOAL_MB);
  receiver.kill();
}

async function fiveHours(port) {
  const emulator = startEmulator(port, 'fail-5');
  const startedAt = emulator.now();
  const start = performance.now();
  for (let n = 0; n < DELIVERIES; n += 1) await emulator.emit('generation.completed');
  await emulator.runUntilIdle();
  const seconds = (performance.now() - start) / 1000;
  assert.equal(emulator.totals.delivered, DELIVERIES);
  assert.equal(emulator.totals.attempts, DELIVERIES * 6);
  assert.ok(emulator.now() - startedAt > 5 * HOUR);
  await emulator.close();
  return seconds;
}

async function realTime(port) {
  const emulator = startEmulator(port, 'fail-0', { clock: 'real' });
  const start = performance.now();
  for (let n = 0; n < REAL_DELIVERIES; n += 1) await emulator.emit('generation.completed');
  await emulator.settled();
  const rate = REAL_DELIVERIES / ((performance.now() - start) / 1000);
  assert.equal(emulator.totals.delivered, REAL_DELIVERIES);
  await emulator.close();
  return rate;
}

async function memory(port) {
  const emulator = startEmulator(port, 'fail-often');
  let peak = 0;
  for (let n = 1; n <= MANY; n += 1) {
    await emulator.emit('generation.completed');
    if (n % 10_000 === 0) {
      await emulator.advance(60_000); // what failed is sent again
      peak = Math.max(peak, process.memoryUsage.rss() / 2 ** 20);
    }
  }
  await emulator.runUntilIdle();
  assert.equal(emulator.totals.delivered, MANY);
  assert.ok(emulator.totals.attempts > MANY * 1.05);
  await emulator.close();
  return peak;
}

function startEmulator(port, path, options) {
  const emulator = createEmulator({ allowLoopback: true, seed: 1, ...options });
  emulator.endpoints.create({ url: `http://127.0.0.1:${port}/${path}` });
  return emulator;
}

/** The median of the turns decides. */
function report(name, turns, unit, goal, isMet) {
  const value = median(turns);
  const ok = isMet(value);
  if (!ok) process.exitCode = 1;
  const show = (number) => number.toLocaleString('en', { maximumFractionDigits: number < 100 ? 1 : 0 });
  const all = turns.length > 1 ? ` (${turns.map(show).join(', ')})` : '';
  console.log(`emulator, ${name}: ${show(value)} ${unit}${all}   goal ${goal} ${ok ? 'ok' : 'MISSED'}`);
}

/** Reads each request to its end; the path says which attempts fail. */
function serve() {
  let requests = 0;
  const fails = {
    '/fail-0': () => false,
    '/fail-5': (attempt) => attempt <= 5,
    '/fail-often': (attempt) => attempt === 1 && requests % 10 === 0,
  };
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => {
      response.statusCode = fails[request.url](Number(request.headers['x-service-attempt'])) ? 500 : 200;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}
