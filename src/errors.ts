/** The description of a {@link WebhookErrorCode}. */
export interface ErrorDescription {
  /** The HTTP status that a receiver answers with. */
  readonly status: number;
  /** Whether a retry of the same delivery may be accepted, without a change of your code or its settings. */
  readonly retryable: boolean;
  /** What happened and the likely cause. */
  readonly message: string;
  /** What to do about the error. */
  readonly hint: string;
}

/**
 * Every error of the library: its status, whether a retry can help, what happened and what to do. Each code has a
 * heading in `docs/errors.md`.
 *
 * @example
 * console.error(ERRORS['body_too_large'].message, ERRORS['body_too_large'].hint);
 */
export const ERRORS = {
  missing_signature: {
    status: 401,
    retryable: false,
    message: 'The request has no signature header.',
    hint: 'Set headerPrefix to the prefix of your service, and check that no proxy drops the header.',
  },
  malformed_signature: {
    status: 401,
    retryable: false,
    message: 'The signature header is malformed.',
    hint: 'Compare it with the one the service sent: a proxy may have changed it.',
  },
  signature_mismatch: {
    status: 401,
    retryable: false,
    message: 'The signature does not match: the secret belongs to another endpoint, or the body was changed.',
    hint: "Use this endpoint's secret and the raw body. To find the cause, keep a delivery with 'npx service-webhooks-cli listen --capture', and run 'npx service-webhooks-cli explain' on its file.",
  },
  timestamp_too_old: {
    status: 401,
    retryable: false,
    message: 'The signed time is too old: the delivery was delayed or replayed, or the clock of this machine is fast.',
    hint: 'Synchronise the clock of this machine.',
  },
  timestamp_in_future: {
    status: 401,
    retryable: false,
    message: 'The signed time is in the future: the clock of this machine is slow.',
    hint: 'Synchronise the clock of this machine.',
  },
  legacy_not_accepted: {
    status: 401,
    retryable: false,
    message: 'The request has only the legacy signature, which can be replayed.',
    hint: "Find out what drops the V2 header, or pass legacy: 'accept'.",
  },
  invalid_encoding: {
    status: 400,
    retryable: false,
    message: 'The signature is valid, but the body is not UTF-8.',
    hint: 'Check what else signs with this secret.',
  },
  invalid_json: {
    status: 400,
    retryable: false,
    message: 'The signature is valid, but the body is not JSON.',
    hint: 'Check what else signs with this secret.',
  },
  invalid_envelope: {
    status: 400,
    retryable: false,
    message: 'The signature is valid, but the body is not an event.',
    hint: 'Check what else signs with this secret.',
  },
  body_incomplete: {
    status: 400,
    retryable: true,
    message: 'The connection closed before the whole body arrived.',
    hint: 'If this happens often, check the timeouts of your proxy.',
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: 'The request is not a POST.',
    hint: 'Give the service the final URL: a redirect turns a POST into a GET.',
  },
  body_timeout: {
    status: 408,
    retryable: true,
    message: 'The body did not arrive in time.',
    hint: 'If this happens often, check the buffering of your proxy.',
  },
  delivery_in_progress: {
    status: 409,
    retryable: true,
    message: 'Another attempt of this event is being handled.',
    hint: 'Do nothing: the service retries.',
  },
  body_too_large: {
    status: 413,
    retryable: false,
    message: 'The body is larger than maxBodyBytes.',
    hint: 'Raise maxBodyBytes if the service sent it.',
  },
  unsupported_content_encoding: {
    status: 415,
    retryable: false,
    message: 'The body is compressed, but the signature covers the plain bytes.',
    hint: 'Check that no proxy compresses requests.',
  },
  handler_failed: {
    status: 500,
    retryable: true,
    message: 'Your handler failed, and the event is not done.',
    hint: 'Fix error.cause, or throw PermanentError if no retry can help.',
  },
  unexpected_data: {
    status: 500,
    retryable: false,
    message: 'The data of the event is not what the types or the schema of its handler promise.',
    hint: "Compare the types with the event, or handle it in '*' and check its data there.",
  },
  permanent_failure: {
    status: 200,
    retryable: false,
    message: 'Your handler threw a PermanentError.',
    hint: 'Do nothing: no retry follows. A queue keeps the event as a dead letter.',
  },
  body_already_parsed: {
    status: 500,
    retryable: false,
    message: 'A body parser ran first, and what it left cannot be verified.',
    hint: "Pass the raw body: mount the receiver above the body parser, or keep the bytes with express.raw({ type: '*/*' }) in place of the parser, or with request.arrayBuffer().",
  },
  body_already_read: {
    status: 500,
    retryable: false,
    message: 'The body was read before the receiver could read it.',
    hint: 'Give the receiver the request before other code reads its body, or pass the raw body.',
  },
  wrong_adapter: {
    status: 500,
    retryable: false,
    message: 'The handler was called with arguments that its adapter cannot read.',
    hint: 'Import webhookHandler from the sub-path of your framework.',
  },
  handler_timeout: {
    status: 503,
    retryable: true,
    message: 'Your handler is still running at deadlineMs.',
    hint: 'Put long work into a queue and return { status: 202 }.',
  },
  store_unavailable: {
    status: 503,
    retryable: true,
    message: 'The dedupe store failed, and the event was not handled.',
    hint: 'Fix error.cause: the service retries.',
  },
  secret_unavailable: {
    status: 503,
    retryable: true,
    message: 'Your secret function failed or took too long.',
    hint: 'Fix error.cause: the service retries.',
  },
  queue_unavailable: {
    status: 503,
    retryable: true,
    message: 'The queue did not take the delivery.',
    hint: 'Fix error.cause: the service retries.',
  },
  unreadable_job: {
    status: 500,
    retryable: true,
    message: 'The job is not a queued delivery.',
    hint: 'Run a worker of the version that queued it, and check what else writes to the queue.',
  },
  body_unavailable: {
    status: 503,
    retryable: true,
    message: 'The body of the job could not be read.',
    hint: 'Fix error.cause: the job is retried.',
  },
  job_timeout: {
    status: 503,
    retryable: true,
    message: 'No event has ended the job in time.',
    hint: 'Wait again, or see with jobs.find() whether it is expected. Once it is overdue, jobs.reconcile() asks the service.',
  },
  invalid_secret: {
    status: 500,
    retryable: false,
    message: 'The secret cannot be used.',
    hint: 'Pass the signing secret of the endpoint as the service showed it.',
  },
  invalid_option: {
    status: 500,
    retryable: false,
    message: 'An option is invalid.',
    hint: 'Correct it, or leave it out for its default.',
  },
  sync_crypto_unavailable: {
    status: 500,
    retryable: false,
    message: 'This runtime lacks the crypto module of Node.',
    hint: 'Use verifyAsync.',
  },
} as const satisfies Record<string, ErrorDescription>;

