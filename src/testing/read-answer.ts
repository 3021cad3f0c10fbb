import { fromBase64 } from '../bytes.js';
import { ERRORS, isWebhookError, type WebhookErrorCode } from '../errors.js';
import { check } from '../option-checks.js';
import { REFUSED_WITH } from '../receiver/outcome.js';

/** The parts of an answer that matchers need, from any form of it. */
export interface Answer {
  status: number;
  text: string;
  /** The code of the error object in the body; undefined where there is none. */
  code: string | undefined;
  /** What happened, what to do, and the error that was thrown, as far as they are known. */
  reason: string | undefined;
}

/**
 * Reads the answer of a receiver: `WebhookResponse`, Fetch `Response` (which can still be read afterwards), the result
 * of supertest or Fastify's `inject`, the result of a Lambda function, or a promise of one of these.
 *
 * @throws WebhookError `invalid_option` for any other value, or the reason of a rejected promise
 */
export async function readAnswer(received: unknown): Promise<Answer> {
  const answer = (await received) as Partial<Record<string, unknown>> | null | undefined;
  const status = answer?.['status'] ?? answer?.['statusCode'];
  check(typeof status === 'number', 'expect() must be given an answer: a response, or a promise of one');
  const text = await textOf(answer ?? {});
  const code = codeIn(text);
  return { status, text, code, reason: reasonOf(answer ?? {}, code) };
}

/** Returns the reason from the error where a receiver answered directly; otherwise from the table of errors. */
function reasonOf(answer: { [REFUSED_WITH]?: unknown }, code = ''): string | undefined {
  const { [REFUSED_WITH]: error } = answer;
  if (!isWebhookError(error)) {
    const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as WebhookErrorCode] : undefined;
    return known ? `${known.message} ${known.hint}` : undefined;
  }
  const { message, cause } = error;
  return cause === undefined
    ? message
    : `${message}\nCaused by ${cause instanceof Error ? cause.stack : String(cause)}`;
}

async function textOf(answer: Partial<Record<string, unknown>>): Promise<string> {
  if (typeof answer['clone'] === 'function') {
    check(answer['bodyUsed'] !== true, 'expect() must be given the response before its body is read');
    return (answer as unknown as Response).clone().text();
  }
  const { text, body } = answer;
  if (typeof text === 'string') return text;
  if (typeof body !== 'string') return '';
  return answer['isBase64Encoded'] === true ? new TextDecoder().decode(fromBase64(body)) : body;
}

function codeIn(text: string): string | undefined {
  try {
    const { code } = JSON.parse(text).error;
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
