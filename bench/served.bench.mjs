// A served delivery of 1 KiB: processor time of the server and requests in a second. Every delivery is a new event. On
// Express the measure is a route with express.json(), elsewhere one that computes the bare HMAC and parses. With AGAINST,
// also beside the library of another checkout.
import { aRequest } from './http/deliveries.mjs';
import { sendAll } from './http/send-all.mjs';
import { servers } from './http/servers.mjs';
import { startServer } from './http/start-server.mjs';
import { ratio } from './interleaved.mjs';
import { report } from './report.mjs';

const { ROUNDS = '8' } = process.env; // of processes: what one is lucky or unlucky in, a twentieth, it is in every turn
const [TURNS, WARM, REQUESTS] = [5, 4, 1500]; // a turn is long enough for its share of garbage to be collected in it
/** The most processor time of each of ours beside a peer. */
const GOALS = {
  Express: { peer: 'stripe', 'dedupe: false': 1.08, 'memory store': 1.35 },
  'raw Node': { peer: 'octokit', 'dedupe: false': 1.12, 'memory store': 1.45 },
};
const OURS = ['dedupe: false', 'memory store'];

const ratios = [];
for (const framework of ['Express', 'Hono', 'raw Node']) {
  const names = Object.keys(servers[framework]);
  const { ms, cpu } = await measure(framework, names);
  for (const [what, times] of Object.entries({ 'processor time': cpu, time: ms })) {
    const row = (name, beside, goal) =>
      ratios.push({ group: `${framework}, ${what}`, name, beside, ...ratio(times[name], times[beside]), ...goal });
    for (const name of names.filter((one) => one !== 'bare')) row(name, 'bare');
    for (const name of OURS) {
      const { peer, [name]: atMost } = GOALS[framework] ?? {};
      if (peer) row(name, peer, times === cpu ? { atMost } : {});
      if (names.includes(`${name}, before`)) row(name, `${name}, before`);
    }
  }
}
report('served', 'npm run bench -- served', ratios);

/** Milliseconds and processor time of each turn, by name. */
async function measure(framework, names) {
  const ms = Object.fromEntries(names.map((name) => [name, []]));
  const cpu = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < Number(ROUNDS); round += 1) {
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
