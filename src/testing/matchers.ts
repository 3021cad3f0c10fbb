import type { WebhookErrorCode } from '../errors.js';
import { type Answer, readAnswer } from './read-answer.js';

/** What a matcher tells its runner. */
export interface MatcherResult {
  pass: boolean;
  message(): string;
}

/** The matchers as they are called on `expect(answer)`; `answer` may be a promise. */
export interface WebhookMatchers {
  /** The answer is 2xx: the service counts the delivery as delivered (specification, section 6.3). */
  toAcknowledge(): Promise<void>;
  /** The answer is an error of this library with that code, and not 2xx. */
  toRefuseWith(code: WebhookErrorCode): Promise<void>;
}

/**
 * Matchers for vitest and jest, on whatever a receiver answers: a `WebhookResponse`, a Fetch `Response`, what supertest
 * or Fastify's `inject` give, the result of a Lambda function, or a promise of one of these.
 *
 * @example
 * expect.extend(matchers);
 * await expect(receiver(delivery)).toAcknowledge();
 * await expect(receiver(tamper.stale(delivery))).toRefuseWith('timestamp_too_old');
 */
export const matchers = {
  async toAcknowledge(received: unknown): Promise<MatcherResult> {
    const answer = await readAnswer(received);
    return result(isAcknowledged(answer), 'to acknowledge the delivery (2xx)', answer);
  },

  async toRefuseWith(received: unknown, code: WebhookErrorCode): Promise<MatcherResult> {
    const answer = await readAnswer(received);
    return result(!isAcknowledged(answer) && answer.code === code, `to refuse the delivery with ${code}`, answer);
  },
};

function isAcknowledged({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}

function result(pass: boolean, expectation: string, { status, code, text }: Answer): MatcherResult {
  const answer = [status, code ?? text.slice(0, 200)].join(' ').trim();
  return { pass, message: () => `expected the answer ${pass ? 'not ' : ''}${expectation}, and it is: ${answer}` };
}

// For vitest, and for jest with @types/jest.
declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: all declarations of an interface have the same type parameters
    interface Matchers<R, T = {}> extends WebhookMatchers {}
  }
}

// For @jest/globals. The bundler of declarations resolves no modules; the user's compiler does where it is installed.
// biome-ignore lint/suspicious/noTsIgnore: an error for the bundler alone
// @ts-ignore
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends WebhookMatchers {}
}
