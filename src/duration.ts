import { WebhookError } from './errors.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/;
const MAX_MS = 366 * UNITS.d;

/**
 * Returns a duration in milliseconds.
 *
 * @throws WebhookError `invalid_option` unless it is a positive number of milliseconds, or a text such as `'2h'`, up to 366 days
 */
export function durationMs(option: string, value: unknown, hint?: string | undefined): number {
  const [, count, unit] = (typeof value === 'string' && DURATION.exec(value)) || [];
  const ms = typeof value === 'number' ? value : Number(count) * UNITS[unit as keyof typeof UNITS];
  if (ms >= 1 && ms <= MAX_MS) return Math.round(ms);
  throw new WebhookError('invalid_option', {
    message: `${option} must be milliseconds, or a text such as '90s', '30m', '2h' or '1d', up to 366 days.`,
    hint,
  });
}
