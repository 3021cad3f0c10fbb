import { expect, it } from 'vitest';
import { judge } from '../../src/page/judge.js';
import { aDelivery, anEvent, bodyOf, NOW, SECRET } from '../support/deliveries.js';

const MOST_EXPLAINED = 64 * 1024;

/** An event of so many bytes, with its signature. */
function signed(bytes: number) {
  const padding = bytes - bodyOf({ data: { text: '' } }).length;
  return { ...aDelivery({ event: anEvent({ data: { text: 'x'.repeat(padding) } }) }), secret: SECRET, at: NOW };
}

const asBytes = ({ body, ...given }: ReturnType<typeof signed>) => ({ ...given, body: Buffer.from(body) });

it.each([MOST_EXPLAINED, MOST_EXPLAINED + 1])('accepts %i bytes that were signed', (bytes) => {
  expect(judge(asBytes(signed(bytes)))).toMatchObject({ verdict: 'accepted', causes: [] });
});

it('explains what does not verify, up to a size', () => {
  const changed = (bytes: number) => ({ ...asBytes(signed(bytes)), body: Buffer.alloc(bytes, 'y') });
  const { verdict, causes } = judge(changed(MOST_EXPLAINED));
  expect(verdict).toBe('signature_mismatch');
  expect(causes).not.toEqual([]);
  expect(judge(changed(MOST_EXPLAINED + 1))).toEqual({ verdict: 'signature_mismatch', causes: [] });
});

it('verifies as of the time when it was made, under the names that the headers have', () => {
  const given = asBytes(signed(MOST_EXPLAINED + 1));
  expect(judge({ ...given, at: NOW + 3_600_000 }).verdict).toBe('timestamp_too_old');
  expect(judge(given, { headerPrefix: 'x-acme' }).verdict).toBe('missing_signature');
});
