const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text of UTF-8 bytes, with a byte order mark, or undefined where the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The characters of the bytes from 0x80 to 0x9f. A table, because TextDecoder of some Node versions treats them as
 * Latin-1.
 */
const WINDOWS_1252_ALONE =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** The charset that most tools call Latin-1, as browsers define it: without gaps. */
const WINDOWS_1252 = Array.from({ length: 256 }, (_, i) => WINDOWS_1252_ALONE[i - 0x80] ?? String.fromCharCode(i));
const CODES = new Map(WINDOWS_1252.map((character, code) => [character, code]));

/** Returns one byte for each character, or undefined where a character has none. */
export function toSingleBytes(text: string, charset: 'latin1' | 'windows-1252'): Buffer | undefined {
  if (charset === 'latin1') return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
  const codes = Array.from(text, (character) => CODES.get(character) ?? -1);
  return codes.includes(-1) ? undefined : Buffer.from(codes);
}

/** Returns one character for each byte. */
export function fromSingleBytes(bytes: Buffer, charset: 'latin1' | 'windows-1252'): string {
  const text = bytes.toString('latin1');
  return charset === 'latin1' ? text : text.replace(/[\x80-\x9f]/g, (c) => WINDOWS_1252[c.charCodeAt(0)] ?? c);
}

/** Returns the bytes of a text in base64 or base64url, or undefined where it is neither. */
export function fromBase64(text: string): Buffer | undefined {
  return /^[\w+/-]{4,}={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** Returns a text without its percent-encoding, or undefined where that is malformed. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
