import type { BodyView } from './page-source.js';

/** The largest part of a body that is shown, in bytes. */
export const MAX_SHOWN_BYTES = 256 * 1024;
/** Smaller, because hex needs three characters for a byte. */
const MAX_HEX_BYTES = 16 * 1024;

/** Returns a body as text where it is text, otherwise as hex with 16 bytes a line. */
export function viewBody(body: Uint8Array): BodyView {
  const start = body.subarray(0, MAX_SHOWN_BYTES);
  const text = textOf(start, start.length < body.length);
  if (text !== undefined) return { text, bytes: body.length, shown: 'text', cut: start.length < body.length };
  const hex = Buffer.from(body.subarray(0, MAX_HEX_BYTES)).toString('hex');
  const lines = hex.replace(/.{32}(?=.)/g, '$&\n').replace(/..(?=.)/g, '$& ');
  return { text: lines, bytes: body.length, shown: 'hex', cut: MAX_HEX_BYTES < body.length };
}

/** Returns undefined for bytes that are not UTF-8; a character that was cut at the end is left out. */
function textOf(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {}
  return undefined;
}
