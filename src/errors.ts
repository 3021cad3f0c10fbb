/**
 * Everything that can go wrong, as a stable code. Each has a heading in `docs/errors.md`.
 *
 * The codes that answer a delivery come first; the last ones are thrown at construction or by `verify`.
 */
export type WebhookErrorCode =
  | 'missing_signature'
  | 'malformed_signature'
  | 'signature_mismatch'
  | 'timestamp_too_old'
  | 'timestamp_in_future'
  | 'legacy_not_accepted'
  | 'invalid_encoding'
  | 'invalid_json'
  | 'invalid_envelope'
  | 'body_incomplete'
  | 'method_not_allowed'
  | 'body_timeout'
  | 'delivery_in_progress'
  | 'body_too_large'
  | 'unsupported_content_encoding'
  | 'handler_failed'
  | 'permanent_failure'
  | 'body_already_parsed'
  | 'body_already_read'
  | 'handler_timeout'
  | 'store_unavailable'
  | 'secret_unavailable'
  | 'invalid_secret'
  | 'invalid_option'
  | 'sync_crypto_unavailable';

/** 500 for every other code: the fault is on this side. */
const STATUS: Partial<Record<WebhookErrorCode, number>> = {
  missing_signature: 401,
  malformed_signature: 401,
  signature_mismatch: 401,
  timestamp_too_old: 401,
  timestamp_in_future: 401,
  legacy_not_accepted: 401,
  invalid_encoding: 400,
  invalid_json: 400,
  invalid_envelope: 400,
  body_incomplete: 400,
  method_not_allowed: 405,
  body_timeout: 408,
  delivery_in_progress: 409,
  body_too_large: 413,
  unsupported_content_encoding: 415,
  permanent_failure: 200,
  handler_timeout: 503,
  store_unavailable: 503,
  secret_unavailable: 503,
};

// `Symbol.for`, so that an error of another copy of the package (ESM beside CommonJS) is recognised too.
const BRAND: unique symbol = Symbol.for('service-webhooks.error');

/**
 * The one error of the library.
 *
 * `message` says what was found, `hint` what to do about it, and `docs/errors.md` has more under the code. Both are
 * for the operator: neither is ever sent to whoever made the request, and neither holds a secret, an expected
 * signature or a piece of the body.
 *
 * @example
 * try {
 *   verify({ headers, body, secret });
 * } catch (error) {
 *   if (isWebhookError(error)) console.warn(error.code, error.message, error.hint);
 * }
 */
export class WebhookError extends Error {
  override readonly name: string = 'WebhookError';
  /** Stable, machine-readable; branch on this. */
  readonly code: WebhookErrorCode;
  /** The HTTP status a receiver answers with. */
  readonly status: number;
  /** Whether the same delivery, sent again, may be accepted. */
  readonly retryable: boolean;
  /** What to do about it, for the operator's log. */
  readonly hint: string;
  readonly [BRAND] = true;

  /** `found`: what was found, beside what the code says already. */
  constructor(code: WebhookErrorCode, hint: string, found?: string, options?: { cause?: unknown }) {
    super(found === undefined ? inWords(code) : `${inWords(code)}: ${found}`, options);
    const status = STATUS[code] ?? 500;
    this.code = code;
    this.status = status;
    this.retryable = status === 408 || status === 409 || status >= 500 || code === 'body_incomplete';
    this.hint = hint;
  }
}

/** For what the user's own code threw: it is the cause, and the sender comes again. */
export function failureOf(code: WebhookErrorCode, cause: unknown, found?: string): WebhookError {
  return new WebhookError(code, 'Look at the cause. The sender tries again.', found, { cause });
}

/** `signature_mismatch` as "signature mismatch". */
export function inWords(code: WebhookErrorCode): string {
  return code.replaceAll('_', ' ');
}

/**
 * Thrown by a handler to end the retries of an event that can never be handled: the delivery is acknowledged with
 * 200, recorded as completed, and reported to `observe` as `rejected`. The event is not handled again.
 *
 * @example
 * on: {
 *   'generation.completed': async (event) => {
 *     if (!(await clips.exists(event.data.clipId))) throw new PermanentError('no such clip here');
 *   },
 * }
 */
export class PermanentError extends WebhookError {
  override readonly name: string = 'PermanentError';

  constructor(reason?: string, options?: { cause?: unknown }) {
    super('permanent_failure', 'The handler says that a retry is no use.', reason, options);
  }
}

/**
 * Whether a value is a {@link WebhookError}, also one made by another copy of this package. Never throws.
 *
 * @example
 * if (isWebhookError(error) && error.code === 'timestamp_too_old') alert('check the clock of this machine');
 */
export function isWebhookError(value: unknown): value is WebhookError {
  try {
    return (value as WebhookError)[BRAND] === true && typeof (value as WebhookError).code === 'string';
  } catch {
    return false; // null, undefined, or a getter that throws
  }
}
