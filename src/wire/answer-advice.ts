import { ERRORS, type WebhookErrorCode } from '../errors.js';
import { isAcknowledged } from '../service/acknowledged.js';
import { answerCode } from './answer-code.js';
import type { SendResult } from './deliver.js';

/** The library's explanation of an app's refusal, and what to do about it. */
export interface AnswerAdvice {
  code?: string;
  message: string;
  fix: string;
}

/**
 * Returns the explanation of an answer that does not acknowledge the delivery; undefined where the answer says enough.
 */
export function answerAdvice(sent: SendResult, url: URL): AnswerAdvice | undefined {
  if (sent.status === undefined || isAcknowledged(sent)) return undefined;
  const code = answerCode(sent.body);
  if (isErrorCode(code)) return { code, message: ERRORS[code].message, fix: ERRORS[code].fix };
  const { status, headers } = sent;
  if (status >= 300 && status <= 399) {
    const location = headers['location'] ?? 'another address';
    return {
      message: 'The app redirects, and the service follows no redirect.',
      fix: `Use the final URL: ${location}`,
    };
  }
  if (status === 404 || status === 405) {
    const fix =
      url.pathname === '/'
        ? `Name the path of your endpoint, as in ${url.port || url.host}/webhooks.`
        : 'Compare the path with the route of your app.';
    return { message: `The app has no route for POST ${url.pathname}.`, fix };
  }
  if (status === 413)
    return { message: 'The app takes no body of this size.', fix: 'Raise the body limit of the app.' };
  if (status === 429) return { message: 'The app limits requests.', fix: 'Exempt this path from the limit.' };
  if (status >= 500) return { message: 'The app failed.', fix: 'Look at the log of the app.' };
  return undefined;
}

function isErrorCode(code: string | undefined): code is WebhookErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code);
}
