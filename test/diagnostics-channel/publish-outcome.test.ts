import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Outcome } from 'service-webhooks';
import { OUTCOME_CHANNEL, publishOutcome } from 'service-webhooks/diagnostics-channel';
import { afterEach, expect, it, vi } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';

const seen: Outcome[] = [];
const listen = (outcome: unknown) => void seen.push(outcome as Outcome);

afterEach(() => {
  unsubscribe(OUTCOME_CHANNEL, listen);
  seen.length = 0;
  vi.resetModules();
});

it('a subscriber of the diagnostics channel gets every outcome of a receiver', async () => {
  subscribe(OUTCOME_CHANNEL, listen);
  const { receiver, outcomes } = aReceiver({ observe: publishOutcome });
  await receiver(aRequest());
  await receiver(aRequest({ secret: 'another' }));
  expect(OUTCOME_CHANNEL).toBe('service-webhooks:outcome');
  expect(seen.map(({ kind }) => kind)).toEqual(['handled', 'rejected']);
  expect(seen).toEqual(outcomes);
});

it('a delivery is answered although the diagnostics channel has no subscriber', async () => {
  const { receiver } = aReceiver({ observe: publishOutcome });
  expect((await receiver(aRequest())).status).toBe(200);
  subscribe(OUTCOME_CHANNEL, listen);
  expect(seen).toEqual([]);
});

it('an error of one subscriber of the diagnostics channel does not keep the outcome from others', async () => {
  const raised: unknown[] = [];
  const nextTick = vi.spyOn(process, 'nextTick').mockImplementation((raise) => void raised.push(raise));
  const failing = () => {
    throw new Error('a subscriber');
  };
  subscribe(OUTCOME_CHANNEL, failing);
  subscribe(OUTCOME_CHANNEL, listen);
  publishOutcome({ kind: 'lease_lost' } as Outcome);
  unsubscribe(OUTCOME_CHANNEL, failing);
  nextTick.mockRestore();
  expect(seen).toHaveLength(1);
  expect(raised).toHaveLength(1);
});

it.each<[string, object | undefined]>([
  ['process', undefined],
  ['modules of its own', { ...process, getBuiltinModule: undefined }],
  ['such channels', { ...process, getBuiltinModule: () => undefined }],
])('no outcome is published on a runtime without %s', async (_, process) => {
  await new Promise(setImmediate); // until then the test runner itself needs a process
  vi.stubGlobal('process', process);
  vi.resetModules();
  const fresh = await import('service-webhooks/diagnostics-channel');
  vi.unstubAllGlobals();
  subscribe(OUTCOME_CHANNEL, listen);
  fresh.publishOutcome({ kind: 'lease_lost' } as Outcome);
  expect(seen).toEqual([]);
});
