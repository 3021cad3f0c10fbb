import { isWebhookError, PermanentError, WebhookError, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { ERROR_STATUS } from './support/error-status.js';

const RETRYABLE = new Set<string>([
  'body_incomplete',
  'body_timeout',
  'delivery_in_progress',
  'handler_failed',
  'body_already_parsed',
  'body_already_read',
  'handler_timeout',
  'store_unavailable',
  'secret_unavailable',
  'invalid_secret',
  'invalid_option',
  'sync_crypto_unavailable',
]);

describe('a WebhookError', () => {
  it.each(Object.keys(ERROR_STATUS) as WebhookErrorCode[])(
    '%s has its status, and says whether the same delivery may be accepted later',
    (code) => {
      const status = ERROR_STATUS[code];
      expect(new WebhookError(code, status, 'Do this.')).toMatchObject({ status, retryable: RETRYABLE.has(code) });
    },
  );

  it('is an Error with a name, its code as its message, and a hint', () => {
    const error = new WebhookError('body_already_parsed', 500, 'Do this.');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'WebhookError', message: 'body_already_parsed', hint: 'Do this.' });
    expect(String(error)).toBe('WebhookError: body_already_parsed');
    expect('cause' in error).toBe(false);
  });

  it('adds what was found, and what caused it', () => {
    const cause = new Error('ECONNRESET');
    const error = new WebhookError('store_unavailable', 503, 'Do this.', 'no answer', { cause });
    expect(error.message).toBe('store_unavailable: no answer');
    expect(error.cause).toBe(cause);
  });

  it('may be caused by undefined', () => {
    expect('cause' in new WebhookError('handler_failed', 500, 'x', undefined, { cause: undefined })).toBe(true);
  });
});

describe('a PermanentError', () => {
  it('is a WebhookError with a name of its own', () => {
    const cause = new Error('404');
    const error = new PermanentError('no such clip', { cause });
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ name: 'PermanentError', code: 'permanent_failure', status: 200, cause });
    expect(error.hint).toBe('No retry helps.');
    expect(error.message).toBe('permanent_failure: no such clip');
    expect(new PermanentError().message).toBe('permanent_failure');
  });
});

describe('isWebhookError', () => {
  it('knows the errors of this library', () => {
    expect(isWebhookError(new WebhookError('invalid_json', 400, 'x'))).toBe(true);
    expect(isWebhookError(new PermanentError())).toBe(true);
    expect(isWebhookError(Object.freeze(new WebhookError('invalid_json', 400, 'x')))).toBe(true);
  });

  it('knows those of another copy of the package, which are no instances of this one', async () => {
    vi.resetModules();
    const copy = await import('../src/errors.js');
    const error = new copy.WebhookError('invalid_json', 400, 'x');
    expect(error).not.toBeInstanceOf(WebhookError);
    expect(isWebhookError(error)).toBe(true);
    expect(copy.isWebhookError(new WebhookError('invalid_json', 400, 'x'))).toBe(true);
  });

  it('knows those of another version by their brand alone', () => {
    const brand = Symbol.for('service-webhooks.error');
    expect(isWebhookError({ [brand]: true, code: 'invalid_json', status: 400 })).toBe(true);
    expect(isWebhookError({ [brand]: true, code: 'new_code', status: 599 })).toBe(true);
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
      'an object with the brand and no status to answer with',
      { [Symbol.for('service-webhooks.error')]: true, code: 'x', status: 600 },
    ],
    [
      'an object with the brand and a status that throws',
      Object.defineProperty({ [Symbol.for('service-webhooks.error')]: true, code: 'permanent_failure' }, 'status', {
        get: throwing,
      }),
    ],
    [
      'an object with a brand that throws',
      Object.defineProperty({}, Symbol.for('service-webhooks.error'), { get: throwing }),
    ],
  ])('does not know %s, and never throws', (_, value) => {
    expect(isWebhookError(value)).toBe(false);
  });
});
