import { expect, it } from 'vitest';
import { MAX_SHOWN_BYTES, viewBody } from '../../src/page/view-body.js';

it('shows text as it is, with a byte order mark and all', () => {
  const text = '\uFEFF{ "a": "\u00e9\u0000\u2028" }\r\n';
  expect(viewBody(Buffer.from(text))).toEqual({ text, bytes: 22, shown: 'text', cut: false });
});

it('shows bytes that are no UTF-8 in hex, 16 a line', () => {
  const { text, shown } = viewBody(new Uint8Array(18).fill(0xff));
  expect([shown, text]).toEqual(['hex', `${Array(16).fill('ff').join(' ')}\nff ff`]);
});

it.each([
  ['a character that is cut off', [0x61, 0xc3], '61 c3'],
  ['two whole lines', Array(32).fill(0xff), `${Array(16).fill('ff').join(' ')}\n${Array(16).fill('ff').join(' ')}`],
])('shows %s in hex', (_, bytes, text) => {
  expect(viewBody(Uint8Array.from(bytes))).toEqual({ text, bytes: bytes.length, shown: 'hex', cut: false });
});

it('shows 16 KiB of bytes that are no UTF-8', () => {
  const whole = viewBody(new Uint8Array(16 * 1024).fill(0xff));
  expect(whole).toMatchObject({ cut: false, text: expect.stringMatching(/^(?:(?:ff ){15}ff\n){1023}(?:ff ){15}ff$/) });
  expect(viewBody(new Uint8Array(16 * 1024 + 1).fill(0xff))).toMatchObject({ cut: true, text: whole.text });
});

it('shows the beginning of what is long, and no half character at its end', () => {
  const { text, bytes, cut } = viewBody(Buffer.from(`x${'\u00e9'.repeat(MAX_SHOWN_BYTES)}`));
  expect({ bytes, cut }).toEqual({ bytes: 2 * MAX_SHOWN_BYTES + 1, cut: true });
  expect(text).toHaveLength(MAX_SHOWN_BYTES / 2);
  expect(text).not.toContain('\uFFFD');
});

it('has nothing to show of no body', () => {
  expect(viewBody(new Uint8Array())).toEqual({ text: '', bytes: 0, shown: 'text', cut: false });
});
