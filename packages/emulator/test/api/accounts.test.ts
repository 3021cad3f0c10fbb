import { describe, expect, it } from 'vitest';
import { createAccounts, creditsOf, planOf } from '../../src/api/accounts.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

function create() {
  const totals = createTotals();
  return { totals, accounts: createAccounts(createRandom('accounts'), totals) };
}

describe('createAccounts', () => {
  it('accounts have ids of their own, by which they are found, and are counted', () => {
    const { accounts, totals } = create();
    const [one, two] = [accounts.create({}), accounts.create({ plan: 'FREE' })];
    expect([one.id, totals.accounts]).toEqual([expect.stringMatching(/^acc_/), 2]);
    expect(one.id).not.toBe(two.id);
    expect([accounts.byId.get(one.id), accounts.byId.get(two.id), accounts.byId.get('acc_0')]).toEqual([
      one,
      two,
      undefined,
    ]);
    expect([...accounts.byId.values()]).toEqual([one, two]);
  });

  it('an update keeps the other settings', () => {
    const { accounts } = create();
    const { id } = accounts.create({ plan: 'FREE', maxKeys: 7 });
    expect(accounts.update(id, { maxKeys: 8, creditsRemaining: 0 }).settings).toEqual({
      plan: 'FREE',
      maxKeys: 8,
      creditsRemaining: 0,
    });
    expect(() => accounts.update('acc_0', {})).toThrow('account acc_0 does not exist');
  });

  it.each<[message: string, settings: unknown]>([
    ['settings must be an object', null],
    ['plan must be one of FREE, STARTER, CREATOR, STANDARD, PROFESSIONAL, BUSINESS, ENTERPRISE', { plan: 'GOLD' }],
    ['plan must be one of', { plan: 'toString' }],
    ['maxKeys must be an integer, 0 or more', { maxKeys: -1 }],
    ['requestsPerDay must be an integer, 0 or more', { requestsPerDay: 1.5 }],
    ['creditsRemaining must be an integer, 0 or more', { maxKeys: 1, creditsRemaining: '1' }],
  ])('the message "%s" refuses the settings %j, on creation and on update', (message, settings) => {
    const { accounts } = create();
    const { id } = accounts.create({});
    expect(() => accounts.create(settings as never)).toThrow(message);
    if (settings !== null) expect(() => accounts.update(id, settings as never)).toThrow(message);
    expect([...accounts.byId.values()].map((account) => account.settings)).toEqual([{}]);
  });
});

describe('planOf', () => {
  const planWith = (settings: Parameters<ReturnType<typeof createAccounts>['create']>[0]) =>
    planOf(create().accounts.create(settings));

  it('the default plan is Professional, with the limits of the specification', () => {
    const expected = { type: 'PROFESSIONAL', name: 'Professional', apiAccess: true };
    expect(planWith({})).toEqual({ ...expected, requestsPerMinute: 100, requestsPerDay: 10_000, maxKeys: 5 });
    expect(planWith({ plan: undefined, maxKeys: undefined })).toEqual(planWith({}));
  });

  it('the limits of an account override those of its plan, also with 0', () => {
    expect(planWith({ plan: 'CREATOR', requestsPerMinute: 0, requestsPerDay: 0, maxKeys: 0 })).toEqual({
      ...{ type: 'CREATOR', name: 'Creator', apiAccess: true },
      ...{ requestsPerMinute: 0, requestsPerDay: 0, maxKeys: 0 },
    });
    expect(planWith({ plan: 'FREE', requestsPerMinute: 7, requestsPerDay: 8 })).toMatchObject({
      ...{ apiAccess: false, requestsPerMinute: 7, requestsPerDay: 8, maxKeys: 1 },
    });
  });

  it('a plan without API access has the limits of the lowest plan with it', () => {
    expect(planWith({ plan: 'FREE' })).toMatchObject({ requestsPerMinute: 20, requestsPerDay: 2_000 });
  });

  it('an unlimited plan has the largest safe integer as its limit', () => {
    expect(planWith({ plan: 'ENTERPRISE' }).requestsPerDay).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('an account has 100 000 credits, or those of its settings', () => {
    const credits = (settings: object) => creditsOf(create().accounts.create(settings));
    expect(credits({})).toEqual({ remaining: 100_000, perMonth: 100_000 });
    expect(credits({ creditsRemaining: 0, creditsPerMonth: 7 })).toEqual({ remaining: 0, perMonth: 7 });
  });
});
