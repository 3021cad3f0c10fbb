import type { WebhookErrorCode } from '../errors.js';
import { isAcknowledged } from '../service/acknowledged.js';
import { type Answer, readAnswer } from './read-answer.js';

/** The result of a matcher. */
export interface MatcherResult {
  pass: boolean;
  message(): string;
}

/** The matchers as they are called on `expect(answer)`; `answer` may be a promise. */
export interface WebhookMatchers {
  /** Passes if the answer is 2xx, so that the service counts the delivery as delivered. */
  toAcknowledge(): Promise<void>;
  /** Passes if the answer is not 2xx and is an error of this library with that code. */
  toRefuseWith(code: WebhookErrorCode): Promise<void>;
}

/**
 * Matchers for vitest and jest, for every form of a receiver's answer: a `WebhookResponse`, a Fetch `Response`, the
 * result of supertest or Fastify's `inject`, the result of a Lambda function, or a promise of one of these.
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

function result(pass: boolean, expectation: string, { status, code, text, reason }: Answer): MatcherResult {
  const answer = [status, code ?? text.slice(0, 200)].join(' ').trim();
  const first = `expected the answer ${pass ? 'not ' : ''}${expectation}, and it is: ${answer}`;
  return { pass, message: () => (reason === undefined ? first : `${first}\n${reason}`) };
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
