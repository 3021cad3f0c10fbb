import { isWebhookError, type PermanentError } from '../errors.js';
import { printable } from '../printable.js';
import type { Log } from '../receiver/log.js';

/** The reason of a dead letter whose worker ended, as after `kill -9`, while the handler ran for the last time. */
export const WORKER_DIED = 'The worker died during the last attempt.';

const MAX_REASON = 1_000;
const NONE = 'The handler gave no reason.';

/**
 * Returns the text of what a handler threw, as it is stored with a dead letter: of a {@link PermanentError} the reason that
 * it was given. It is short and has no character that a database refuses. Never throws.
 */
export function reasonOf(thrown: unknown): string {
  try {
    return printable(textOf(thrown).slice(0, MAX_REASON)).slice(0, MAX_REASON);
  } catch {
    return 'The thrown value cannot be printed.';
  }
}

/** Logs an error of an engine, once in a minute for each operation. */
export function reportError(log: Log, operation: string, problem: string, error: unknown): void {
  log.warn(`queue_error:${operation}`, `${problem}: ${reasonOf(error)}`);
}

function textOf(thrown: unknown): string {
  if (!isWebhookError(thrown))
    return (thrown instanceof Error ? thrown.message || thrown.name : String(thrown)) || NONE;
  if (thrown.code !== 'permanent_failure') return thrown.message;
  const { reason, cause } = thrown as Partial<PermanentError>;
  return reason === undefined || reason === '' ? textOf(cause ?? NONE) : textOf(reason);
}
