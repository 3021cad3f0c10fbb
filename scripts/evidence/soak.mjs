// A receiver under good and hostile traffic for SOAK_SECONDS (1 800): its heap stays flat, nothing is left when it is
// over, and no rejection goes unhandled. The good traffic is the emulator's, with faults on the way.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSource } from './build-source.mjs';
import { hostileTraffic, sendUntil } from './hostile-traffic.mjs';
import { writeResult } from './write-result.mjs';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 1_800);
const SAMPLES = 30;
const HOSTILE_SENDERS = 8;
const EVENTS_PER_SECOND = 100;
const FAULTS = {
  drop: 0.001,
  delay: { rate: 0.01, ms: 300 },
  duplicate: 0.02,
  reorder: { rate: 0.02, withinMs: 500 },
  truncate: 0.01,
  corrupt: 0.01,
  slowBody: { rate: 0.01, ms: 500 },
  reset: 0.01,
};

const child = fork(join(import.meta.dirname, 'soak-receiver.mjs'), { execArgv: ['--expose-gc'] });
const exited = once(child, 'exit');
const told = async () => (await once(child, 'message'))[0];
const tell = (command, rest) => {
  child.send({ command, ...rest });
  return told();
};
await told();

const load = await buildSource('packages/emulator/src/index.ts', 'src/index.ts');
const { createEmulator } = await load('packages/emulator/src/index.ts');
const { sign } = await load('src/index.ts');

// The waits between attempts pass a thousand times faster: the last one takes 14 s.
const emulator = createEmulator({ clock: 'real', speed: 1_000, allowLoopback: true, faults: FAULTS });
const endpoint = emulator.endpoints.create({ url: 'http://127.0.0.1:1/' });
const { signingSecret: secret } = endpoint;
const { port } = await tell('listen', { secret });
emulator.endpoints.update(endpoint.id, { url: `http://127.0.0.1:${port}/` });

const stop = new AbortController();
const traffic = hostileTraffic({ port, sign, secret });
const hostile = Array.from({ length: HOSTILE_SENDERS }, (_, i) => sendUntil(stop.signal, traffic, i * 2));
const good = (async () => {
  for (; !stop.signal.aborted; await sleep(1_000 / EVENTS_PER_SECOND)) await emulator.emit('stt.completed');
})();

const heap = [];
for (let i = 0; i < SAMPLES; i++) {
  await sleep((SECONDS * 1_000) / SAMPLES);
  const { heapUsed } = await tell('sample');
  heap.push(Math.round(heapUsed / 1024));
  process.stdout.write(`\r${Math.round(((i + 1) / SAMPLES) * SECONDS)} s, ${heap.at(-1)} KiB `);
}

stop.abort();
await good;
const answered = await Promise.all(hostile);
await emulator.settled();
const { deliveries, attempts, acknowledged } = emulator.totals;
await emulator.close();
const { left, unhandled, warnings, handled, answers } = await tell('stop');
const [exitCode] = await Promise.race([exited, sleep(5_000, ['still alive'])]);
child.kill();

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const third = SAMPLES / 3;
const [middle, last] = [median(heap.slice(third, 2 * third)), median(heap.slice(2 * third))];
const wrong = [...new Set(answered.flatMap((sender) => sender.wrong))];
const sent = answered.reduce((sum, sender) => sum + sender.sent, 0);

console.log(`\n${attempts} attempts, ${sent} hostile requests`, {
  answers,
  left,
  unhandled,
  warnings,
  exitCode,
  middle,
  last,
  wrong,
});
writeResult('soak', {
  command: 'npm run soak',
  bar: 'heapUsed at most 5 % and 512 KiB over the middle third in the last one, no handle left, no unhandled rejection',
  passed:
    last <= middle * 1.05 + 512 &&
    [left, unhandled, warnings, wrong].every(({ length }) => length === 0) &&
    exitCode === 0 &&
    acknowledged > 0,
  figures: {
    seconds: SECONDS,
    deliveries,
    attempts,
    acknowledged,
    handled,
    hostile: sent,
    heapKiB: heap,
    answers,
    left,
    unhandled,
    warnings,
    wrong,
    exitCode,
  },
});