/** The code of a {@link WebhookError}: a key of {@link ERRORS}. */
export type WebhookErrorCode = keyof typeof ERRORS;

/** The codes of refused requests whose signature is valid: any sender can cause the other refusals. */
export const SIGNED_REFUSALS: readonly WebhookErrorCode[] = ['invalid_encoding', 'invalid_json', 'invalid_envelope'];

/** The details of an error beyond its code. */
export interface WebhookErrorDetails {
  /** What happened, in place of the message in {@link ERRORS}: a whole sentence. */
  message?: string | undefined;
  /** What to do, in place of the hint in {@link ERRORS}: a whole sentence. */
  hint?: string | undefined;
  /** Of `unexpected_data`: the paths of the fields, such as `data.text`. */
  paths?: readonly string[] | undefined;
  cause?: unknown;
}

// `Symbol.for`, so that an error of another copy of the package (ESM next to CommonJS) is recognised too.
const BRAND: unique symbol = Symbol.for('service-webhooks.error');

/**
 * The error class of the library.
 *
 * `message` says what happened, the likely cause and what to do, and ends with the code. It is for the operator: a
 * receiver never sends it, and it never contains a secret, an expected signature or a piece of the body.
 *
 * @example
 * try {
 *   verify({ headers, body, secret });
 * } catch (error) {
 *   if (isWebhookError(error)) console.warn(error.message);
 * }
 */
export class WebhookError<Code extends WebhookErrorCode = WebhookErrorCode> extends Error {
  override readonly name: string = 'WebhookError';
  /** The stable, machine-readable code of the error: branch on this. */
  readonly code: Code;
  /** The HTTP status that a receiver answers with. */
  readonly status: number;
  /** Whether a retry of the same delivery may be accepted, without a change of your code or its settings. */
  readonly retryable: boolean;
  /** What happened and the likely cause: the first part of `message`. */
  readonly problem: string;
  /** What to do about the error: the part of `message` before the code. */
  readonly hint: string;
  /**
   * Of `unexpected_data`: where `data` differs from what its types or its schema promise, without values, for metrics. At
   * most 10 paths, such as `data.segments[].text`; a key that is not the name of a field is `*`. Undefined for other codes.
   */
  readonly paths: readonly string[] | undefined;
  readonly [BRAND] = true;

  constructor(code: Code, details: WebhookErrorDetails = {}) {
    const { status, retryable, message, hint } = ERRORS[code];
    const { message: problem = message, hint: advice = hint } = details;
    super(`${problem} ${advice} (${code})`, 'cause' in details ? { cause: details.cause } : {});
    this.code = code;
    this.status = status;
    this.retryable = retryable;
    this.problem = problem;
    this.hint = advice;
    this.paths = details.paths;
  }

  /** Returns the fields for a log: `JSON.stringify` of an error has no message otherwise. */
  toJSON(): Pick<WebhookError, 'code' | 'message' | 'status' | 'retryable' | 'hint' | 'paths'> {
    const { code, message, status, retryable, hint, paths } = this;
    return { code, message, status, retryable, hint, paths };
  }
}

/**
 * Thrown by a handler to end the retries of an event that can never be handled. The delivery is acknowledged with 200,
 * recorded as completed, and reported to `observe` as `discarded`. The event is not handled again.
 *
 * @example
 * createReceiver({
 *   secret,
 *   on: {
 *     'generation.completed': async (event) => {
 *       if (!(await exists(event.data.clipId))) throw new PermanentError('no such clip here');
 *     },
 *   },
 * });
 */
export class PermanentError extends WebhookError<'permanent_failure'> {
  override readonly name: string = 'PermanentError';
  /** The text that the handler gave: the reason of the dead letter in a queue. */
  readonly reason: string | undefined;

  constructor(reason?: string, options?: { cause?: unknown }) {
    super('permanent_failure', { message: reason && `Your handler threw a PermanentError: ${reason}.`, ...options });
    this.reason = reason;
  }
}

/**
 * Returns whether a value is a {@link WebhookError}, including one of another copy of this package. Never throws.
 *
 * @example
 * if (isWebhookError(error) && error.code === 'timestamp_too_old') console.warn('Check the clock of this machine.');
 */
export function isWebhookError(value: unknown): value is WebhookError {
  try {
    return (value as WebhookError)[BRAND] === true && (value as WebhookError).status < 600;
  } catch {
    return false; // null, undefined, or a getter that throws
  }
}
