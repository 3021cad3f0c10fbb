import {
  type ApiErrorCode,
  type ApiErrorType,
  type CanonicalCode,
  canonicalCode,
  LEGACY_RATE_LIMIT,
} from '../service/api-errors.js';
import { CallError, type CallFailure } from './call-error.js';

// `Symbol.for`, so that an error of another copy of the package (ESM beside CommonJS) is recognised too.
const BRAND: unique symbol = Symbol.for('service-webhooks.service-api-error');

/** The error object of the service (specification, section 7.1), as far as it came. */
export interface ErrorObject {
  type: ApiErrorType | (string & {});
  code: string;
  message: string;
  docUrl: string | undefined;
  param: string | undefined;
}

/**
 * The service refused or failed, and said so (specification, section 7). `message` is the service's own.
 *
 * @example
 * try {
 *   return await client.dubbing.job(id);
 * } catch (error) {
 *   if (isServiceApiError(error) && error.is('not_found')) return undefined;
 *   throw error;
 * }
 */
export class ServiceApiError extends CallError {
  override readonly name: string = 'ServiceApiError';
  /** The category. One that the specification does not have stays as it came. */
  readonly type: ApiErrorType | (string & {});
  /** Aliases are resolved: `internal_error` also where `server_error` came. A new code stays as it came. */
  readonly code: CanonicalCode | (string & {});
  declare readonly status: number;
  /** The service's page about the code. */
  readonly docUrl: string | undefined;
  /** The parameter that failed validation. */
  readonly param: string | undefined;
  readonly [BRAND] = true;

  constructor(error: ErrorObject, failure: CallFailure & { status: number }) {
    super(error.message, failure);
    this.type = error.type;
    this.code = canonicalCode(error.code);
    this.docUrl = error.docUrl;
    this.param = error.param;
  }

  /**
   * Whether it has that code, by whatever name: `rate_limited` is `rate_limit_exceeded`, `server_error` is
   * `internal_error`, and the legacy `rate_limit` is each of the four that have come in its place.
   */
  is(code: ApiErrorCode): boolean {
    if (code === 'rate_limit') return (LEGACY_RATE_LIMIT as readonly string[]).includes(this.code);
    return this.code === canonicalCode(code);
  }
}

/** Whether a value is a {@link ServiceApiError}, also one made by another copy of this package. Never throws. */
export function isServiceApiError(value: unknown): value is ServiceApiError {
  return value instanceof Error && (value as ServiceApiError)[BRAND] === true;
}
