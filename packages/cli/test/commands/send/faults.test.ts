import { verify } from 'service-webhooks';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { NOW, now, SECRET, verdict } from '../../../../../test/support/deliveries.js';
import { FAULT_NAMES, FAULTS, type FaultName, withFaults } from '../../../src/commands/send/faults.js';

const delivery = signDelivery({ event: sampleEvent('stt.completed'), secret: SECRET, at: NOW });
const sent = (...names: FaultName[]) => withFaults(delivery, names);

describe('a delivery that send --fault changes', () => {
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
  ])('verify judges the fault %s as: %s', async (name, found) => {
    const [one, ...more] = sent(name);
    const { headers, body } = one as typeof delivery;
    expect(await verdict(() => verify({ headers, body, secret: SECRET, now }))).toBe(found);
    expect(more).toEqual([]);
  });

  it('stale and future are signed ten minutes before and after now', () => {
    expect([sent('stale')[0]?.at, sent('future')[0]?.at]).toEqual([NOW - 600_000, NOW + 600_000]);
  });

  it('truncated leaves half of the body, and reserialised keeps all of its values', () => {
    const { body } = delivery;
    expect(sent('truncated')[0]?.body).toEqual(body.subarray(0, Math.floor(body.length / 2)));
    const eventOf = (bytes: Uint8Array = Buffer.of()) => JSON.parse(Buffer.from(bytes).toString());
    expect(eventOf(sent('reserialised')[0]?.body)).toEqual(eventOf(body));
  });

  it('other-key has an Idempotency-Key that no signature covers', () => {
    expect(sent('other-key')[0]?.headers['idempotency-key']).toBe('another-key');
  });

  it('slow and reset change only how the delivery is sent', () => {
    expect(sent('slow')).toMatchObject([{ ...delivery, slowMs: 5_000 }]);
    expect(sent('reset')).toMatchObject([{ ...delivery, breakOff: true }]);
  });

  it('duplicate sends the delivery again as the next attempt', () => {
    const first = { ...delivery, headers: { ...delivery.headers, 'x-attempt-limit': '6' } };
    const headers = { ...first.headers, 'x-service-attempt': '2' };
    expect(withFaults(first, ['duplicate'])).toMatchObject([first, { ...first, headers }]);
  });

  it('several faults are applied in their order', () => {
    const both = sent('duplicate', 'slow', 'truncated');
    expect(both.map(({ slowMs, body, headers }) => [slowMs, body.length, headers['x-service-attempt']])).toEqual([
      [5_000, delivery.body.length >> 1, '1'],
      [5_000, delivery.body.length >> 1, '2'],
    ]);
    expect(sent('stripped-v2', 'duplicate')[1]?.headers).not.toHaveProperty('x-service-signature-v2');
    expect(sent('truncated', 'duplicate', 'stale').map(({ at }) => at)).toEqual([NOW - 600_000, NOW - 600_000]);
    expect(sent()).toMatchObject([delivery]);
  });

  it('reserialised has to stand before truncated', () => {
    expect(() => sent('truncated', 'reserialised')).toThrow('put it before truncated');
  });

  it('every fault has a name and a description', () => {
    expect(FAULT_NAMES).toEqual(Object.keys(FAULTS));
    for (const { says } of Object.values(FAULTS)) expect(says).toMatch(/\w+ \w+/);
  });
});
