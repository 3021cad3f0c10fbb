import type { Attempt } from 'service-webhooks-emulator';
import { expect, it } from 'vitest';
import { aDelivery, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { outcomeOf, toAttemptDetails, toAttemptRow } from '../../../src/page/emulator/emulator-attempts.js';

/** An attempt that was acknowledged, except for what is changed. */
function anAttempt(changes: Partial<Attempt> = {}): Attempt {
  const { headers, body } = aDelivery();
  return {
    ...{ seq: 7, deliveryId: 'dlv_1', endpointId: 'wh_1', eventId: 'evt_1', type: 'stt.completed' },
    ...{ number: 2, redelivery: 1, duplicate: false, at: NOW, endedAt: NOW + 5, faults: [] },
    request: { method: 'POST', url: 'http://127.0.0.1/hooks', headers, body: Buffer.from(body) },
    answer: { status: 200, headers: { 'x-a': '1' }, body: 'fine' },
    ...{ outcome: 'acknowledged', reason: '2xx', error: undefined, state: 'delivered', nextAt: undefined },
    ...changes,
  };
}

it('the row of an attempt of the emulator has its number, times, status and faults', () => {
  expect(toAttemptRow(anAttempt())).toEqual({
    ...{ id: '7', kind: 'attempt', number: 2, redelivery: 1, at: NOW, endedAt: NOW + 5 },
    ...{ acknowledged: true, status: 200, problem: undefined, faults: [] },
  });
  expect(toAttemptRow(anAttempt({ outcome: 'failed', reason: 'non-2xx' }))).toMatchObject({ acknowledged: false });
});

it.each<[changes: Partial<Attempt>, kind: string]>([
  [{ duplicate: true }, 'duplicate'],
  [{ seq: 0 }, 'attempt'],
  [{ seq: -1 }, 'replay'],
])('an attempt of the emulator with %j is of the kind %s', (changes, kind) => {
  expect(toAttemptRow(anAttempt(changes)).kind).toBe(kind);
});

it.each<[changes: Partial<Attempt>, status: number | undefined, problem: string | undefined]>([
  [{ reason: '2xx' }, 200, undefined],
  [{ reason: 'non-2xx' }, 200, undefined],
  [{ reason: 'non-2xx', answer: undefined }, undefined, undefined],
  [{ reason: 'timeout' }, undefined, 'timeout'],
  [{ reason: 'connection_error', error: 'ECONNRESET' }, undefined, 'ECONNRESET'],
])('an attempt of the emulator with %j shows the status %j and the error %j', (changes, status, problem) => {
  expect(outcomeOf(anAttempt(changes))).toEqual({ status, problem });
});

const KNOWN = { secret: SECRET, headerPrefix: 'x-service' };

it('the details of an attempt have the request, the answer and the verdict on the signature', () => {
  const attempt = anAttempt();
  expect(toAttemptDetails(attempt, KNOWN)).toEqual({
    ...toAttemptRow(attempt),
    request: {
      method: 'POST',
      url: 'http://127.0.0.1/hooks',
      headers: Object.entries(attempt.request.headers),
      body: expect.objectContaining({ shown: 'text', text: expect.stringContaining('evt_1') }),
    },
    answer: { status: 200, headers: [['x-a', '1']], body: expect.objectContaining({ text: 'fine' }) },
    verdict: { verdict: 'accepted', causes: [] },
  });
  expect(toAttemptDetails({ ...attempt, answer: undefined }, KNOWN).answer).toBeUndefined();
  expect(toAttemptDetails(attempt, { ...KNOWN, headerPrefix: 'x-acme' }).verdict.verdict).toBe('missing_signature');
});

it('a wrong secret is not named as a cause for what the emulator has signed', () => {
  const { verdict } = toAttemptDetails(anAttempt(), { ...KNOWN, secret: 'whsec_of_somebody_else' });
  expect(verdict.verdict).toBe('signature_mismatch');
  expect(verdict.causes.map(({ cause }) => cause)).not.toContain('secret_wrong');
});
