import { ERRORS, type WebhookErrorCode } from 'service-webhooks';
import { isAcknowledged } from 'service-webhooks/service';
import type { SendResult } from './deliver.js';
import { jsonFields } from './json-fields.js';

/** The library's explanation of an app's refusal, and what to do about it. */
export interface AnswerAdvice {
  code?: string;
  message: string;
  fix: string;
}

/** The explanation of an answer without a code of this library. Nothing in it comes from the answer or its URL. */
export const ANSWER_ADVICE = {
  redirect: { message: 'The app redirects, and the service follows no redirect.', fix: 'Use the final URL.' },
  no_path: { message: 'The app has no route for POST /.', fix: 'Name the path of your endpoint.' },
  no_route: {
    message: 'The app has no route for POST on this path.',
    fix: 'Compare the path with the route of your app.',
  },
  too_large: { message: 'The app takes no body of this size.', fix: 'Raise the body limit of the app.' },
  rate_limited: { message: 'The app limits requests.', fix: 'Exempt this path from the limit.' },
  failed: { message: 'The app failed.', fix: 'Look at the log of the app.' },
} as const satisfies Record<string, AnswerAdvice>;

/** Why an app refuses a delivery: a code of this library, or a name in {@link ANSWER_ADVICE}. */
export type AnswerProblem = WebhookErrorCode | keyof typeof ANSWER_ADVICE;

/** Returns why a delivery is not acknowledged; undefined where the answer says enough. */
export function answerProblem(sent: SendResult, url: URL): AnswerProblem | undefined {
  if (sent.status === undefined || isAcknowledged(sent)) return undefined;
  const code = answerCode(sent.body);
  if (isErrorCode(code)) return code;
  const { status } = sent;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status === 404 || status === 405) return url.pathname === '/' ? 'no_path' : 'no_route';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'failed' : undefined;
}

/**
 * Returns the explanation of an answer that does not acknowledge the delivery, with its details; undefined where the
 * answer says enough.
 */
export function answerAdvice(sent: SendResult, url: URL): AnswerAdvice | undefined {
  const problem = answerProblem(sent, url);
  if (problem === undefined) return undefined;
  if (isErrorCode(problem)) return { code: problem, message: ERRORS[problem].message, fix: ERRORS[problem].hint };
  const { message, fix } = ANSWER_ADVICE[problem];
  if (problem === 'redirect') {
    const location = sent.status === undefined ? undefined : sent.headers['location'];
    return { message, fix: `Use the final URL: ${location ?? 'another address'}` };
  }
  if (problem === 'no_path') {
    return { message, fix: `Name the path of your endpoint, as in ${url.port || url.host}/webhooks.` };
  }
  if (problem === 'no_route') return { message: `The app has no route for POST ${url.pathname}.`, fix };
  return { message, fix };
}

export function isErrorCode(code: string | undefined): code is WebhookErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code);
}

/** Returns the code of the service's error object, which this library's receivers also answer with. */
export function answerCode(body: string): string | undefined {
  const { code } = Object(jsonFields(body)['error']);
  return typeof code === 'string' ? code : undefined;
}

/** Returns what an answer of a receiver says in one word: the code of its error, or the outcome. */
export function answerWord(body: string): string | undefined {
  const { outcome } = jsonFields(body);
  return answerCode(body) ?? (typeof outcome === 'string' ? outcome : undefined);
}

/** Returns whether a receiver of this library acknowledged an event that has no handler. */
export function noHandlerRan(sent: SendResult): boolean {
  return isAcknowledged(sent) && sent.status !== undefined && answerWord(sent.body) === 'ignored';
}

export const NO_HANDLER_RAN = 'acknowledged, no handler ran';
