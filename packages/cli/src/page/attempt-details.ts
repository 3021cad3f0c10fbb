import { type HeaderSource, isWebhookError, type Secret, type SignatureOptions, verify } from 'service-webhooks';
import { explain } from '../explain/index.js';
import type { AttemptRow, BodyView, Header, Verdict } from './page-source.js';

// What every source of the page shows of an attempt: the verdict on its signature, whether the app knew the event, and the bodies.

/** Explaining larger ones takes seconds and blocks everything else. */
const MAX_EXPLAINED_BYTES = 64 * 1024;
/** The largest part of a body that is shown, in bytes. */
export const MAX_SHOWN_BYTES = 256 * 1024;
/** Smaller, because hex needs three characters for a byte. */
const MAX_HEX_BYTES = 16 * 1024;

export interface Judged {
  headers: HeaderSource;
  body: Uint8Array;
  /** The secrets; undefined verifies nothing. */
  secret: Secret | readonly Secret[] | undefined;
  /** When it was sent, in milliseconds since the epoch: it is verified as of then. */
  at: number;
}

/** Returns whether the signature is valid, and the causes if not. */
export function judge({ headers, body, secret, at }: Judged, options: SignatureOptions = {}): Verdict {
  if (secret === undefined) return { verdict: 'unverified', causes: [] };
  const input = { ...options, headers, body, secret, now: () => at };
  if (body.length <= MAX_EXPLAINED_BYTES) return explain(input);
  try {
    verify(input);
    return { verdict: 'accepted', causes: [] };
  } catch (error) {
    if (isWebhookError(error)) return { verdict: error.code, causes: [] };
    throw error;
  }
}

/** An answer, as every source has it. */
export interface GivenAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns whether the app has answered that it knows the event already, as receivers of this library do. */
export function isRecognised(answer: GivenAnswer | undefined): Pick<AttemptRow, 'recognised'> {
  return answer?.headers['idempotency-replayed'] === 'true' ? { recognised: true } : {};
}

/** Returns headers as a text to search in. */
export function headerText(headers: readonly Header[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

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
