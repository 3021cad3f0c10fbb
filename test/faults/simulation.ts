import { setImmediate } from 'node:timers/promises';
import type { DedupeStore } from 'service-webhooks';
import { call, keysAt, LONGEST_LEASE_MS, runClient } from './client.js';
import { inMemory, type Operation } from './history.js';
import { randomFrom } from './random.js';

const CLIENTS = 8;

/** A history of a store in this process, on a clock that only the clients move. */
export async function simulate(
  makeStore: (now: () => number) => DedupeStore,
  { seed, operations: count }: { seed: number; operations: number },
): Promise<Operation[]> {
  const random = randomFrom(seed);
  const { record, operations } = inMemory();
  let time = 1_000_000;
  const store = makeStore(() => time);
  // A little later each time, so that it says in which order things happened.
  const now = () => {
    time += 0.000_1;
    return time;
  };
  const pause = async () => {
    if (random() < 0.3) time += random() * 5;
    await setImmediate();
  };
  const client = (name: string) => {
    const options = { name, store, random, now, record, pause, keys: () => keysAt(time) };
    return runClient(options, Math.ceil(count / CLIENTS));
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(`c${i}`)));

  time += LONGEST_LEASE_MS;
  for (const key of new Set(operations.map((one) => one.key))) {
    const what = { key, token: `last.${key}`, seen: { fingerprint: 'last' }, leaseMs: LONGEST_LEASE_MS };
    await call({ name: 'last', store, now, record }, 'claim', what);
  }
  return operations;
}
