/** Returns bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  const CHUNK = 0x8000; // JavaScript engines limit the number of arguments of a call
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK) {
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(i, i + CHUNK));
  }
  return btoa(binary);
}

/** @throws DOMException for a text that is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
