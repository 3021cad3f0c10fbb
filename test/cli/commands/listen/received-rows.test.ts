import { describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../../../src/cli/commands/listen/options.js';
import type { KeptRequest } from '../../../../src/cli/commands/listen/received-log.js';
import { toAttemptDetails, toAttemptRow, toDeliveryRow } from '../../../../src/cli/commands/listen/received-rows.js';
import { aDelivery, NOW, now, SECRET } from '../../../support/deliveries.js';

const { headers, body } = aDelivery();
const message = { method: 'POST', path: '/hook', headers: Object.entries(headers), body: Buffer.from(body as string) };
const inspection = { verdict: 'verified', type: 'stt.completed', id: 'evt_1', bytes: message.body.length };

function kept({
  attempt,
  status = 200,
  ...changes
}: Partial<KeptRequest> & { attempt?: string; status?: number } = {}) {
  return {
    ...{ id: '1', kind: 'attempt', at: NOW, endedAt: NOW + 7, url: 'http://127.0.0.1:4747/hook', message },
    inspection: { ...inspection, attempt },
    response: { status, headers: { 'retry-after': '1' }, body: 'answer' },
    ...changes,
  } as KeptRequest;
}

describe('a request that was received', () => {
  it('a request that was received is an attempt of its delivery', () => {
    expect(toAttemptRow(kept({ attempt: '2' }))).toEqual({
      ...{ id: '1', kind: 'attempt', at: NOW, endedAt: NOW + 7, number: 2, acknowledged: true },
      ...{ redelivery: 0, faults: [], status: 200 },
    });
  });

  it.each([
    [undefined, 1],
    ['10', 10],
    ['999999', 999_999],
    ['0', 1],
    ['1000000', 1],
    ['-1', 1],
    ['2x', 1],
    ['x2', 1],
  ])('a request that was received that says it is attempt %s is number %i', (attempt, number) => {
    expect(toAttemptRow(kept(attempt === undefined ? {} : { attempt })).number).toBe(number);
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('a request that was received is acknowledged with %i: %s', (status, acknowledged) => {
    expect(toAttemptRow(kept({ status }))).toMatchObject({ status, acknowledged });
  });

  it('a request that was received that got no answer has the reason in its place', () => {
    const row = toAttemptRow(kept({ problem: 'nothing listens there' }));
    expect(row).toMatchObject({ acknowledged: false, problem: 'nothing listens there' });
    expect(row).not.toHaveProperty('status');
  });
});

describe('a delivery that was received', () => {
  it('a delivery that was received is what its requests say together', () => {
    const first = { ...message, headers: [['X-Vendor-Webhook-Id', 'endpoint_7'] as const] };
    const requests = [
      kept({ message: first, attempt: '3', status: 500 }),
      kept({ attempt: '1', status: 204, at: NOW + 1 }),
      kept({ kind: 'replay', problem: 'it was closed' }),
    ];
    expect(toDeliveryRow('evt_1', requests, 'X-Vendor')).toEqual({
      ...{ id: 'evt_1', eventId: 'evt_1', type: 'stt.completed', endpointId: 'endpoint_7', state: 'delivered' },
      ...{ attempts: 3, replays: 1, duplicates: 0, redeliveries: 0, test: false },
      ...{ createdAt: NOW, problem: 'it was closed' },
      ...{ url: 'http://127.0.0.1:4747/hook', verdict: 'verified' },
    });
  });

  it('a delivery that was received is none of an event where the body has none, and failed where nothing was acknowledged', () => {
    const anything = kept({
      inspection: { verdict: 'invalid_json', bytes: 1 },
      message: { ...message, headers: [] },
      status: 400,
    });
    expect(toDeliveryRow('request_1', [anything], 'x-service')).toMatchObject({
      ...{ id: 'request_1', eventId: '', type: 'POST /hook', endpointId: '', state: 'failed', attempts: 1, replays: 0 },
      status: 400,
    });
  });

  it('a delivery that was received is a short row, however long its address and its headers are', () => {
    const long = 'x'.repeat(60_000);
    const headers = [['x-service-webhook-id', long] as const];
    const anything = {
      ...kept({ message: { ...message, path: `/${long}`, headers } }),
      url: `http://127.0.0.1/${long}`,
    };
    const { id: _, ...inspection } = anything.inspection;
    const row = toDeliveryRow(
      'request_1',
      [{ ...anything, inspection: { ...inspection, type: undefined } }],
      'x-service',
    );
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
    expect(row.type).toMatch(/^POST \/x+…$/);
  });
});

describe('all there is to see of a request', () => {
  const options = { secrets: [SECRET], now, delayMs: 0 } as unknown as ListenOptions;

  it('all there is to see of a request is what came, what was answered, and whether it was genuine then', () => {
    expect(toAttemptDetails(kept(), options)).toEqual({
      ...toAttemptRow(kept()),
      request: {
        ...{ method: 'POST', url: 'http://127.0.0.1:4747/hook', headers: message.headers },
        body: { text: body, bytes: message.body.length, shown: 'text', cut: false },
      },
      answer: {
        ...{ status: 200, headers: [['retry-after', '1']] },
        body: { text: 'answer', bytes: 6, shown: 'text', cut: false },
      },
      verdict: expect.objectContaining({ verdict: 'accepted' }),
    });
    expect(toAttemptDetails(kept({ at: NOW + 301_000 }), options).verdict.verdict).toBe('timestamp_too_old');
  });

  it('all there is to see of a request has no answer where there was none', () => {
    expect(toAttemptDetails(kept({ problem: 'it was closed' }), options).answer).toBeUndefined();
  });
});

describe('the row of a delivery that was received', () => {
  const rowOf = (...requests: KeptRequest[]) => toDeliveryRow('evt_1', requests, 'x-service');

  it('has what the page searches: the address, the verdict and the cause of the latest request', () => {
    const refused = { ...inspection, verdict: 'signature_mismatch' };
    const cause = 'body_reserialised The body is JSON that was parsed and written again.';
    const row = rowOf(kept(), kept({ url: 'http://127.0.0.1:3000/b', inspection: refused, cause, status: 401 }));
    expect(row).toMatchObject({ url: 'http://127.0.0.1:3000/b', verdict: 'signature_mismatch', cause });
  });

  it('has no cause where the latest request is accepted', () => {
    expect(rowOf(kept({ cause: 'secret_wrong' }), kept())).not.toHaveProperty('cause');
  });
});
