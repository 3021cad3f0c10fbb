import { RATE_HEADERS } from '../service/rate-headers.js';
import type { Redact } from './redact.js';

/** Rate limits and credits from the headers of an answer. */
export interface RateState {
  /** Requests per minute. */
  limit: number | undefined;
  /** Requests left in the current window. */
  remaining: number | undefined;
  /** When the window resets, in milliseconds since the epoch. */
  resetAt: number | undefined;
  /** Requests per day. */
  dailyLimit: number | undefined;
  /** Requests used today. */
  dailyUsed: number | undefined;
  creditsRemaining: number | undefined;
  /** The plan's identifier, such as `CREATOR`. */
  plan: string | undefined;
}

/** Length of the daily window, the longest time that the service can refuse requests for. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the rate limits, or undefined for an answer without any of the headers, such as that of a proxy. */
export function readRate(headers: { get(name: string): string | null }, redact: Redact): RateState | undefined {
  const number = (name: string) => readInteger(headers.get(name));
  const reset = number(RATE_HEADERS.reset);
  const plan = headers.get(RATE_HEADERS.plan);
  const rate: RateState = {
    limit: number(RATE_HEADERS.limit),
    remaining: number(RATE_HEADERS.remaining),
    resetAt: reset === undefined ? undefined : reset * 1000,
    dailyLimit: number(RATE_HEADERS.dailyLimit),
    dailyUsed: number(RATE_HEADERS.dailyUsed),
    creditsRemaining: number(RATE_HEADERS.creditsRemaining),
    plan: plan === null ? undefined : redact(plan),
  };
  return Object.values(rate).some((value) => value !== undefined) ? rate : undefined;
}

/** The date form of RFC 9110, which a proxy may send. */
const HTTP_DATE = /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i;

/** Returns the seconds of a `Retry-After` in either of its forms, at most a day; undefined for any other text. */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = HTTP_DATE.test(value) ? Math.ceil((Date.parse(value) - now) / 1000) : digits(value);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), DAY_MS / 1000);
}

/** Returns NaN for a text that is not a whole number, and Infinity for a number that is too large for JavaScript. */
function digits(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function readInteger(text: string | null): number | undefined {
  const value = digits(text ?? '');
  return Number.isSafeInteger(value) ? value : undefined;
}
