import { describe, expect, it } from 'vitest';
import { type AccountSettings, createAccounts } from '../../../src/emulator/api/accounts.js';
import { createKeys, type KeySettings } from '../../../src/emulator/api/keys.js';
import { createRandom } from '../../../src/emulator/random.js';
import { createTotals } from '../../../src/emulator/totals.js';

const SCOPES = ['webhooks:read', 'webhooks:write', 'analytics:read'];

function create(settings: AccountSettings = {}) {
  const [random, totals] = [createRandom('keys'), createTotals()];
  const accounts = createAccounts(random, totals);
  return { keys: createKeys(random, totals), account: accounts.create(settings), other: accounts.create({}), totals };
}

describe('a key', () => {
  it('is live, with every scope, of the owner, and is found by what it is', () => {
    const { keys, account, totals } = create();
    const [one, two] = [keys.create(account), keys.create(account)];
    expect([one, totals.keys]).toEqual([expect.stringMatching(/^acct_[A-Za-z0-9_-]{43}$/), 2]);
    expect(one).not.toBe(two);
    expect(keys.find(one)).toEqual({
      ...{ hash: expect.stringMatching(/^[0-9a-f]{64}$/), accountId: account.id, kind: 'live' },
      ...{ scopes: SCOPES, role: 'owner', revoked: false },
    });
    expect([keys.find('acct_0123456789'), keys.find('')]).toEqual([undefined, undefined]);
  });

  it('is stored by its hash alone', () => {
    const { keys, account } = create();
    const key = keys.create(account, { value: 'acct_of_somebody' });
    expect(key).toBe('acct_of_somebody');
    expect(JSON.stringify([...keys.all()])).not.toContain(key);
  });

  it.each<[settings: KeySettings, expected: object, prefix: string]>([
    [{ kind: 'sandbox' }, { kind: 'sandbox' }, 'acct_'],
    [{ kind: 'platform' }, { kind: 'platform' }, 'plat_'],
    [{ scopes: [] }, { scopes: [] }, 'acct_'],
    [{ scopes: ['voices:read'], role: 'member' }, { scopes: ['voices:read'], role: 'member' }, 'acct_'],
    [{ role: 'admin' }, { role: 'admin' }, 'acct_'],
  ])('can be %j', (settings, expected, prefix) => {
    const { keys, account } = create();
    const key = keys.create(account, settings);
    expect(key.startsWith(prefix)).toBe(true);
    expect(keys.find(key)).toMatchObject(expected);
  });

  it.each<[message: string, settings: unknown]>([
    ['settings must be an object', null],
    ['scopes must be strings', { scopes: 'webhooks:read' }],
    ['scopes must be strings', { scopes: ['webhooks:read', 7] }],
    ['kind must be live or sandbox or platform', { kind: 'test' }],
    ['role must be owner or admin or member', { role: 'guest' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct_1234567' }],
    ['value must be acct_ and at least 8 letters or digits', { value: `acct_${'a'.repeat(257)}` }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct_12345678!' }],
    ['value must be acct_ and at least 8 letters or digits', { value: ' acct_12345678' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'plat_12345678' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct acct_12345678' }],
    ['value must be plat_ and at least 8 letters or digits', { value: 'acct_12345678', kind: 'platform' }],
  ])('%s: not %j', (message, settings) => {
    const { keys, account } = create();
    expect(() => keys.create(account, settings as KeySettings)).toThrow(`invalid_option: ${message}`);
    expect([...keys.all()]).toEqual([]);
  });

  it('is there once', () => {
    const { keys, account, other } = create();
    keys.create(account, { value: 'acct_12345678' });
    expect(() => keys.create(other, { value: 'acct_12345678' })).toThrow('value: there is such a key already');
  });

  it('that is revoked is not found any more, and makes room', () => {
    const { keys, account } = create({ plan: 'CREATOR' });
    const [one, two] = [keys.create(account), keys.create(account)];
    expect(() => keys.create(account)).toThrow('invalid_option: maxKeys: the account has its 2 keys');
    expect([keys.revoke(one), keys.revoke('acct_nobody')]).toEqual([true, false]);
    expect([keys.find(one), keys.find(two)?.revoked]).toEqual([undefined, false]);
    expect(keys.find(keys.create(account))).toBeDefined();
  });

  it('of the sandbox is one, beside the others', () => {
    const { keys, account, other } = create({ plan: 'CREATOR' });
    const sandbox = keys.create(account, { kind: 'sandbox' });
    for (let i = 0; i < 2; i += 1) keys.create(account);
    expect(() => keys.create(account, { kind: 'platform' })).toThrow('maxKeys: the account has its 2 keys');
    expect(() => keys.create(account, { kind: 'sandbox' })).toThrow('kind: the account has its one sandbox key');
    keys.revoke(sandbox);
    keys.create(account, { kind: 'sandbox' });
    keys.create(other, { kind: 'sandbox' });
    keys.create(other);
  });

  it('on a plan without API access is of the sandbox', () => {
    const { keys, account } = create({ plan: 'FREE' });
    expect(() => keys.create(account)).toThrow('invalid_option: kind: the plan Free has only a sandbox key');
    expect(keys.find(keys.create(account, { kind: 'sandbox' }))?.kind).toBe('sandbox');
  });

  it.each([
    ['FREE', 'sandbox'],
    ['CREATOR', 'live'],
  ] as const)('that has to be there is put there, on the plan %s as %s', (plan, kind) => {
    const { keys, account } = create({ plan, maxKeys: 0 });
    keys.put(account, 'acct_12345678');
    expect(keys.find('acct_12345678')).toMatchObject({ kind, scopes: SCOPES, role: 'owner', accountId: account.id });
  });

  it('that is there already stays as it is when it is put there', () => {
    const { keys, account, other } = create();
    keys.create(other, { value: 'acct_12345678', role: 'member' });
    keys.put(account, 'acct_12345678');
    expect(keys.find('acct_12345678')).toMatchObject({ role: 'member', accountId: other.id });
  });

  it.each(['plat_12345678', 'acct_1', ''])('cannot be put there: %j', (value) => {
    const { keys, account } = create();
    const message = 'invalid_option: apiKey must be acct_ and at least 8 letters or digits';
    expect(() => keys.put(account, value)).toThrow(message);
  });

  it('can be restored, and all are gone when they are cleared', () => {
    const { keys, account } = create();
    const key = keys.create(account);
    const [record] = keys.all();
    keys.clear();
    expect(keys.find(key)).toBe(undefined);
    if (record !== undefined) keys.restore(record);
    expect(keys.find(key)).toBe(record);
  });
});
