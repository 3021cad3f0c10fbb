import { isWebhookError, type PermanentError } from '../errors.js';
import { printable } from '../printable.js';
import type { Log } from '../receiver/log.js';
import { stackOf } from '../thrown.js';

/** The reason of a dead letter whose worker ended, as after `kill -9`, while the handler ran for the last time. */
export const WORKER_DIED = 'The worker died during the last attempt.';

const MAX_REASON = 1_000;
const MAX_STACK = 4_000;
const NONE = 'The handler gave no reason.';

/**
 * Returns the text of what a handler threw, as it is stored with a dead letter: of a {@link PermanentError} the reason that
 * it was given. It is short and has no character that a database refuses. Never throws.
 */
export function reasonOf(thrown: unknown): string {
  try {
    return cut(printable(cut(textOf(thrown), MAX_REASON)), MAX_REASON);
  } catch {
    return 'The thrown value cannot be printed.';
  }
}

/**
 * Returns the stack of what a handler threw, with those of its causes, as it is stored with a dead letter: at most 4 000
 * characters in lines, none of which a database or a terminal acts on. Never throws.
 */
export function storedStack(thrown: unknown): string {
  return safeStack(stackOf(thrown));
}

/** Returns a stack, which another program may have stored, as {@link storedStack} does. */
export function safeStack(stack: string): string {
  const lines = cut(stack, MAX_STACK).split('\n');
  return cut(lines.map(printable).join('\n'), MAX_STACK);
}

/** Logs an error of an engine, once in a minute for each operation. */
export function reportError(log: Log, operation: string, problem: string, error: unknown): void {
  log.warn(`queue_error:${operation}`, `${problem}: ${reasonOf(error)}`);
}

/** Returns the beginning of a text, without half a character at its end: PostgreSQL refuses it in JSON. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function textOf(thrown: unknown): string {
  if (!isWebhookError(thrown))
    return (thrown instanceof Error ? thrown.message || thrown.name : String(thrown)) || NONE;
  if (thrown.code !== 'permanent_failure') return thrown.message;
  const { reason, cause } = thrown as Partial<PermanentError>;
  return reason === undefined || reason === '' ? textOf(cause ?? NONE) : textOf(reason);
}
