import { openSync, readFileSync, writeSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { call, keysAt, LONGEST_LEASE_MS, runClient } from './client.js';
import { fromLines, inLines } from './history.js';
import { openStore, type Place } from './places.js';
import { randomFrom } from './random.js';

/** The task of a process with clients. */
export type Task = { name: string; place: Place; file: string } & (
  | /** Random operations. */ { clients: number; operations: number; seed: number; diesAfter?: number }
  | /** Claims every key of these files once, when all leases are over. */ { sweeps: readonly string[] }
);

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const { name, place, file } = task;
const store = await openStore(place);
const log = openSync(file, 'a');
/** One clock for all processes of the machine. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

if ('sweeps' in task) await sweep(task.sweeps);
else await run(task);
process.send?.('done');
process.exit();

async function run({ clients, operations, seed, diesAfter }: Extract<Task, { clients: number }>): Promise<void> {
  let left = diesAfter;
  const record = inLines((line) => {
    writeSync(log, line);
    if (left !== undefined) left -= 1;
    // In the middle of what its clients have just asked for.
    if (left === 0) setImmediate().then(() => process.kill(process.pid, 'SIGKILL'));
  });
  process.send?.('ready');
  await new Promise((resolve) => process.once('message', resolve));
  await Promise.all(
    Array.from({ length: clients }, (_, i) => {
      const random = randomFrom(seed + i);
      const pause = async () => {
        if (random() < 0.05) await setTimeout(random() * 10);
        else await setImmediate();
      };
      const options = { name: `${name}${i}`, store, random, now, record, pause, keys: () => keysAt(now()) };
      return runClient(options, Math.ceil(operations / clients));
    }),
  );
}

async function sweep(files: readonly string[]): Promise<void> {
  const record = inLines((line) => writeSync(log, line));
  const keys = new Set(files.flatMap((one) => fromLines(readFileSync(one, 'utf8')).map(({ key }) => key)));
  await setTimeout(2 * LONGEST_LEASE_MS);
  for (const key of keys) {
    const what = { key, token: `${name}.${key}`, seen: { fingerprint: name }, leaseMs: LONGEST_LEASE_MS };
    await call({ name, store, now, record }, 'claim', what);
  }
}
