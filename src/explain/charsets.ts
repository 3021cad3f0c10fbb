const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text, if the bytes are UTF-8. A byte order mark stays. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What most tools mean by Latin-1: as browsers have it, without a hole. */
const WINDOWS_1252 = [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, i) => i))];
const CODES = new Map(WINDOWS_1252.map((character, code) => [character, code]));

/** Bytes with one for each character; undefined where a character has none. */
export function toSingleBytes(text: string, charset: 'latin1' | 'windows-1252'): Buffer | undefined {
  if (charset === 'latin1') return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
  const codes = Array.from(text, (character) => CODES.get(character) ?? -1);
  return codes.includes(-1) ? undefined : Buffer.from(codes);
}

/** Text with one character for each byte. */
export function fromSingleBytes(bytes: Buffer, charset: 'latin1' | 'windows-1252'): string {
  const text = bytes.toString('latin1');
  return charset === 'latin1' ? text : text.replace(/[\x80-\x9f]/g, (c) => WINDOWS_1252[c.charCodeAt(0)] ?? c);
}
