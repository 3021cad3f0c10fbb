/**
 * Everything that can go wrong, as a stable code with the HTTP status it is answered with. Each has a heading in
 * `docs/errors.md`. The last ones are thrown at construction or by `verify`.
 */
export interface WebhookErrorStatus {
  missing_signature: 401;
  malformed_signature: 401;
  signature_mismatch: 401;
  timestamp_too_old: 401;
  timestamp_in_future: 401;
  legacy_not_accepted: 401;
  invalid_encoding: 400;
  invalid_json: 400;
  invalid_envelope: 400;
  body_incomplete: 400;
  method_not_allowed: 405;
  body_timeout: 408;
  delivery_in_progress: 409;
  body_too_large: 413;
  unsupported_content_encoding: 415;
  handler_failed: 500;
  permanent_failure: 200;
  body_already_parsed: 500;
  body_already_read: 500;
  handler_timeout: 503;
  store_unavailable: 503;
  secret_unavailable: 503;
  invalid_secret: 500;
  invalid_option: 500;
  sync_crypto_unavailable: 500;
}

/** What {@link WebhookError} is about: one of the codes of {@link WebhookErrorStatus}. */
export type WebhookErrorCode = keyof WebhookErrorStatus;

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
export class WebhookError<Code extends WebhookErrorCode = WebhookErrorCode> extends Error {
  override readonly name: string = 'WebhookError';
  /** Stable, machine-readable; branch on this. */
  declare readonly code: Code;
  /** The HTTP status a receiver answers with. */
  declare readonly status: number;
  /** Whether the same delivery, sent again, may be accepted. */
  declare readonly retryable: boolean;
  /** What to do about it, for the operator's log. */
  declare readonly hint: string;
  readonly [BRAND] = true;

  /** `found`: what was found, beside what the code says already. */
  constructor(
    code: Code,
    status: WebhookErrorStatus[Code],
    hint: string,
    found?: string,
    options?: { cause?: unknown },
  ) {
    super(found ? `${code}: ${found}` : code, options);
    this.code = code;
    this.status = status;
    this.retryable = status === 408 || status === 409 || status >= 500 || code === 'body_incomplete';
    this.hint = hint;
  }
}

/** For what the user's own code threw: it is the cause, and the sender comes again. */
export function failureOf<Code extends WebhookErrorCode>(
  code: Code,
  status: WebhookErrorStatus[Code],
  cause: unknown,
  found?: string,
): WebhookError {
  return new WebhookError(code, status, 'See its cause.', found, { cause });
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
export class PermanentError extends WebhookError<'permanent_failure'> {
  override readonly name: string = 'PermanentError';

  constructor(reason?: string, options?: { cause?: unknown }) {
    super('permanent_failure', 200, 'No retry helps.', reason, options);
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
    return (value as WebhookError)[BRAND] === true && (value as WebhookError).status < 600;
  } catch {
    return false; // null, undefined, or a getter that throws
  }
}
