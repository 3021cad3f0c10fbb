import { describe, expect, it } from 'vitest';
import { type AccountSettings, createAccounts } from '../../src/api/accounts.js';
import { countRequest, limitsRecord, rateHeaders, retryAfter } from '../../src/api/rate-limits.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const MIDNIGHT = Date.UTC(2026, 6, 11);
/** Half a second after nine o'clock. */
const START = MIDNIGHT + 9 * 60 * MINUTE + 500;

function create(settings: AccountSettings = {}) {
  const account = createAccounts(createRandom('limits'), createTotals()).create(settings);
  /** The code of the refusal of a request at that time. */
  const request = (now: number) => {
    try {
      countRequest(account, now);
      return 'counted';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const headers = (now: number) => rateHeaders({ account, key: undefined as never }, now);
  return { account, request, headers };
}

describe('requests per minute', () => {
  it('the plan limits the requests of the 60 s from the first one on', () => {
    const { request } = create({ requestsPerMinute: 2 });
    expect([request(START), request(START + MINUTE - 1)]).toEqual(['counted', 'counted']);
    expect(request(START + MINUTE - 1)).toBe('rate_limit_exceeded');
    expect([request(START + MINUTE), request(START + MINUTE), request(START + MINUTE)]).toEqual([
      'counted',
      'counted',
      'rate_limit_exceeded',
    ]);
  });

  it('reading the limits does not start the minute', () => {
    const { request, headers } = create({ requestsPerMinute: 1 });
    expect(headers(START)['x-ratelimit-reset']).toBe(String(Math.ceil((START + MINUTE) / SECOND)));
    request(START + 50 * SECOND);
    expect(request(START + MINUTE)).toBe('rate_limit_exceeded');
    expect(request(START + 50 * SECOND + MINUTE)).toBe('counted');
  });

  it('Retry-After is the rest of the minute in whole seconds', () => {
    const { account, request } = create({ requestsPerMinute: 1 });
    request(START);
    const wait = (now: number) => retryAfter('rate_limit_exceeded', account, now);
    expect([wait(START), wait(START + 1), wait(START + SECOND), wait(START + MINUTE - 1)]).toEqual([60, 60, 59, 1]);
    expect(wait(START + MINUTE)).toBe(1);
  });
});

describe('requests per day', () => {
  it('the plan limits the requests until 00:00 UTC', () => {
    const { request } = create({ requestsPerDay: 2 });
    expect([request(MIDNIGHT), request(MIDNIGHT + DAY - 1), request(MIDNIGHT + DAY - 1)]).toEqual([
      'counted',
      'counted',
      'daily_limit_exceeded',
    ]);
    expect(request(MIDNIGHT + DAY)).toBe('counted');
  });

  it('the limit per day is reported before the limit per minute', () => {
    const { request } = create({ requestsPerDay: 1, requestsPerMinute: 1 });
    expect([request(START), request(START)]).toEqual(['counted', 'daily_limit_exceeded']);
  });

  it('the count restarts when the clock is set back before that day', () => {
    const { request } = create({ requestsPerDay: 1 });
    request(START);
    expect([request(MIDNIGHT), request(MIDNIGHT - 1)]).toEqual(['daily_limit_exceeded', 'counted']);
  });

  it('Retry-After is the rest of the day in whole seconds', () => {
    const { account, request } = create({ requestsPerDay: 1 });
    request(START);
    expect(retryAfter('daily_limit_exceeded', account, MIDNIGHT + DAY - 1_500)).toBe(2);
    expect(retryAfter('daily_limit_exceeded', account, MIDNIGHT + DAY)).toBe(1);
  });

  it('a refused request does not count', () => {
    const { account, request } = create({ requestsPerMinute: 1 });
    for (let i = 0; i < 3; i += 1) request(START);
    expect(account.windows).toMatchObject({ inMinute: 1, today: 1 });
  });
});

describe('reports of the limits', () => {
  it('a refusal for another reason or without an account has no Retry-After', () => {
    const { account } = create();
    expect(retryAfter('forbidden', account, START)).toBe(undefined);
    expect(retryAfter('rate_limit_exceeded', undefined, START)).toBe(undefined);
    expect(retryAfter('daily_limit_exceeded', undefined, START)).toBe(undefined);
  });

  it('the headers report the limits of the account and their use', () => {
    const { request, headers } = create({ plan: 'STANDARD', creditsRemaining: 7 });
    request(START);
    request(START);
    expect(headers(START + SECOND)).toEqual({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '58',
      'x-ratelimit-reset': String((START - 500) / SECOND + 61),
      'x-daily-requests-limit': '10000',
      'x-daily-requests-used': '2',
      'x-credits-remaining': '7',
      'x-plan': 'STANDARD',
    });
    expect(headers(START + MINUTE)['x-ratelimit-remaining']).toBe('60');
    expect(headers(START + DAY)['x-daily-requests-used']).toBe('0');
  });

  it('the headers never report a negative number, also after a change of plan', () => {
    const { account, request, headers } = create();
    for (let i = 0; i < 3; i += 1) request(START);
    account.settings = { requestsPerMinute: 1, requestsPerDay: 1 };
    expect(headers(START)['x-ratelimit-remaining']).toBe('0');
    expect(limitsRecord(account).limits.daily_requests_remaining).toBe(0);
  });

  it('the headers of an answer without an account report zeros', () => {
    expect(rateHeaders(undefined, START)).toEqual({
      'x-ratelimit-limit': '0',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(START / SECOND)),
      'x-daily-requests-limit': '0',
      'x-daily-requests-used': '0',
      'x-credits-remaining': '0',
      'x-plan': 'NONE',
    });
  });

  it('the record reports the plan with its limits', () => {
    const { account, request } = create({ plan: 'CREATOR', creditsRemaining: 7, creditsPerMonth: 8 });
    request(START);
    expect(limitsRecord(account)).toEqual({
      plan: { type: 'CREATOR', name: 'Creator', api_access: true },
      credits: { remaining: 7, monthly_allocation: 8 },
      limits: {
        rate_limit_per_minute: 20,
        daily_request_limit: 2_000,
        daily_requests_used: 1,
        daily_requests_remaining: 1_999,
        max_keys_per_account: 2,
      },
    });
  });
});
