// A flood, on Express: what is refused in a second beside the good deliveries that are taken in one, and beside what
// express.raw() with stripe refuses; and the memory of a server while 200 connections send 1 MiB each.
//
//   npm run build && node bench/flood.bench.mjs
import { aRequest } from './http/deliveries.mjs';
import { sendAll } from './http/send-all.mjs';
import { startServer } from './http/start-server.mjs';
import { ratio } from './interleaved.mjs';
import { report } from './report.mjs';

const [ROUNDS, TURNS, WARM] = [8, 5, 5]; // a round has new processes, as in served.bench.mjs
const SIZES = { '1 KiB': [1024, 1000], '64 KiB': [65_536, 200] };
const [OURS, STRIPE] = ['memory store', 'stripe'];
/** Name of a contender: server, kind of request, status; the framework, where it is not Express itself. */
const CONTENDERS = {
  good: [OURS, 'good', 200],
  forged: [OURS, 'forged', 401],
  stale: [OURS, 'stale', 401],
  'no signature': [OURS, 'unsigned', 401],
  'stripe, forged': [STRIPE, 'forged', 400],
  'stripe, stale': [STRIPE, 'stale', 400],
  /** Nothing is looked at: no receiver on Express can be faster. */
  'at once': ['at once', 'stale', 401, 'Express, refusing'],
  /** Reads, computes the bare HMAC, and no more. */
  'by hand': ['by hand', 'forged', 401, 'Express, refusing'],
};
const [CONNECTIONS, WAVES] = [200, 8];
const MIB = 1024 * 1024;

const ratios = [];
for (const [label, [size, count]] of Object.entries(SIZES)) {
  const ms = await measure(size, count);
  for (const name of ['forged', 'stale', 'no signature']) {
    const beside = 'good ones taken';
    ratios.push({ group: `${label}, refused`, name, beside, ...ratio(ms.good, ms[name]), atLeast: 1 });
  }
  for (const name of ['forged', 'stale']) {
    const beside = 'express.raw() and stripe';
    ratios.push({
      group: `${label}, beside stripe`,
      name,
      beside,
      ...ratio(ms[`stripe, ${name}`], ms[name]),
      atLeast: 2,
    });
  }
  for (const [name, kind, floor] of [
    ['forged, by hand, the bare HMAC alone', 'forged', 'by hand'],
    ['stale, at once, nothing looked at', 'stale', 'at once'],
  ]) {
    const beside = 'express.raw() and stripe';
    ratios.push({ group: `${label}, beside stripe`, name, beside, ...ratio(ms[`stripe, ${kind}`], ms[floor]) });
  }
}

const memory = [];
for (const [server, kind, status] of [
  [OURS, 'unsigned', 401],
  [OURS, 'stale', 401],
  [OURS, 'forged', 401],
  [STRIPE, 'stale', 400],
  [STRIPE, 'forged', 400],
]) {
  const { peak, left } = await memoryOf(server, kind, status);
  const name = `${kind}${server === STRIPE ? ', express.raw() and stripe' : ''}`;
  const goal = server === OURS ? { atMost: 0.05, met: left <= 0.05 } : undefined;
  memory.push({ name, peak, left, goal });
  console.log(
    `memory, ${name}: growth ${peak} of what was sent, left ${left} ${goal ? (goal.met ? 'ok' : 'MISSED') : ''}`,
  );
}
report('flood', 'npm run bench -- flood', ratios, { memory });
if (memory.some(({ goal }) => goal?.met === false)) process.exitCode = 1;

async function measure(size, count) {
  const names = Object.keys(CONTENDERS);
  const ms = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = {};
    for (const [name, [server, , , framework = 'Express']] of Object.entries(CONTENDERS)) {
      running[name] = await startServer(framework, server);
    }
    for (let turn = -WARM; turn < TURNS; turn += 1) {
      for (const name of turn % 2 ? names : names.toReversed()) {
        const [, kind, status] = CONTENDERS[name];
        const requests = Array.from({ length: count }, () => aRequest(size, kind));
        const time = await sendAll(running[name].port, requests, { status });
        if (turn >= 0) ms[name].push(time);
      }
    }
    for (const { stop } of Object.values(running)) stop();
  }
  return ms;
}

/** Each wave is a request on each connection, all at once. */
async function memoryOf(name, kind, status) {
  const server = await startServer('Express', name);
  const wave = () =>
    sendAll(
      server.port,
      Array.from({ length: CONNECTIONS }, () => aRequest(MIB, kind)),
      { connections: CONNECTIONS, status },
    );
  await sendAll(server.port, [aRequest(1024, kind)], { connections: 1, status });
  const idle = await server.ask('memory');
  await wave();
  await wave();
  const early = await server.ask('memory');
  for (let i = 2; i < WAVES; i += 1) await wave();
  const late = await server.ask('memory');
  server.stop();
  const share = (bytes) => Math.round((100 * bytes) / (CONNECTIONS * MIB)) / 100;
  return { peak: share(late.peak - idle.rss), left: share(late.inUse - early.inUse) };
}
