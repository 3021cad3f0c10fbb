import { RATE_HEADERS } from '../service/rate-headers.js';

/** What is left, as the latest answer said it (specification, section 8.2). What it did not say is undefined. */
export interface RateState {
  /** Requests per minute. */
  limit: number | undefined;
  /** Requests left in the current window. */
  remaining: number | undefined;
  /** When the window resets, in milliseconds since the epoch. */
  resetAt: number | undefined;
  dailyLimit: number | undefined;
  dailyUsed: number | undefined;
  creditsRemaining: number | undefined;
  /** The plan's identifier, such as `CREATOR`. */
  plan: string | undefined;
}

/** Undefined for an answer that has none of the headers, such as one of a proxy. */
export function readRate(headers: { get(name: string): string | null }): RateState | undefined {
  const number = (name: string) => {
    const text = String(headers.get(name));
    return /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const reset = number(RATE_HEADERS.reset);
  const rate: RateState = {
    limit: number(RATE_HEADERS.limit),
    remaining: number(RATE_HEADERS.remaining),
    resetAt: reset === undefined ? undefined : reset * 1000,
    dailyLimit: number(RATE_HEADERS.dailyLimit),
    dailyUsed: number(RATE_HEADERS.dailyUsed),
    creditsRemaining: number(RATE_HEADERS.creditsRemaining),
    plan: headers.get(RATE_HEADERS.plan) ?? undefined,
  };
  return Object.values(rate).some((value) => value !== undefined) ? rate : undefined;
}
