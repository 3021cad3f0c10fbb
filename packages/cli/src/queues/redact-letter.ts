import { redactJson } from '../redact.js';
import { redactText } from '../redact-text.js';

/** What is redacted of a letter. */
interface Redactable {
  body: Buffer | undefined;
  reason: string | undefined;
  stack?: string | undefined;
  notShown: string | undefined;
}

const REASON = 'The reason is not shown: it may have redacted fields, which only the body tells.';
const NO_JSON = 'The body is not shown: it is not JSON, in which fields could be redacted.';

/**
 * Replaces fields of the body, and what the reason and the stack repeat of them. Without a body to find the values in, there
 * is no reason and no stack.
 */
export function redactLetter<Letter extends Redactable>(letter: Letter, fields: readonly string[]): Letter {
  const { body, reason, stack, notShown } = letter;
  const text = body?.toString();
  if (text === undefined || !isJson(text)) {
    const why = text === undefined ? notShown : NO_JSON;
    return { ...letter, body: undefined, notShown: why, reason: reason && REASON, stack: undefined };
  }
  const redacted = redactJson(text, fields);
  return {
    ...letter,
    body: Buffer.from(redacted.text),
    reason: reason && redactText(reason, redacted.values),
    stack: stack && redactText(stack, redacted.values),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
