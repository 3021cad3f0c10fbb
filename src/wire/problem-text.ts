import type { WebhookError } from '../errors.js';

/** Returns what happened, without the fix and the code. */
export function problemText({ message, hint, code }: WebhookError): string {
  return message.replace(` ${hint} (${code})`, '');
}
