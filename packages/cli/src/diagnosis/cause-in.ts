import { isAcknowledged } from 'service-webhooks/service';
import { answerCode } from '../http/answer.js';
import type { SendResult } from '../http/deliver.js';
import { isErrorCode, type RefusalCause } from './advice.js';

export type Answer = Extract<SendResult, { status: number }>;

/** Returns what an answer that acknowledges nothing says by itself. */
export function causeIn({ status, headers, body }: Answer): RefusalCause {
  if (isAcknowledged({ status })) return 'web_page';
  const code = answerCode(body);
  if (isErrorCode(code)) return code;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status === 404 || status === 405) return 'no_route';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'failed';
  if (/csrf|xsrf|page expired/i.test(body)) return 'csrf';
  // A receiver of this library names the scheme Webhook.
  const { 'www-authenticate': scheme = 'Webhook' } = headers;
  return !/^webhook\b/i.test(scheme) || asksForLogin(status, body) ? 'login' : 'unclear';
}

const LOGIN = /\b(jwt|bearer|log ?in|sign ?in|authentication|authorization|access token|api[ -]?key|credentials)\b/i;

function asksForLogin(status: number, body: string): boolean {
  return (status === 401 || status === 403) && LOGIN.test(body) && !/signature|webhook/i.test(body);
}
