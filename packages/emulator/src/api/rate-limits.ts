import { type AccountRecord, creditsOf, planOf } from './accounts.js';
import { ApiError } from './api-error.js';
import type { Caller } from './authentication.js';
import { dayEnd, minuteEnd, turnWindows } from './rate-windows.js';

/** Counts a request against the limits. @throws ApiError `daily_limit_exceeded`, `rate_limit_exceeded` */
export function countRequest(account: AccountRecord, now: number): void {
  const { windows } = account;
  const plan = planOf(account);
  turnWindows(windows, now);
  if (windows.today >= plan.requestsPerDay) throw new ApiError('daily_limit_exceeded');
  if (windows.inMinute >= plan.requestsPerMinute) throw new ApiError('rate_limit_exceeded');
  windows.inMinute += 1;
  windows.today += 1;
}

/** Returns the `Retry-After` of an error in seconds; undefined for an error that is not about a limit. */
export function retryAfter(code: string, account: AccountRecord | undefined, now: number): number | undefined {
  if (account === undefined) return undefined;
  if (code === 'daily_limit_exceeded') return secondsUntil(dayEnd(account.windows), now);
  return code === 'rate_limit_exceeded' ? secondsUntil(minuteEnd(account.windows), now) : undefined;
}

/** Returns the rate headers, which every answer has. */
export function rateHeaders(caller: Caller | undefined, now: number): Record<string, string> {
  const { plan, limit, remaining, reset, dayLimit, dayUsed, credits } = rateNumbers(caller?.account, now);
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(reset / 1000)),
    'x-daily-requests-limit': String(dayLimit),
    'x-daily-requests-used': String(dayUsed),
    'x-credits-remaining': String(credits),
    'x-plan': plan,
  };
}

/** The rate headers of an answer that belongs to no account. */
const NO_ACCOUNT = { plan: 'NONE', limit: 0, remaining: 0, dayLimit: 0, dayUsed: 0, credits: 0 } as const;

function rateNumbers(account: AccountRecord | undefined, now: number) {
  if (account === undefined) return { ...NO_ACCOUNT, reset: now };
  const { windows } = account;
  const plan = planOf(account);
  turnWindows(windows, now);
  return {
    plan: plan.type,
    limit: plan.requestsPerMinute,
    remaining: Math.max(0, plan.requestsPerMinute - windows.inMinute),
    reset: minuteEnd(windows),
    dayLimit: plan.requestsPerDay,
    dayUsed: windows.today,
    credits: creditsOf(account).remaining,
  };
}

/** Returns the account limits record. */
export function limitsRecord(account: AccountRecord) {
  const { type, name, apiAccess, requestsPerMinute, requestsPerDay, maxKeys } = planOf(account);
  const credits = creditsOf(account);
  const { today } = account.windows;
  return {
    plan: { type, name, api_access: apiAccess },
    credits: { remaining: credits.remaining, monthly_allocation: credits.perMonth },
    limits: {
      rate_limit_per_minute: requestsPerMinute,
      daily_request_limit: requestsPerDay,
      daily_requests_used: today,
      daily_requests_remaining: Math.max(0, requestsPerDay - today),
      max_keys_per_account: maxKeys,
    },
  };
}

function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
