import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createReceiver } from 'service-webhooks';
import { expect, it } from 'vitest';
import { aRequest, now, SECRET } from '../support/deliveries.js';
import { withKey } from './set-up.js';

it('an event in memoryStore takes less than 500 bytes', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Its handler and its logger keep nothing.
  const receiver = createReceiver({ secret: SECRET, now, logger: false, on: { '*': () => {} } });
  const EVENTS = 2_000;
  const heapAfter = async (round: number) => {
    for (let i = 0; i < EVENTS; i++) {
      const id = `evt_${round}_${i}`;
      expect((await receiver(aRequest({ event: { id }, ...withKey(id) }))).status).toBe(200);
    }
    // A finalizer runs in a turn of its own, and what it frees is collected after it.
    for (let turn = 0; turn < 10; turn++) {
      collect();
      await new Promise(setImmediate);
    }
    return process.memoryUsage().heapUsed;
  };
  // The least of several: what else the process does can take memory in one round, an event takes it in each.
  const taken: number[] = [];
  let before = await heapAfter(0);
  for (const round of [1, 2, 3]) {
    const after = await heapAfter(round);
    taken.push((after - before) / EVENTS);
    before = after;
  }
  expect(Math.min(...taken)).toBeLessThan(500);
});
