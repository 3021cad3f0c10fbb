import { check, checkPositiveInteger } from '../option-checks.js';
import type { JobPage, JobRecord } from './contract.js';

/**
 * Checks the times of a record before it is sent.
 *
 * @throws WebhookError `invalid_option` unless it has either a `dueAt` or a `keepMs`
 */
export function checkRecord({ dueAt, keepMs }: JobRecord): void {
  if (dueAt === undefined) {
    checkPositiveInteger('keepMs', keepMs);
  } else {
    checkTime('dueAt', dueAt);
    check(keepMs === undefined, 'keepMs must be undefined where there is a dueAt');
  }
}

/** @throws WebhookError `invalid_option` for a limit that is no positive integer, and a place that is no time */
export function checkPage({ limit, after }: JobPage): void {
  checkPositiveInteger('limit', limit);
  if (after) checkTime('after.dueAt', after.dueAt);
}

function checkTime(name: string, time: number): void {
  check(Number.isSafeInteger(time) && time >= 0, `${name} must be a time in milliseconds since the epoch`);
}
