import { describe, expect, it } from 'vitest';
import { type AccountSettings, createAccounts } from '../../src/api/accounts.js';
import { createKeys, type KeySettings } from '../../src/api/keys.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const SCOPES = ['webhooks:read', 'webhooks:write', 'analytics:read'];

function create(settings: AccountSettings = {}) {
  const [random, totals] = [createRandom('keys'), createTotals()];
  const accounts = createAccounts(random, totals);
  return { keys: createKeys(random, totals), account: accounts.create(settings), other: accounts.create({}), totals };
}

describe('createKeys', () => {
  it('the default key is live, has every scope and belongs to an owner', () => {
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

  it('a key is stored as its hash alone', () => {
    const { keys, account } = create();
    const key = keys.create(account, { value: 'acct_of_somebody' });
    expect(key).toBe('acct_of_somebody');
    expect(JSON.stringify([...keys.byHash.values()])).not.toContain(key);
  });

  it.each<[settings: KeySettings, expected: object, prefix: string]>([
    [{ kind: 'sandbox' }, { kind: 'sandbox' }, 'acct_'],
    [{ kind: 'platform' }, { kind: 'platform' }, 'plat_'],
    [{ scopes: [] }, { scopes: [] }, 'acct_'],
    [{ scopes: ['voices:read'], role: 'member' }, { scopes: ['voices:read'], role: 'member' }, 'acct_'],
    [{ role: 'admin' }, { role: 'admin' }, 'acct_'],
  ])('the settings %j are accepted', (settings, expected, prefix) => {
    const { keys, account } = create();
    const key = keys.create(account, settings);
    expect(key.startsWith(prefix)).toBe(true);
    expect(keys.find(key)).toMatchObject(expected);
  });

  it.each<[message: string, settings: unknown]>([
    ['settings must be an object', null],
    ['scopes must be strings', { scopes: 'webhooks:read' }],
    ['scopes must be strings', { scopes: ['webhooks:read', 7] }],
    ["kind must be 'live' or 'sandbox' or 'platform'", { kind: 'test' }],
    ["role must be 'owner' or 'admin' or 'member'", { role: 'guest' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct_1234567' }],
    ['value must be acct_ and at least 8 letters or digits', { value: `acct_${'a'.repeat(257)}` }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct_12345678!' }],
    ['value must be acct_ and at least 8 letters or digits', { value: ' acct_12345678' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'plat_12345678' }],
    ['value must be acct_ and at least 8 letters or digits', { value: 'acct acct_12345678' }],
    ['value must be plat_ and at least 8 letters or digits', { value: 'acct_12345678', kind: 'platform' }],
  ])('the message "%s" refuses the settings %j', (message, settings) => {
    const { keys, account } = create();
    expect(() => keys.create(account, settings as KeySettings)).toThrow(message);
    expect([...keys.byHash.values()]).toEqual([]);
  });

  it('a key cannot be created twice', () => {
    const { keys, account, other } = create();
    keys.create(account, { value: 'acct_12345678' });
    expect(() => keys.create(other, { value: 'acct_12345678' })).toThrow('value: this key exists already');
  });

  it('a revoked key is not found and does not count', () => {
    const { keys, account } = create({ plan: 'CREATOR' });
    const [one, two] = [keys.create(account), keys.create(account)];
    expect(() => keys.create(account)).toThrow('maxKeys: the account has its 2 keys');
    expect([keys.revoke(one), keys.revoke('acct_nobody')]).toEqual([true, false]);
    expect([keys.find(one), keys.find(two)?.revoked]).toEqual([undefined, false]);
    expect(keys.find(keys.create(account))).toBeDefined();
  });

  it('an account has one sandbox key, which does not count as a live key', () => {
    const { keys, account, other } = create({ plan: 'CREATOR' });
    const sandbox = keys.create(account, { kind: 'sandbox' });
    for (let i = 0; i < 2; i += 1) keys.create(account);
    expect(() => keys.create(account)).toThrow('maxKeys: the account has its 2 keys');
    expect(() => keys.create(account, { kind: 'sandbox' })).toThrow('kind: the account has its one sandbox key');
    keys.revoke(sandbox);
    keys.create(account, { kind: 'sandbox' });
    keys.create(other, { kind: 'sandbox' });
    keys.create(other);
  });

  it('platform keys do not count as account keys and have no limit', () => {
    const { keys, account } = create({ plan: 'CREATOR' });
    for (let i = 0; i < 3; i += 1) keys.create(account, { kind: 'platform' });
    for (let i = 0; i < 2; i += 1) keys.create(account);
    expect(() => keys.create(account)).toThrow('maxKeys: the account has its 2 keys');
    expect(keys.create(account, { kind: 'platform' })).toMatch(/^plat_/);
  });

  it('a plan without API access allows only a sandbox key', () => {
    const { keys, account } = create({ plan: 'FREE' });
    expect(() => keys.create(account)).toThrow('kind: the plan Free allows only a sandbox key');
    expect(keys.find(keys.create(account, { kind: 'sandbox' }))?.kind).toBe('sandbox');
  });

  it.each([
    ['FREE', 'sandbox'],
    ['CREATOR', 'live'],
  ] as const)('on the plan %s, put adds a %s key', (plan, kind) => {
    const { keys, account } = create({ plan, maxKeys: 0 });
    keys.put(account, 'acct_12345678');
    expect(keys.find('acct_12345678')).toMatchObject({ kind, scopes: SCOPES, role: 'owner', accountId: account.id });
  });

  it('put leaves an existing key unchanged', () => {
    const { keys, account, other } = create();
    keys.create(other, { value: 'acct_12345678', role: 'member' });
    keys.put(account, 'acct_12345678');
    expect(keys.find('acct_12345678')).toMatchObject({ role: 'member', accountId: other.id });
  });

  it.each(['plat_12345678', 'acct_1', ''])('put refuses the key %j', (value) => {
    const { keys, account } = create();
    const message = 'apiKey must be acct_ and at least 8 letters or digits';
    expect(() => keys.put(account, value)).toThrow(message);
  });

  it('the stored record is enough to recognise a key', () => {
    const [one, two] = [create(), create()];
    const key = one.keys.create(one.account, { value: 'acct_12345678' });
    expect(two.keys.find(key)).toBe(undefined);
    for (const record of one.keys.byHash.values()) two.keys.byHash.set(record.hash, record);
    expect(two.keys.find(key)).toBe(one.keys.find(key));
  });
});
