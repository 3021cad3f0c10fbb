import { ERRORS, isWebhookError, PermanentError, WebhookError, type WebhookErrorCode } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { SIGNED_REFUSALS } from '../src/errors.js';

const codes = Object.keys(ERRORS) as WebhookErrorCode[];

describe('the table of error codes', () => {
  it.each(codes)('the text of %s is whole sentences', (code) => {
    const { message, hint, status } = ERRORS[code];
    for (const sentence of [message, hint]) expect(sentence).toMatch(/^[A-Z][^\n]+\.$/);
    expect(status === 200 || (status >= 400 && status < 600)).toBe(true);
  });

  /** A retry fails in the same way until the program changes. */
  const NEEDS_A_CHANGE = [
    ...['unexpected_data', 'body_already_parsed', 'body_already_read', 'wrong_adapter'],
    ...['invalid_secret', 'invalid_option', 'sync_crypto_unavailable'],
  ];

  it.each(codes)('%s is retryable where its cause may pass without a change of the program, and only there', (code) => {
    const { retryable, status } = ERRORS[code];
    const passes = ['body_incomplete', 'body_timeout', 'delivery_in_progress'].includes(code);
    expect(retryable).toBe(passes || (status >= 500 && !NEEDS_A_CHANGE.includes(code)));
  });

  it('the messages that begin with "The signature is valid" are those of refusals after it', () => {
    expect(SIGNED_REFUSALS).toEqual(codes.filter((code) => ERRORS[code].message.startsWith('The signature is valid')));
  });
});

describe('a WebhookError', () => {
  it.each(codes)('an error made with the code %s has the properties and the message of the table', (code) => {
    const { message, hint, status, retryable } = ERRORS[code];
    const error = new WebhookError(code);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'WebhookError', code, status, retryable, problem: message, hint });
    expect(error.message).toBe(`${message} ${hint} (${code})`);
    expect('cause' in error).toBe(false);
  });

  it('a message and a hint given by the caller replace those of the table', () => {
    const error = new WebhookError('store_unavailable', { message: 'Redis is down.', hint: 'Start it.' });
    expect(error.message).toBe('Redis is down. Start it. (store_unavailable)');
    expect(error).toMatchObject({ problem: 'Redis is down.', hint: 'Start it.' });
  });

  it('JSON has all that a log needs, without the cause', () => {
    const error = new WebhookError('store_unavailable', { hint: 'Start it.', cause: new Error('ECONNREFUSED') });
    const message = `${ERRORS.store_unavailable.message} Start it. (store_unavailable)`;
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: { code: 'store_unavailable', message, status: 503, retryable: true, hint: 'Start it.' },
    });
  });

  it('the cause is the value given by the caller, also undefined', () => {
    const cause = new Error('ECONNRESET');
    expect(new WebhookError('store_unavailable', { cause }).cause).toBe(cause);
    expect('cause' in new WebhookError('handler_failed', { cause: undefined })).toBe(true);
  });

  it('a PermanentError has its own name and the reason in its message', () => {
    const cause = new Error('404');
    const error = new PermanentError('no such clip', { cause });
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ name: 'PermanentError', code: 'permanent_failure', status: 200, cause });
    expect(error.message).toContain('PermanentError: no such clip.');
    expect(new PermanentError().message).toContain('Your handler threw a PermanentError.');
  });
});

describe('isWebhookError', () => {
  const brand = Symbol.for('service-webhooks.error');
  const throwing = (): never => {
    throw new Error('a trap');
  };
  const withGetter = (of: object, name: PropertyKey) => Object.defineProperty(of, name, { get: throwing });

  it('an error of this library is recognised', () => {
    expect(isWebhookError(new WebhookError('invalid_json'))).toBe(true);
    expect(isWebhookError(new PermanentError())).toBe(true);
    expect(isWebhookError(Object.freeze(new WebhookError('invalid_json')))).toBe(true);
  });

  it('an error of another copy of the package is recognised', async () => {
    vi.resetModules();
    const copy = await import('../src/errors.js');
    const error = new copy.WebhookError('invalid_json');
    expect(error).not.toBeInstanceOf(WebhookError);
    expect(isWebhookError(error)).toBe(true);
    expect(copy.isWebhookError(new WebhookError('invalid_json'))).toBe(true);
  });

  it('an error of another version is recognised by its brand', () => {
    expect(isWebhookError({ [brand]: true, code: 'invalid_json', status: 400 })).toBe(true);
    expect(isWebhookError({ [brand]: true, code: 'new_code', status: 599 })).toBe(true);
  });

  it.each<[string, unknown]>([
    ['an Error', new Error('invalid_json')],
    ['an object that looks alike', { name: 'WebhookError', code: 'invalid_json', status: 400 }],
    ['undefined', undefined],
    ['null', null],
    ['text', 'invalid_json'],
    ['a function', () => {}],
    ['a symbol', brand],
    ['a Proxy that throws on every trap', new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing })],
    ['an object with the brand and no status to answer with', { [brand]: true, code: 'x', status: 600 }],
    ['an object with the brand and a status that throws', withGetter({ [brand]: true, code: 'x' }, 'status')],
    ['an object with a brand that throws', withGetter({}, brand)],
  ])('%s is no error of this library', (_, value) => {
    expect(isWebhookError(value)).toBe(false);
  });
});
