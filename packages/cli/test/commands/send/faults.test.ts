import { verify } from 'service-webhooks';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { NOW, now, SECRET, verdict } from '../../../../../test/support/deliveries.js';
import { FAULT_NAMES, FAULTS, type FaultName, withFaults } from '../../../src/commands/send/faults.js';

const delivery = signDelivery({ event: sampleEvent('stt.completed'), secret: SECRET, at: NOW });
const sent = (...names: FaultName[]) => withFaults(delivery, names);

describe('a delivery with something wrong', () => {
  it.each<[FaultName, string]>([
    ['wrong-secret', 'signature_mismatch'],
    ['flipped-bit', 'signature_mismatch'],
    ['stale', 'timestamp_too_old'],
    ['future', 'timestamp_in_future'],
    ['stripped-v2', 'legacy_not_accepted'],
    ['reserialised', 'signature_mismatch'],
    ['truncated', 'signature_mismatch'],
    ['other-key', 'v2'],
    ['slow', 'v2'],
    ['reset', 'v2'],
  ])('a delivery with something wrong is refused for what it is: %s is %s', async (name, found) => {
    const [one, ...more] = sent(name);
    const { headers, body } = one as typeof delivery;
    expect(await verdict(() => verify({ headers, body, secret: SECRET, now }))).toBe(found);
    expect(more).toEqual([]);
  });

  it('a delivery with something wrong is signed ten minutes from its time', () => {
    expect([sent('stale')[0]?.at, sent('future')[0]?.at]).toEqual([NOW - 600_000, NOW + 600_000]);
  });

  it('a delivery with something wrong has the first half of its body, or all of it in another spelling', () => {
    const { body } = delivery;
    expect(sent('truncated')[0]?.body).toEqual(body.subarray(0, Math.floor(body.length / 2)));
    expect(JSON.parse(String(Buffer.from(sent('reserialised')[0]?.body ?? [])))).toEqual(
      JSON.parse(String(Buffer.from(body))),
    );
  });

  it('a delivery with something wrong has another key', () => {
    const key = sent('other-key')[0]?.headers['idempotency-key'];
    expect(key).toMatch(/\w/);
    expect(key).not.toBe(delivery.headers['idempotency-key']);
  });

  it('a delivery with something wrong goes over the wire in another way', () => {
    expect(sent('slow')).toMatchObject([{ ...delivery, slowMs: 5_000 }]);
    expect(sent('reset')).toMatchObject([{ ...delivery, breakOff: true }]);
  });

  it('a delivery with something wrong comes twice, and is the next attempt then', () => {
    const first = { ...delivery, headers: { ...delivery.headers, 'x-attempt-limit': '6' } };
    const headers = { ...first.headers, 'x-service-attempt': '2' };
    expect(withFaults(first, ['duplicate'])).toMatchObject([first, { ...first, headers }]);
  });

  it('a delivery with something wrong has one thing wrong after the other, in the order given', () => {
    const both = sent('duplicate', 'slow', 'truncated');
    expect(both.map(({ slowMs, body, headers }) => [slowMs, body.length, headers['x-service-attempt']])).toEqual([
      [5_000, delivery.body.length >> 1, '1'],
      [5_000, delivery.body.length >> 1, '2'],
    ]);
    expect(sent('stripped-v2', 'duplicate')[1]?.headers).not.toHaveProperty('x-service-signature-v2');
    expect(sent('truncated', 'duplicate', 'stale').map(({ at }) => at)).toEqual([NOW - 600_000, NOW - 600_000]);
    expect(sent()).toMatchObject([delivery]);
  });

  it('a delivery with something wrong can be asked for by a name that says what it is', () => {
    expect(FAULT_NAMES).toEqual(Object.keys(FAULTS));
    for (const { says } of Object.values(FAULTS)) expect(says).toMatch(/\w+ \w+/);
  });
});

describe('a body that was cut', () => {
  it('a body that was cut cannot be parsed and written again, and the order of the faults is named', () => {
    expect(() => withFaults(delivery, ['truncated', 'reserialised'])).toThrow('put it before truncated');
  });
});
