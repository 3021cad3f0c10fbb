import type { AccountSettings } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { LIMITS, startApi, USAGE } from './client.js';

describe('emulator.accounts', () => {
  it('accounts can be created, changed and listed, and what is returned is a copy', () => {
    const { accounts, totals } = startApi({ account: { plan: 'CREATOR' } }).emulator;
    const [first] = accounts.list();
    expect(first).toEqual({ id: expect.stringMatching(/^acc_/), settings: { plan: 'CREATOR' } });
    const second = accounts.create();
    expect(second).toEqual({ id: expect.stringMatching(/^acc_/), settings: {} });
    expect(second.id).not.toBe(first?.id);
    const updated = accounts.update(first?.id ?? '', { maxKeys: 7 });
    expect(updated.settings).toEqual({ plan: 'CREATOR', maxKeys: 7 });
    Object.assign(updated.settings, { maxKeys: 8 });
    expect(accounts.list().map(({ settings }) => settings)).toEqual([{ plan: 'CREATOR', maxKeys: 7 }, {}]);
    expect(totals.accounts).toBe(2);
  });

  it.each<[message: string, settings: unknown]>([
    ['settings must be an object', null],
    ["Unknown option 'plam' in the settings of an account. Did you mean 'plan'?", { plam: 'FREE' }],
    ['plan must be one of FREE, STARTER, CREATOR, STANDARD, PROFESSIONAL, BUSINESS, ENTERPRISE', { plan: 'GOLD' }],
    ['plan must be one of', { plan: 'toString' }],
    ['maxKeys must be an integer, 0 or more', { maxKeys: -1 }],
    ['requestsPerDay must be an integer, 0 or more', { requestsPerDay: 1.5 }],
    ['creditsRemaining must be an integer, 0 or more', { maxKeys: 1, creditsRemaining: '1' }],
  ])('the error "%s" is thrown for the settings %j', (message, settings) => {
    const { accounts } = startApi().emulator;
    const { id } = accounts.create({ maxKeys: 7 });
    expect(() => accounts.create(settings as AccountSettings)).toThrow(message);
    expect(() => accounts.update(id, settings as AccountSettings)).toThrow(message);
    expect(accounts.list().map((account) => account.settings)).toEqual([{}, { maxKeys: 7 }]);
  });

  it('an unknown account cannot be changed', () => {
    expect(() => startApi().emulator.accounts.update('acc_0', {})).toThrow('account acc_0 does not exist');
  });
});

describe('the limits of an emulator account', () => {
  it('the default plan is Professional', async () => {
    expect((await startApi().call(LIMITS)).body).toEqual({
      plan: { type: 'PROFESSIONAL', name: 'Professional', api_access: true },
      credits: { remaining: 100_000, monthly_allocation: 100_000 },
      limits: {
        rate_limit_per_minute: 100,
        daily_request_limit: 10_000,
        daily_requests_used: 1,
        daily_requests_remaining: 9_999,
        max_keys_per_account: 5,
      },
    });
  });

  it('settings override the limits of the plan', async () => {
    const limits = { requestsPerMinute: 8, requestsPerDay: 9, maxKeys: 0 };
    const { call } = startApi({ account: { plan: 'CREATOR', creditsRemaining: 0, creditsPerMonth: 7, ...limits } });
    expect((await call(LIMITS)).body).toMatchObject({
      plan: { type: 'CREATOR', name: 'Creator' },
      credits: { remaining: 0, monthly_allocation: 7 },
      limits: {
        rate_limit_per_minute: 8,
        daily_request_limit: 9,
        daily_requests_remaining: 8,
        max_keys_per_account: 0,
      },
    });
  });

  it.each<[settings: AccountSettings, perMinute: number, perDay: number, keys: number]>([
    [{ plan: 'FREE' }, 20, 2_000, 1],
    [{ plan: 'FREE', requestsPerMinute: 7, requestsPerDay: 8 }, 7, 8, 1],
    [{ plan: undefined, maxKeys: undefined }, 100, 10_000, 5],
    [{ plan: 'ENTERPRISE' }, 2_000, Number.MAX_SAFE_INTEGER, 100],
  ])(
    'the settings %j allow %i requests per minute, %i per day and %i keys',
    async (account, perMinute, perDay, keys) => {
      const { limits } = (await startApi({ account }).call(LIMITS)).body;
      expect([limits.rate_limit_per_minute, limits.daily_request_limit, limits.max_keys_per_account]).toEqual([
        perMinute,
        perDay,
        keys,
      ]);
    },
  );

  it('the usage route reports the credits and limits of the limits route, without the plan', async () => {
    const { call } = startApi({ account: { creditsRemaining: 7 } });
    const { credits, limits } = (await call(LIMITS)).body;
    expect((await call(USAGE)).body).toEqual({
      credits,
      limits: { ...limits, daily_requests_used: 2, daily_requests_remaining: 9_998 },
    });
  });

  it('the headers of every answer report the limits and their use', async () => {
    const { call } = startApi({ account: { plan: 'STANDARD', creditsRemaining: 7 } });
    const start = Date.UTC(2026, 6, 11, 9) / 1_000;
    const expected = {
      'content-type': 'application/json',
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': String(start + 60),
      'x-daily-requests-limit': '10000',
      'x-daily-requests-used': '1',
      'x-credits-remaining': '7',
      'x-plan': 'STANDARD',
      'x-request-id': expect.stringMatching(/^req_/),
    };
    expect((await call(LIMITS)).headers).toEqual(expected);
    expect((await call('/nowhere')).headers).toEqual(expected);
    expect((await call(LIMITS, { key: null })).headers).toEqual({
      'content-type': 'application/json',
      'x-ratelimit-limit': '0',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(start),
      'x-daily-requests-limit': '0',
      'x-daily-requests-used': '0',
      'x-credits-remaining': '0',
      'x-plan': 'NONE',
      'x-request-id': expect.stringMatching(/^req_/),
    });
  });

  it('the remaining requests are 0, not negative, after the limit is lowered below the use', async () => {
    const { emulator, call } = startApi();
    for (let i = 0; i < 3; i += 1) await call(LIMITS);
    const { id } = emulator.accounts.list()[0] ?? expect.unreachable();
    emulator.accounts.update(id, { requestsPerMinute: 1 });
    expect(await call(LIMITS)).toMatchObject({ status: 429, headers: { 'x-ratelimit-remaining': '0' } });
  });
});
