import type { IncomingHttpHeaders } from 'node:http';
import {
  type Delivery,
  isWebhookError,
  PermanentError,
  type Scheme,
  sign,
  type VerifiedSignature,
  type VerifyInput,
  verify,
  verifyAsync,
  verifySignature,
  WebhookError,
  type WebhookErrorCode,
} from 'service-webhooks';
import { describe, expectTypeOf, it } from 'vitest';

const headers: [string, string][] = [];
const [body, secret] = [new Uint8Array(), 'secret'];

describe('verify', () => {
  it('the result is a delivery or a promise of one, and never a boolean', () => {
    expectTypeOf(verify).returns.toEqualTypeOf<Delivery>();
    expectTypeOf(verifyAsync).returns.toEqualTypeOf<Promise<Delivery>>();
    expectTypeOf(verifySignature).returns.toEqualTypeOf<VerifiedSignature>();
    expectTypeOf<VerifiedSignature>().toEqualTypeOf<{
      scheme: Scheme;
      signedAt: number | undefined;
      secretIndex: number;
    }>();
    // @ts-expect-error -- without await there is no event to trust
    verifyAsync({ headers, body, secret }).event;
  });

  it('headers may be an object, pairs, a Map or Headers', () => {
    expectTypeOf<IncomingHttpHeaders>().toExtend<VerifyInput['headers']>();
    expectTypeOf<Headers>().toExtend<VerifyInput['headers']>();
    expectTypeOf<Map<string, string>>().toExtend<VerifyInput['headers']>();
    expectTypeOf<[string, string][]>().toExtend<VerifyInput['headers']>();
    expectTypeOf<string>().not.toExtend<VerifyInput['headers']>();
  });

  it('the body is bytes or text, not parsed JSON', () => {
    expectTypeOf<Buffer>().toExtend<VerifyInput['body']>();
    expectTypeOf<ArrayBuffer>().toExtend<VerifyInput['body']>();
    expectTypeOf<string>().toExtend<VerifyInput['body']>();
    // @ts-expect-error -- an object has lost its bytes
    verify({ headers, body: { id: 'evt_1' }, secret });
  });

  it('one secret or several are required', () => {
    verify({ headers, body, secret: ['new', new Uint8Array(32)] as const });
    // @ts-expect-error -- an environment variable may be missing
    verify({ headers, body, secret: undefined as string | undefined });
    // @ts-expect-error -- a secret is required
    verify({ headers, body });
  });

  it('every option may be undefined', () => {
    verify({
      headers,
      body,
      secret,
      headerPrefix: undefined,
      legacy: undefined,
      toleranceSeconds: undefined,
      now: undefined,
    });
    sign({ body, secret, at: undefined, scheme: undefined, headerPrefix: undefined });
    // @ts-expect-error -- legacy is accepted by that one word
    verify({ headers, body, secret, legacy: true });
  });

  it('sign() returns headers by name', () => {
    expectTypeOf(sign).returns.toEqualTypeOf<Record<string, string>>();
  });
});

describe('an error of the library', () => {
  it('isWebhookError() narrows unknown to the known codes', () => {
    const error: unknown = undefined;
    if (!isWebhookError(error)) return;
    expectTypeOf(error).toEqualTypeOf<WebhookError>();
    expectTypeOf(error.code).toEqualTypeOf<WebhookErrorCode>();
    expectTypeOf(error.status).toBeNumber();
    expectTypeOf(error.retryable).toBeBoolean();
    expectTypeOf(error.hint).toBeString();
    // @ts-expect-error -- a code that does not exist is never it
    if (error.code === 'bad_signature') return;
  });

  it('PermanentError has no required argument', () => {
    expectTypeOf(new PermanentError()).toExtend<WebhookError>();
    expectTypeOf(PermanentError).toBeConstructibleWith('no such clip', { cause: new Error() });
    expectTypeOf(WebhookError).instance.toExtend<Error>();
  });
});
