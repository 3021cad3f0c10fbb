import { describe, expect, it } from 'vitest';
import { createReceivedLog } from '../../src/cli/listen/received-log.js';

const aRequest = (id: string | undefined, bytes = 1) => ({
  ...{ at: 1, endedAt: 2, url: 'http://127.0.0.1/', kind: 'attempt' as const },
  message: { method: 'POST', path: '/', headers: [], body: new Uint8Array(bytes) },
  seen: { verdict: 'verified', id, bytes },
  response: { status: 200, headers: {}, body: '' },
});

describe('what listen keeps for the page', () => {
  it('has the attempts of an event together, and what names no event by itself', () => {
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

  it('forgets the oldest where there are too many, and says which', () => {
    const log = createReceivedLog({ maxDeliveries: 2 });
    log.add(aRequest('evt_1'));
    log.add(aRequest('evt_1'));
    log.add(aRequest('evt_2'));
    expect(log.add(aRequest('evt_3'))).toEqual({ deliveryId: 'evt_3', removed: ['evt_1'] });
    expect([...log.requests.keys()]).toEqual(['3', '4']);
  });

  it('forgets the oldest where they are too large, but never the latest', () => {
    const log = createReceivedLog({ maxBytes: 100 });
    for (const id of ['evt_1', 'evt_2', 'evt_3']) log.add(aRequest(id, 40));
    expect([...log.deliveries.keys()]).toEqual(['evt_2', 'evt_3']);
    expect(log.add(aRequest('evt_4', 1_000)).removed).toEqual(['evt_2', 'evt_3']);
    expect([...log.deliveries.keys()]).toEqual(['evt_4']);
  });

  it('has room for 64 MiB if nothing is said, to the last byte', () => {
    const log = createReceivedLog();
    for (const id of ['evt_1', 'evt_2']) expect(log.add(aRequest(id, 32 * 1024 * 1024)).removed).toEqual([]);
    expect(log.add(aRequest('evt_3', 1)).removed).toEqual(['evt_1']);
  });
});
