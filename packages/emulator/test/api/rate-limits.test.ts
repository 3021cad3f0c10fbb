import { beforeEach, describe, expect, it } from 'vitest';
import { type AccountRecord, createAccounts } from '../../src/api/accounts.js';
import { countRequest, limitsRecord, retryAfter } from '../../src/api/rate-limits.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 6, 11);

// What a request to an emulator cannot show: there, the time of an answer is the time of its request.
describe('the rate limits of an emulator account', () => {
  let account: AccountRecord;
  beforeEach(() => {
    account = createAccounts(createRandom('limits'), createTotals()).create({ requestsPerDay: 1 });
    countRequest(account, MIDNIGHT);
  });

  it('Retry-After is 1 s when the minute or the day of the limit is already over', () => {
    expect(retryAfter('rate_limit_exceeded', account, MIDNIGHT + 60_000)).toBe(1);
    expect(retryAfter('daily_limit_exceeded', account, MIDNIGHT + DAY)).toBe(1);
    expect(retryAfter('daily_limit_exceeded', undefined, MIDNIGHT)).toBe(undefined);
  });

  it('a request is allowed on the day before, when the limit of a day is used up and the clock goes back', () => {
    expect(() => countRequest(account, MIDNIGHT)).toThrow(expect.objectContaining({ code: 'daily_limit_exceeded' }));
    expect(() => countRequest(account, MIDNIGHT - 1)).not.toThrow();
  });

  it('the remaining requests are 0, not negative, after the daily limit is lowered to 0', () => {
    account.settings = { requestsPerDay: 0 };
    expect(limitsRecord(account).limits.daily_requests_remaining).toBe(0);
  });
});
