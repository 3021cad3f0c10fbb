import { isWebhookError, PermanentError, WebhookError, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';

const CODES: Record<WebhookErrorCode, { status: number; retryable: boolean }> = {
  missing_signature: { status: 401, retryable: false },
  malformed_signature: { status: 401, retryable: false },
  signature_mismatch: { status: 401, retryable: false },
  timestamp_too_old: { status: 401, retryable: false },
  timestamp_in_future: { status: 401, retryable: false },
  legacy_not_accepted: { status: 401, retryable: false },
  invalid_encoding: { status: 400, retryable: false },
  invalid_json: { status: 400, retryable: false },
  invalid_envelope: { status: 400, retryable: false },
  body_incomplete: { status: 400, retryable: true },
  method_not_allowed: { status: 405, retryable: false },
  body_timeout: { status: 408, retryable: true },
  delivery_in_progress: { status: 409, retryable: true },
  body_too_large: { status: 413, retryable: false },
  unsupported_content_encoding: { status: 415, retryable: false },
  handler_failed: { status: 500, retryable: true },
  permanent_failure: { status: 200, retryable: false },
  body_already_parsed: { status: 500, retryable: true },
  body_already_read: { status: 500, retryable: true },
  handler_timeout: { status: 503, retryable: true },
  store_unavailable: { status: 503, retryable: true },
  secret_unavailable: { status: 503, retryable: true },
  invalid_secret: { status: 500, retryable: true },
  invalid_option: { status: 500, retryable: true },
  sync_crypto_unavailable: { status: 500, retryable: true },
};

describe('a WebhookError', () => {
  it.each(Object.entries(CODES) as [WebhookErrorCode, (typeof CODES)[WebhookErrorCode]][])(
    '%s has its status, and says whether the same delivery may be accepted later',
    (code, expected) => {
      expect(new WebhookError(code, 'Do this.')).toMatchObject(expected);
    },
  );

  it('is an Error with a name, a code in words as its message, and a hint', () => {
    const error = new WebhookError('body_already_parsed', 'Do this.');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'WebhookError', message: 'body already parsed', hint: 'Do this.' });
    expect(String(error)).toBe('WebhookError: body already parsed');
    expect('cause' in error).toBe(false);
  });

  it('adds what was found, and what caused it', () => {
    const cause = new Error('ECONNRESET');
    const error = new WebhookError('store_unavailable', 'Do this.', 'no answer', { cause });
    expect(error.message).toBe('store unavailable: no answer');
    expect(error.cause).toBe(cause);
  });

  it('may be caused by undefined', () => {
    expect('cause' in new WebhookError('handler_failed', 'x', undefined, { cause: undefined })).toBe(true);
  });
});

describe('a PermanentError', () => {
  it('is a WebhookError with a name of its own', () => {
    const cause = new Error('404');
    const error = new PermanentError('no such clip', { cause });
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ name: 'PermanentError', code: 'permanent_failure', status: 200, cause });
    expect(error.message).toBe('permanent failure: no such clip');
    expect(new PermanentError().message).toBe('permanent failure');
  });
});

describe('isWebhookError', () => {
  it('knows the errors of this library', () => {
    expect(isWebhookError(new WebhookError('invalid_json', 'x'))).toBe(true);
    expect(isWebhookError(new PermanentError())).toBe(true);
    expect(isWebhookError(Object.freeze(new WebhookError('invalid_json', 'x')))).toBe(true);
  });

  it('knows those of another copy of the package, which are no instances of this one', async () => {
    vi.resetModules();
    const copy = await import('../src/errors.js');
    const error = new copy.WebhookError('invalid_json', 'x');
    expect(error).not.toBeInstanceOf(WebhookError);
    expect(isWebhookError(error)).toBe(true);
    expect(copy.isWebhookError(new WebhookError('invalid_json', 'x'))).toBe(true);
  });

  const throwing = (): never => {
    throw new Error('a trap');
  };

  it.each<[string, unknown]>([
    ['an Error', new Error('invalid_json')],
    ['an object that looks alike', { name: 'WebhookError', code: 'invalid_json', status: 400 }],
    ['undefined', undefined],
    ['null', null],
    ['text', 'invalid_json'],
    ['a function', () => {}],
    ['a symbol', Symbol.for('service-webhooks.error')],
    ['a Proxy that throws on every trap', new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing })],
    [
      'an object with a brand that throws',
      Object.defineProperty({}, Symbol.for('service-webhooks.error'), { get: throwing }),
    ],
  ])('does not know %s, and never throws', (_, value) => {
    expect(isWebhookError(value)).toBe(false);
  });
});
