import type { DedupeStore } from 'service-webhooks';
import { dynamodbStore } from 'service-webhooks/stores/dynamodb';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, inShort } from '../support/deliveries.js';
import { type Fault, startDynamodb } from '../support/dynamodb.js';
import { PATIENTLY } from '../support/patiently.js';
import { freePort } from '../support/server-process.js';
import { aClaim, rivalOf } from './requests.js';

const server = await startDynamodb();
const table = await server.newTable();
const storeOf = (attempts = 3) => dynamodbStore({ dynamodb: server.open({ maxAttempts: attempts }) }, { table });
const store = storeOf();

afterEach(() => {
  server.faults = undefined;
});
afterAll(() => server.stop());

/** The next requests have this fault, and those after them have none. */
function failNext(fault: Fault, times = 1): void {
  let left = times;
  server.faults = () => {
    left -= 1;
    return left >= 0 ? fault : undefined;
  };
}

const SHORT_OUTAGES: readonly Fault[] = [
  'throttled',
  'throughput exceeded',
  'cut before the write',
  'cut after the write',
];

describe.each(SHORT_OUTAGES)('requests of dynamodbStore that are %s, which the client repeats', (fault) => {
  /** Makes a call that fails once, and returns its answer. */
  async function failing<T>(call: () => Promise<T>): Promise<T> {
    const before = server.sent.length;
    failNext(fault);
    const answer = await call();
    expect(server.sent.length - before).toBeGreaterThanOrEqual(2);
    return answer;
  }

  it('a claim, an extension and a completion are answered as if nothing had happened', async () => {
    const request = aClaim();
    const claimed = await failing(() => store.claim(request));
    expect(claimed).toMatchObject({ status: 'acquired', attempt: 1 });
    const { fence } = claimed;
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'in_progress', fence });
    expect(await failing(() => store.claim(request))).toMatchObject({ status: 'acquired', attempt: 1, fence });
    expect(await failing(() => store.extend({ ...request, fence }, request))).toBe('ok');
    expect(await failing(() => store.complete({ ...request, fence }, request))).toBe('ok');
    expect(await failing(() => store.claim(rivalOf(request)))).toMatchObject({ status: 'completed', fence });
  });

  it('a release and the claim of the next owner are answered as if nothing had happened', async () => {
    const [request, rival] = [aClaim(), aClaim()];
    const next = { ...rival, key: request.key };
    const { fence } = await store.claim(request);
    expect(await failing(() => store.release({ ...request, fence }))).toBe('ok');
    failNext(fault, 1);
    const taken = await store.claim(next);
    expect(taken).toMatchObject({ status: 'acquired', attempt: 2 });
    expect(taken.fence).toBeGreaterThan(fence);
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'in_progress', attempt: 2, fence: taken.fence });
  });

  it('a takeover whose second request fails is answered as if nothing had happened', async () => {
    const [request, rival] = [aClaim(), aClaim()];
    const { fence } = await store.claim(request);
    await store.release({ ...request, fence });
    let requests = 0;
    server.faults = () => {
      requests += 1;
      return requests === 2 ? fault : undefined;
    };
    const taken = await store.claim({ ...rival, key: request.key });
    expect(taken).toMatchObject({ status: 'acquired', attempt: 2 });
    expect(requests).toBeGreaterThanOrEqual(3);
    expect(await store.inspect?.(request.key)).toMatchObject({ attempt: 2, fence: taken.fence });
  });

  it('a record of a job and a report are written once', async () => {
    const { jobs, saveReport, loadReports } = store as Required<DedupeStore>;
    const record = { key: crypto.randomUUID(), version: crypto.randomUUID(), text: '{}', dueAt: 1 };
    expect(await failing(() => jobs.write(record, undefined))).toBe(true);
    const next = { key: record.key, version: crypto.randomUUID(), text: `"${'x'.repeat(700_000)}"`, keepMs: 60_000 };
    expect(await failing(() => jobs.write(next, record.version))).toBe(true);
    expect((await failing(() => jobs.read(record.key))).record?.text).toBe(next.text);
    await failing(() => jobs.remove(record.key));
    expect((await jobs.read(record.key)).record).toBeUndefined();
    const name = crypto.randomUUID();
    await failing(() => saveReport({ name, instance: 'a', text: '{}', ttlMs: 60_000 }));
    expect(await failing(() => loadReports(name))).toEqual(['{}']);
  });
});

describe('an outage of DynamoDB', () => {
  it.each<Fault>([...SHORT_OUTAGES])(
    'a delivery is answered 503 while each request is %s, and handled afterwards',
    async (fault) => {
      const handled = vi.fn();
      const { receiver, find } = aReceiver({ on: { '*': handled }, dedupe: { store: storeOf(2), name: 'default' } });
      await receiver(aRequest({ event: { id: 'evt_init' } }));
      handled.mockClear();
      const event = { id: `evt_${crypto.randomUUID()}` };
      server.faults = (operation) => (operation === 'PutItem' ? fault : undefined);
      expect(inShort(await receiver(aRequest({ event })))).toBe('503 store_unavailable');
      expect(find('store_error')).toMatchObject({ operation: 'claim' });
      server.faults = undefined;
      // A claim that was made, and whose answer was lost, is released after the answer to the delivery.
      await vi.waitFor(async () => expect(inShort(await receiver(aRequest({ event })))).toBe('200 handled'), PATIENTLY);
      expect(handled).toHaveBeenCalledTimes(1);
    },
  );

  it('a delivery is answered 503 while DynamoDB does not answer', async () => {
    const { receiver } = aReceiver({ dedupe: { store: storeOf(), name: 'default' }, deadlineMs: 2_000 });
    await receiver(aRequest({ event: { id: 'evt_init' } }));
    server.faults = () => 'no answer before the write';
    expect(inShort(await receiver(aRequest({ event: { id: 'evt_hung' } })))).toBe('503 store_unavailable');
  });

  it('a delivery is answered 503 where the connection is refused', async () => {
    const refused = server.open({ endpoint: `http://127.0.0.1:${await freePort()}`, maxAttempts: 1 });
    const { receiver } = aReceiver({ dedupe: { store: dynamodbStore({ dynamodb: refused }), name: 'default' } });
    expect(inShort(await receiver(aRequest()))).toBe('503 store_unavailable');
  });
});
