// A served delivery of 1 KiB: requests in a second and processor time of the server, beside the bare route that reads
// and parses, and beside the ceiling, which also computes the bare HMAC. Every delivery is a new event.
//
//   npm run build && npm ci --prefix bench && node bench/served.bench.mjs
import { aRequest } from './http/deliveries.mjs';
import { sendAll } from './http/send-all.mjs';
import { servers } from './http/servers.mjs';
import { startServer } from './http/start-server.mjs';
import { ratio } from './interleaved.mjs';
import { report } from './report.mjs';

const ROUNDS = 8; // of processes: what one is lucky or unlucky in, a twentieth, it is in every turn
const [TURNS, WARM, REQUESTS] = [5, 4, 1500]; // a turn is long enough for its share of garbage to be collected in it
const GOALS = {
  Express: { beside: 'bare', 'memory store': 0.93, 'dedupe: false': 0.97 },
  Hono: { beside: 'ceiling', 'memory store': 0.9, 'dedupe: false': 0.9 },
  'raw Node': { beside: 'ceiling', 'memory store': 0.9, 'dedupe: false': 0.9 },
};

const ratios = [];
for (const [framework, { beside, ...goals }] of Object.entries(GOALS)) {
  const names = Object.keys(servers[framework]);
  const { ms, cpu } = await measure(framework, names);
  for (const [what, times] of Object.entries({ requests: ms, 'processor time': cpu })) {
    const group = `${framework}, ${what}`;
    for (const name of names.filter((one) => one !== beside)) {
      ratios.push({ group, name, beside, ...ratio(times[beside], times[name]), atLeast: goals[name] });
    }
  }
}
report('served', 'npm run bench -- served', ratios);

/** Milliseconds and processor time of each turn, by name. */
async function measure(framework, names) {
  const ms = Object.fromEntries(names.map((name) => [name, []]));
  const cpu = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const running = new Map();
    for (const name of names) running.set(name, await startServer(framework, name));
    for (let turn = -WARM; turn < TURNS; turn += 1) {
      const requests = Array.from({ length: REQUESTS }, () => aRequest());
      for (const name of turn % 2 ? names : names.toReversed()) {
        const { port, ask } = running.get(name);
        const before = await ask('cpu');
        const time = await sendAll(port, requests);
        if (turn < 0) continue; // until it is compiled
        ms[name].push(time);
        cpu[name].push((await ask('cpu')) - before);
      }
    }
    for (const { stop } of running.values()) stop();
  }
  return { ms, cpu };
}
