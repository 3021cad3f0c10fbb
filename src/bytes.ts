import { WebhookError } from './errors.js';

export const utf8 = new TextEncoder();

/**
 * Returns the exact bytes of a body: bytes unchanged, text as UTF-8. Any other value comes from a parser and cannot be
 * verified.
 *
 * @throws WebhookError `body_already_parsed`; TypeError for bytes whose buffer was transferred
 */
export function exactBytes(body: unknown, rawBodyFix?: string): Uint8Array {
  if (typeof body === 'string') return utf8.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return plainView(body);
  const kind = Array.isArray(body) ? 'array' : body === null ? 'null' : typeof body;
  const message = `A body parser ran first, and what it left cannot be verified (type ${kind}, not bytes).`;
  throw new WebhookError('body_already_parsed', { message, hint: rawBodyFix });
}

// The getters of the internal slots, because a subclass or an own property of a view can return a false `length`.
const TypedArray = Object.getPrototypeOf(Uint8Array) as typeof Uint8Array;
const typedArraySlots = slotsOf(TypedArray.prototype);
const dataViewSlots = slotsOf(DataView.prototype);

function slotsOf(prototype: ArrayBufferView) {
  const { buffer, byteOffset, byteLength } = Object.getOwnPropertyDescriptors(prototype);
  return (view: ArrayBufferView): Uint8Array =>
    new Uint8Array(buffer.get?.call(view) as ArrayBuffer, byteOffset.get?.call(view), byteLength.get?.call(view));
}

function plainView(view: ArrayBufferView): Uint8Array {
  const bytes = view instanceof DataView ? dataViewSlots(view) : typedArraySlots(view);
  // Another thread can change shared memory between the check and the use.
  return bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice();
}

/** Returns bytes as lowercase hex digits. */
export function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** Returns bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  const { Buffer } = globalThis as { Buffer?: typeof globalThis.Buffer };
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  // Some runtimes have no Buffer, such as Cloudflare Workers without `nodejs_compat`.
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

/** Returns where a text of ASCII begins in bytes for the last time, or -1. */
export function lastIndexOf(bytes: Uint8Array, ascii: string): number {
  for (let start = bytes.length - ascii.length; start >= 0; start -= 1) {
    let length = 0;
    while (length < ascii.length && bytes[start + length] === ascii.charCodeAt(length)) length += 1;
    if (length === ascii.length) return start;
  }
  return -1;
}

/** Returns all chunks in one array. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
