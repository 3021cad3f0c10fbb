import { check } from '../check.js';

/** What counts of an answer, whoever gave it. */
export interface Answer {
  status: number;
  text: string;
  /** Of the error object in the body, where there is one. */
  code: string | undefined;
}

/**
 * Reads what a receiver answered: `WebhookResponse`, Fetch `Response` (which can still be read then), supertest,
 * Fastify's `inject`, the result of a Lambda function, or a promise of one of these.
 *
 * @throws WebhookError `invalid_option` for anything else, or what the promise was rejected with
 */
export async function readAnswer(received: unknown): Promise<Answer> {
  const answer = (await received) as Partial<Record<string, unknown>> | null | undefined;
  const status = answer?.['status'] ?? answer?.['statusCode'];
  check(typeof status === 'number', 'expect() must be given an answer: a response, or a promise of one');
  const text = await textOf(answer ?? {});
  return { status, text, code: codeIn(text) };
}

async function textOf(answer: Partial<Record<string, unknown>>): Promise<string> {
  if (typeof answer['clone'] === 'function') {
    check(answer['bodyUsed'] !== true, 'expect() must be given the response before its body is read');
    return (answer as unknown as Response).clone().text();
  }
  const { text, body } = answer;
  if (typeof text === 'string') return text;
  if (typeof body !== 'string') return '';
  return answer['isBase64Encoded'] === true ? atob(body) : body;
}

function codeIn(text: string): string | undefined {
  try {
    const { code } = JSON.parse(text).error;
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
