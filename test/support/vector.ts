import { type Delivery, isWebhookError, type VerifyInput, type WebhookErrorCode } from 'service-webhooks';

/** One of `fixtures/vectors.json`; `fixtures/README.md` says what the fields mean. Nothing here needs Node. */
export interface Vector {
  group: string;
  name: string;
  headers: readonly (readonly [name: string, value: string])[];
  bodyBase64: string;
  secrets: readonly (string | { base64: string })[];
  now: number;
  options: Pick<VerifyInput, 'headerPrefix' | 'legacy' | 'toleranceSeconds'>;
  expect:
    | ({ accept: true; eventId: string; type: string } & Pick<Delivery, 'scheme' | 'secretIndex'>)
    | { accept: false; code: WebhookErrorCode; status: number };
}

export type Verdict = Vector['expect'];

/** What `verify` and a receiver take of a vector, but headers and body. */
export function settingsOf({ secrets, now, options }: Vector) {
  const secret = secrets.map((one) => (typeof one === 'string' ? one : fromBase64(one.base64)));
  return { ...options, secret, now: () => now };
}

export function bodyOf({ bodyBase64 }: Vector): Uint8Array {
  return fromBase64(bodyBase64);
}

export function accepted({ event, scheme, secretIndex }: Delivery): Verdict {
  return { accept: true, scheme, secretIndex, eventId: event.id, type: event.type };
}

export function refused(error: unknown): Verdict {
  if (!isWebhookError(error)) throw error;
  return { accept: false, code: error.code, status: error.status };
}

/**
 * Why a vector cannot be put into an HTTP request without becoming another one; undefined for nearly all.
 * RFC 9110, 5.5: white space around a field value is no part of it, and CR, LF and NUL are not allowed in one.
 */
export function changedByHttp({ headers }: Vector): string | undefined {
  const values = headers.map(([, value]) => value);
  if (values.some((value) => /[\r\n\0]/.test(value))) return 'holds what ends or breaks a header';
  if (values.some((value) => /^[ \t]|[ \t]$/.test(value))) return 'has white space around it, which HTTP takes off';
  return undefined;
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
