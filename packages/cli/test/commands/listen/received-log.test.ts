import { describe, expect, it } from 'vitest';
import { createReceivedLog } from '../../../src/commands/listen/received-log.js';

const MIB = 1024 * 1024;

const aRequest = (id: string | undefined, bytes = 1, verdict = 'verified') => ({
  ...{ at: 1, endedAt: 2, url: 'http://127.0.0.1/', kind: 'attempt' as const, isSigned: false },
  message: { method: 'POST', path: '/', headers: [], body: new Uint8Array(bytes) },
  inspection: { verdict, id, bytes },
  response: { status: 200, headers: {}, body: '' },
});

describe('the log of deliveries that listen keeps', () => {
  it('requests of one event are grouped, and a request without an event stands alone', () => {
    const log = createReceivedLog();
    for (const id of ['evt_1', 'evt_2', 'evt_1', undefined, undefined]) log.add(aRequest(id));
    expect([...log.deliveries].map(([id, kept]) => [id, kept.length])).toEqual([
      ['evt_1', 2],
      ['evt_2', 1],
      ['request_4', 1],
      ['request_5', 1],
    ]);
    expect(log.requests.size).toBe(5);
  });

  it('a cleared log is empty, and has room again', () => {
    const log = createReceivedLog({ maxBytes: 3 * MIB });
    for (const id of ['evt_1', 'evt_2']) log.add(aRequest(id, MIB));
    expect(log.clear()).toEqual(['evt_1', 'evt_2']);
    expect([log.deliveries.size, log.requests.size]).toEqual([0, 0]);
    for (const id of ['evt_3', 'evt_4']) expect(log.add(aRequest(id, MIB)).removed).toEqual([]);
    expect(log.deliveries.size).toBe(2);
  });

  it('the total counts the deliveries that were dropped, until the log is cleared', () => {
    const log = createReceivedLog({ maxDeliveries: 2 });
    for (const id of ['evt_1', 'evt_1', 'evt_2', 'evt_3', 'evt_4']) log.add(aRequest(id));
    expect([log.deliveries.size, log.total]).toEqual([2, 4]);
    log.clear();
    log.add(aRequest('evt_5'));
    expect(log.total).toBe(1);
  });

  it('forged requests are dropped before genuine ones with their id', () => {
    const log = createReceivedLog({ maxRequestsEach: 2 });
    log.add(aRequest('evt_1'));
    for (let sent = 0; sent < 5; sent += 1) log.add(aRequest('evt_1', 1, 'signature_mismatch'));
    expect(log.deliveries.get('evt_1')?.map(({ id }) => id)).toEqual(['1', '6']);
  });

  it('the oldest of too many deliveries is dropped, and its id is returned', () => {
    const log = createReceivedLog({ maxDeliveries: 2 });
    for (const id of ['evt_1', 'evt_1', 'evt_2']) log.add(aRequest(id));
    expect(log.add(aRequest('evt_3'))).toEqual({ deliveryId: 'evt_3', removed: ['evt_1'] });
    expect([...log.requests.keys()]).toEqual(['3', '4']);
  });

  it('the oldest deliveries make room for a large one', () => {
    const log = createReceivedLog({ maxBytes: 3 * MIB });
    for (const id of ['evt_1', 'evt_2', 'evt_3']) log.add(aRequest(id, 1.2 * MIB));
    expect([...log.deliveries.keys()]).toEqual(['evt_2', 'evt_3']);
    expect(log.add(aRequest('evt_4', 10 * MIB)).removed).toEqual(['evt_2', 'evt_3']);
    expect([...log.deliveries.keys()]).toEqual(['evt_4']);
  });

  it('the bodies of requests with one id are bounded by bytes', () => {
    const log = createReceivedLog();
    for (let sent = 0; sent < 100; sent += 1) log.add(aRequest('evt_1', MIB, 'signature_mismatch'));
    const kept = log.deliveries.get('evt_1') ?? [];
    expect(kept.length).toBeGreaterThan(50);
    expect(kept.length).toBeLessThanOrEqual(64);
    expect(log.requests.size).toBe(kept.length);
  });

  it('the requests with one id are bounded by number', () => {
    const log = createReceivedLog({ maxRequestsEach: 3 });
    for (let sent = 0; sent < 10; sent += 1) log.add(aRequest('evt_1'));
    expect(log.deliveries.get('evt_1')?.map(({ id }) => id)).toEqual(['8', '9', '10']);
    expect([...log.requests.keys()]).toEqual(['8', '9', '10']);
  });

  it('names and headers count toward the bytes', () => {
    const log = createReceivedLog({ maxBytes: 10_000 });
    const named = (id: string) => ({ ...aRequest(id), inspection: { verdict: 'unverified', id, bytes: 1 } });
    for (let sent = 0; sent < 5; sent += 1) log.add(named(`${sent}`.padEnd(4_000, 'x')));
    expect(log.deliveries.size).toBe(1);
  });
});
