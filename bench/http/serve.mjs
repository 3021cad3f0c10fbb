// A server in a process of its own: `framework` and `name` of one in servers.mjs. Tells its port, and on request what it
// has used.
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { servers } from './servers.mjs';

const [framework, name] = process.argv.slice(2);
const server = createServer(await servers[framework][name]());
server.listen(0, '127.0.0.1', () => process.send(server.address().port));

let peak = 0;
const MEASURES = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Bytes that are in use when all garbage is gone, that are resident, and that were at most since this was asked. */
  memory: async () => {
    // Not the maxRSS of the system: a process begins with that of its parent.
    if (peak === 0) setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
    // More than once: what a buffer was is given back some time after the collection that has found it.
    for (let i = 0; i < 4; i += 1) {
      globalThis.gc();
      await setTimeout(50);
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    return { inUse: heapUsed + external, rss, peak };
  },
};
process.on('message', async (what) => process.send(await MEASURES[what]()));
