// The receiver of the soak, alone in its process, so that what is measured is its own. Some of its handlers fail, some
// are slow, some never end; which, the event decides.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSource } from './build-source.mjs';

const found = { handled: 0, answers: {}, unhandled: [], warnings: [] };
process.on('unhandledRejection', (reason) => found.unhandled.push(String(reason)));
process.on('warning', (warning) => found.warnings.push(String(warning)));

const load = await buildSource('src/index.ts', 'adapters/node.ts');
const { createReceiver, memoryStore, PermanentError } = await load('src/index.ts');
const { webhookHandler } = await load('adapters/node.ts');
let server;

/** One in 20 throws, one in 20 takes a while, one in 1,000 never ends. */
async function handle({ id }, { attempt }) {
  const dice = createHash('sha256').update(`${id} ${attempt}`).digest().readUInt32BE() % 1000;
  if (dice === 0) return new Promise(() => {});
  if (dice < 50) throw dice < 5 ? new PermanentError('never') : new Error('not now');
  if (dice < 100) await sleep(dice);
  found.handled += 1;
  return dice < 200 ? { status: 202 } : undefined;
}

const commands = {
  listen({ secret }) {
    const receiver = createReceiver({
      secret,
      deadlineMs: 2_000,
      // Small, so that it is full nearly from the start.
      dedupe: { store: memoryStore({ maxEntries: 500 }), leaseMs: 3_000 },
      on: { '*': handle },
      observe({ kind, error }) {
        const name = `${kind} ${error?.code ?? ''}`.trim();
        found.answers[name] = (found.answers[name] ?? 0) + 1;
      },
    });
    server = createServer(webhookHandler(receiver));
    server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  },
  sample() {
    for (let i = 0; i < 3; i++) global.gc();
    process.send({ heapUsed: process.memoryUsage().heapUsed });
  },
  stop() {
    server.close(async () => {
      await sleep(1_000); // sockets say goodbye to each other
      const left = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap');
      // With nothing left the process ends by itself.
      process.send({ ...found, left }, () => process.disconnect());
    });
    server.closeIdleConnections();
  },
};

process.on('message', ({ command, ...rest }) => commands[command](rest));
process.send({ ready: true });
