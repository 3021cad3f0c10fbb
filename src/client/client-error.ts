import { CallError, type CallFailure } from './call-error.js';

const BRAND: unique symbol = Symbol.for('service-webhooks.client-error');

/** What a client can say for itself, and what to do about it. */
const HINTS = {
  no_connection: 'Is baseUrl right, and is the service reachable from here?',
  timed_out: 'Raise timeoutMs, or ask for less.',
  limit_reached: 'Wait for the window to reset, or raise timeoutMs above the wait.',
  redirected: 'Redirects are not followed, since they would take the key along. Set baseUrl to where it leads.',
  broken_off: 'The answer ended too soon. Look at the proxies between here and the service.',
  too_large: 'Raise maxAnswerBytes if it is genuine.',
  not_json: 'This is no answer of the service. Is baseUrl right? Does a proxy answer in its place?',
  unexpected_answer: 'The answer is not as the specification has it. client.request() gives it as it is.',
  outcome_unknown:
    'Look at client.webhooks.list(): an endpoint with this URL has a secret that nobody knows. Delete it.',
  link_expired: 'The specification has no route for it. Where you know one, give its path.',
  link_not_found: 'Where you know where the link is, give path and linkIn.',
} as const;

/** A code of {@link ClientError}; each has a row in `docs/client.md`. */
export type ClientErrorCode = keyof typeof HINTS;

const NOTHING_KNOWN: CallFailure = {
  status: undefined,
  requestId: undefined,
  retryAfter: undefined,
  retry: 'never',
  nothingDone: false,
  attempts: 0,
};

/**
 * There is no answer, or none of the service's: `message` says what there was, `hint` what to do.
 *
 * @example
 * if (isClientError(error) && error.code === 'no_connection') return cached;
 */
export class ClientError extends CallError {
  override readonly name: string = 'ClientError';
  /** Stable, machine-readable; branch on this. */
  readonly code: ClientErrorCode;
  readonly hint: string;
  readonly [BRAND] = true;

  constructor(code: ClientErrorCode, found: string, failure?: Partial<CallFailure>, options?: ErrorOptions) {
    super(`${code}: ${found}`, { ...NOTHING_KNOWN, ...failure }, options);
    this.code = code;
    this.hint = HINTS[code];
  }
}

/** Whether a value is a {@link ClientError}, also one made by another copy of this package. Never throws. */
export function isClientError(value: unknown): value is ClientError {
  return value instanceof Error && (value as ClientError)[BRAND] === true;
}
