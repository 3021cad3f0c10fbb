import { expect, it } from 'vitest';
import { aDelivery, anEvent, bodyOf, NOW, SECRET } from '../../../../test/support/deliveries.js';
import { isRecognised, judge, MAX_SHOWN_BYTES, viewBody } from '../../src/page/attempt-details.js';

const MOST_EXPLAINED = 64 * 1024;

/** An event of so many bytes, with its signature. */
function signed(bytes: number) {
  const padding = bytes - bodyOf({ data: { text: '' } }).length;
  return { ...aDelivery({ event: anEvent({ data: { text: 'x'.repeat(padding) } }) }), secret: SECRET, at: NOW };
}

const asBytes = ({ body, ...given }: ReturnType<typeof signed>) => ({ ...given, body: Buffer.from(body) });

it.each([MOST_EXPLAINED, MOST_EXPLAINED + 1])('the page judges a signed body of %i bytes as accepted', (bytes) => {
  expect(judge(asBytes(signed(bytes)))).toMatchObject({ verdict: 'accepted', causes: [] });
});

it('the page names causes of a wrong signature only for bodies of up to 64 KiB', () => {
  const changed = (bytes: number) => ({ ...asBytes(signed(bytes)), body: Buffer.alloc(bytes, 'y') });
  const { verdict, causes } = judge(changed(MOST_EXPLAINED));
  expect(verdict).toBe('signature_mismatch');
  expect(causes).not.toEqual([]);
  expect(judge(changed(MOST_EXPLAINED + 1))).toEqual({ verdict: 'signature_mismatch', causes: [] });
});

it('the page judges a signature as of the time of the attempt, under the header prefix', () => {
  const given = asBytes(signed(MOST_EXPLAINED + 1));
  expect(judge({ ...given, at: NOW + 3_600_000 }).verdict).toBe('timestamp_too_old');
  expect(judge(given, { headerPrefix: 'x-acme' }).verdict).toBe('missing_signature');
});

const answer = (headers: Record<string, string>) => ({ status: 200, headers, body: '' });

it('an answer to a duplicate is recognised by its header Idempotency-Replayed', () => {
  expect(isRecognised(answer({ 'idempotency-replayed': 'true' }))).toEqual({ recognised: true });
  expect(isRecognised(answer({ 'idempotency-replayed': 'no' }))).toEqual({});
  expect(isRecognised(undefined)).toEqual({});
});

it('a body of text is shown as it is, with its byte order mark', () => {
  const text = '\uFEFF{ "a": "\u00e9\u0000\u2028" }\r\n';
  expect(viewBody(Buffer.from(text))).toEqual({ text, bytes: 22, shown: 'text', cut: false });
});

it('a body that is not UTF-8 is shown in hex, 16 bytes a line', () => {
  const { text, shown } = viewBody(new Uint8Array(18).fill(0xff));
  expect([shown, text]).toEqual(['hex', `${Array(16).fill('ff').join(' ')}\nff ff`]);
});

it.each([
  ['a character that is cut off', [0x61, 0xc3], '61 c3'],
  ['two whole lines', Array(32).fill(0xff), `${Array(16).fill('ff').join(' ')}\n${Array(16).fill('ff').join(' ')}`],
])('a body of %s is shown in hex', (_, bytes, text) => {
  expect(viewBody(Uint8Array.from(bytes))).toEqual({ text, bytes: bytes.length, shown: 'hex', cut: false });
});

it('a body that is not UTF-8 is shown up to 16 KiB', () => {
  const whole = viewBody(new Uint8Array(16 * 1024).fill(0xff));
  expect(whole).toMatchObject({ cut: false, text: expect.stringMatching(/^(?:(?:ff ){15}ff\n){1023}(?:ff ){15}ff$/) });
  expect(viewBody(new Uint8Array(16 * 1024 + 1).fill(0xff))).toMatchObject({ cut: true, text: whole.text });
});

it('a long body is shown from its beginning, and ends with a whole character', () => {
  const { text, bytes, cut } = viewBody(Buffer.from(`x${'\u00e9'.repeat(MAX_SHOWN_BYTES)}`));
  expect({ bytes, cut }).toEqual({ bytes: 2 * MAX_SHOWN_BYTES + 1, cut: true });
  expect(text).toHaveLength(MAX_SHOWN_BYTES / 2);
  expect(text).not.toContain('\uFFFD');
});

it('an empty body has nothing to show', () => {
  expect(viewBody(new Uint8Array())).toEqual({ text: '', bytes: 0, shown: 'text', cut: false });
});
