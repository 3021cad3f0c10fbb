import { ERRORS, type WebhookErrorCode } from 'service-webhooks';
import { isAcknowledged } from 'service-webhooks/service';
import { shortened } from '../output.js';
import type { SendResult } from './deliver.js';
import { jsonFields } from './json-fields.js';

/** The library's explanation of an app's refusal, and what to do about it. */
export interface AnswerAdvice {
  code?: string;
  message: string;
  fix: string;
}

const NOT_MOUNTED = 'The receiver is not mounted there, or another app listens on that port.';
const MOUNTED = 'Name the path where your receiver is mounted.';

/** The explanation of an answer without a code of this library. Nothing in it comes from the answer or its URL. */
export const ANSWER_ADVICE = {
  redirect: { message: 'The app redirects, and the service follows no redirect.', fix: 'Use the final URL.' },
  no_route: { message: `The app has no route for POST at this URL. ${NOT_MOUNTED}`, fix: MOUNTED },
  web_page: { message: `Something else than a receiver answered at this URL. ${NOT_MOUNTED}`, fix: MOUNTED },
  too_large: { message: 'The app takes no body of this size.', fix: 'Raise the body limit of the app.' },
  rate_limited: { message: 'The app limits requests.', fix: 'Exempt this path from the limit.' },
  failed: { message: 'The app failed.', fix: 'Look at the log of the app.' },
} as const satisfies Record<string, AnswerAdvice>;

/** Why an app refuses a delivery: a code of this library, or a name in {@link ANSWER_ADVICE}. */
export type AnswerProblem = WebhookErrorCode | keyof typeof ANSWER_ADVICE;

/**
 * Returns whether a receiver acknowledged a delivery. The service counts every 2xx, but no receiver answers with an HTML
 * page: a development server does, for any path.
 */
export function isAccepted(sent: SendResult): boolean {
  return isAcknowledged(sent) && sent.status !== undefined && pageOf(sent.body) === undefined;
}

/** Returns the words for an HTML page, with its title; undefined for any other body. */
export function pageOf(body: string): string | undefined {
  if (!/^\s*<(!doctype html|html)\b/i.test(body)) return undefined;
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  return title ? `an HTML page with the title "${shortened(title, 60)}"` : 'an HTML page';
}

/** Returns why no receiver accepted a delivery; undefined where the answer says enough. */
export function answerProblem(sent: SendResult): AnswerProblem | undefined {
  if (sent.status === undefined || isAccepted(sent)) return undefined;
  if (isAcknowledged(sent)) return 'web_page';
  const code = answerCode(sent.body);
  if (isErrorCode(code)) return code;
  const { status } = sent;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status === 404 || status === 405) return 'no_route';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'failed' : undefined;
}

/**
 * Returns the explanation of an answer by which no receiver accepted the delivery, with its details; undefined where the
 * answer says enough.
 */
export function answerAdvice(sent: SendResult, url: URL): AnswerAdvice | undefined {
  const problem = answerProblem(sent);
  if (problem === undefined || sent.status === undefined) return undefined;
  if (isErrorCode(problem)) return { code: problem, message: ERRORS[problem].message, fix: ERRORS[problem].hint };
  const { message, fix } = ANSWER_ADVICE[problem];
  if (problem === 'redirect') {
    return { message, fix: `Use the final URL: ${shortened(sent.headers['location'] ?? 'another address')}` };
  }
  if (problem === 'no_route' || problem === 'web_page') {
    return { message: message.replace('this URL', `${url.origin}${url.pathname}`), fix: fixOfPath(url) };
  }
  return { message, fix };
}

/** Returns where else to send to, in the form in which a target is typed. */
function fixOfPath({ hostname, origin, pathname, port }: URL): string {
  const isPort = ['localhost', '127.0.0.1', '[::1]'].includes(hostname) && port !== '';
  const other = pathname === '/webhooks' ? '/api/webhooks' : '/webhooks';
  const path = `Name the path where your receiver is mounted, as in ${isPort ? port : origin}${other}.`;
  return isPort ? `${path} A port alone means /webhooks, or the path in service-webhooks.json.` : path;
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
export const SOMETHING_ELSE = 'something else answered';
