import { beforeEach, describe, expect, it } from 'vitest';
import { type AccountRecord, createAccounts } from '../../src/api/accounts.js';
import { countRequest, limitsRecord, retryAfter } from '../../src/api/rate-limits.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 6, 11);

// What a request to an emulator cannot show: there, the time of an answer is the time of its request.
describe('rate limits at another time than the request', () => {
  let account: AccountRecord;
  beforeEach(() => {
    account = createAccounts(createRandom('limits'), createTotals()).create({ requestsPerDay: 1 });
    countRequest(account, MIDNIGHT);
  });

  it('Retry-After is at least 1 s, also when the window is over', () => {
    expect(retryAfter('rate_limit_exceeded', account, MIDNIGHT + 60_000)).toBe(1);
    expect(retryAfter('daily_limit_exceeded', account, MIDNIGHT + DAY)).toBe(1);
    expect(retryAfter('daily_limit_exceeded', undefined, MIDNIGHT)).toBe(undefined);
  });

  it('the count of the day restarts when the clock is set back before that day', () => {
    expect(() => countRequest(account, MIDNIGHT)).toThrow(expect.objectContaining({ code: 'daily_limit_exceeded' }));
    expect(() => countRequest(account, MIDNIGHT - 1)).not.toThrow();
  });

  it('no number of requests is left after the limit is lowered', () => {
    account.settings = { requestsPerDay: 0 };
    expect(limitsRecord(account).limits.daily_requests_remaining).toBe(0);
  });
});
