import { check, checkPositiveInteger } from '../option-checks.js';
import type { JobRecord } from './contract.js';

/**
 * Checks the times of a record before it is sent.
 *
 * @throws WebhookError `invalid_option` unless it has either a `dueAt` or a `keepMs`
 */
export function checkRecord({ dueAt, keepMs }: JobRecord): void {
  if (dueAt === undefined) {
    checkPositiveInteger('keepMs', keepMs);
  } else {
    check(Number.isSafeInteger(dueAt) && dueAt >= 0, 'dueAt must be a time in milliseconds since the epoch');
    check(keepMs === undefined, 'keepMs must be undefined where there is a dueAt');
  }
}
