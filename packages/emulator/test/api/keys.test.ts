import type { KeySettings } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { LIMITS, SETTINGS, startApi, USAGE, WEBHOOKS } from './client.js';

const SCOPES = 'webhooks:read, webhooks:write, analytics:read';

describe("authentication by the emulator's API", () => {
  it.each<[place: string, headers: (key: string) => Record<string, string>]>([
    ['x-api-key', (key) => ({ 'x-api-key': key })],
    ['service-api-key', (key) => ({ 'service-api-key': key })],
    ['Authorization', (key) => ({ authorization: `Bearer ${key}` })],
    ['Authorization in another spelling', (key) => ({ authorization: `bEARER   ${key}  ` })],
    ['x-api-key next to an empty header', (key) => ({ 'service-api-key': '', 'x-api-key': key })],
    ['service-api-key before x-api-key', (key) => ({ 'service-api-key': key, 'x-api-key': 'acct_other_key' })],
    ['x-api-key before Authorization', (key) => ({ 'x-api-key': key, authorization: 'Bearer acct_other_key' })],
  ])('the API reads the key from %s', async (_, headers) => {
    const { emulator, call } = startApi();
    expect((await call(LIMITS, { key: null, headers: headers(emulator.apiKey) })).status).toBe(200);
  });

  it.each<[code: string, headers: Record<string, string>]>([
    ['missing_api_key', {}],
    ['missing_api_key', { 'x-api-key': '' }],
    ['missing_api_key', { authorization: 'Basic YTpi' }],
    ['missing_api_key', { authorization: 'Bearer ' }],
    ['missing_api_key', { authorization: 'not Bearer acct_other_key' }],
    ['invalid_api_key', { authorization: 'Bearer acct_other_key' }],
    ['invalid_api_key', { 'service-api-key': 'acct_0123456789abcdef' }],
    ['invalid_api_key', { 'x-api-key': 'acct_other_key' }],
    ['invalid_api_key', { 'x-api-key': 'nonsense' }],
  ])('the answer is 401 with the code %s for the headers %j', async (code, headers) => {
    const { status, error } = await startApi().call(LIMITS, { key: null, headers });
    expect([status, error]).toMatchObject([401, { code, type: 'authentication_error' }]);
  });

  it.each([
    ['x-own', 'own-api-key', 'x-own-sandbox'],
    ['acme-x-y', 'acme-x-y-api-key', 'acme-x-y-sandbox'],
  ])(
    'with headerPrefix %s, the key is read from %s and a sandbox answer has %s',
    async (headerPrefix, name, marked) => {
      const { emulator, call } = startApi({ headerPrefix });
      const headers = { [name]: emulator.keys.create({ kind: 'sandbox' }) };
      expect(await call(LIMITS, { key: null, headers })).toMatchObject({ status: 200, headers: { [marked]: 'true' } });
      expect((await call(LIMITS)).headers).not.toHaveProperty(marked);
    },
  );

  it('the next request with a revoked key is refused', async () => {
    const { emulator, call } = startApi();
    const [key, other] = [emulator.keys.create(), emulator.keys.create()];
    expect((await call(LIMITS, { key })).status).toBe(200);
    emulator.keys.revoke(key);
    expect((await call(LIMITS, { key })).code).toBe('invalid_api_key');
    expect((await call(LIMITS, { key: other })).status).toBe(200);
  });

  it('a platform key is refused, because the API needs an account key', async () => {
    const { emulator, call } = startApi();
    const { error } = await call(LIMITS, { key: emulator.keys.create({ kind: 'platform' }) });
    expect(error).toMatchObject({
      code: 'invalid_api_key',
      message: 'This is a platform key. An account key is needed here.',
    });
  });

  it('every request is refused after the account moves to a plan without API access', async () => {
    const { emulator, call } = startApi();
    emulator.accounts.update(emulator.accounts.list()[0]?.id ?? '', { plan: 'STARTER' });
    for (const path of [LIMITS, WEBHOOKS, USAGE]) {
      expect((await call(path)).error).toMatchObject({
        status: 403,
        code: 'plan_limit_exceeded',
        message: 'The plan Starter has no API access.',
      });
    }
  });

  it('a client address in deniedIps is refused with 403 on every path', async () => {
    const { emulator, call } = startApi({ deniedIps: ['10.0.0.1', '127.0.0.1'] });
    emulator.script({ path: '/v1/voices' });
    for (const path of [LIMITS, '/v1/voices', '/nowhere']) {
      expect((await call(path, { key: null })).error).toMatchObject({ code: 'ip_blocked', status: 403 });
    }
  });
});

describe('permissions of an emulator API key', () => {
  it.each([
    [['webhooks:write', 'analytics:read'], 'webhooks:write, analytics:read'],
    [[], 'none'],
  ])('a key with the scopes %j is refused with insufficient_scope when it lists endpoints', async (scopes, held) => {
    const { emulator, call } = startApi();
    const key = emulator.keys.create({ scopes });
    expect((await call(WEBHOOKS, { key })).error).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      message: `The scope webhooks:read is needed. The scopes of this key: ${held}.`,
    });
    expect((await call(LIMITS, { key })).status).toBe(200);
  });

  it('a key that may read endpoints may neither write them nor read the usage', async () => {
    const { emulator, call } = startApi();
    const key = emulator.keys.create({ scopes: ['webhooks:read'] });
    expect((await call(WEBHOOKS, { key })).status).toBe(200);
    for (const [method, path] of [
      ['POST', WEBHOOKS],
      ['PATCH', `${WEBHOOKS}/wh_1`],
      ['DELETE', `${WEBHOOKS}/wh_1`],
      ['GET', USAGE],
    ] as const) {
      expect((await call(path, { key, method })).code).toBe('insufficient_scope');
    }
  });

  it.each([
    ['owner', 200, undefined],
    ['admin', 200, undefined],
    ['member', 403, 'forbidden'],
  ] as const)('a key with the role %s gets status %i from the usage route', async (role, status, code) => {
    const { emulator, call } = startApi();
    const key = emulator.keys.create({ role });
    expect(await call(USAGE, { key })).toMatchObject({ status, code });
    expect((await call(WEBHOOKS, { key })).status).toBe(200);
  });

  it('a sandbox key may read and not write, and its answers have the sandbox header', async () => {
    const { emulator, call } = startApi();
    const key = emulator.keys.create({ kind: 'sandbox' });
    for (const path of [LIMITS, WEBHOOKS, USAGE]) {
      expect(await call(path, { key })).toMatchObject({ status: 200, headers: { 'x-service-sandbox': 'true' } });
    }
    for (const [method, path] of [
      ['POST', WEBHOOKS],
      ['PATCH', `${WEBHOOKS}/wh_1`],
      ['DELETE', `${WEBHOOKS}/wh_1`],
    ] as const) {
      const refused = { status: 400, code: 'sandbox_unsupported_route', headers: { 'x-service-sandbox': 'true' } };
      expect(await call(path, { key, method, json: SETTINGS })).toMatchObject(refused);
    }
  });
});

describe('emulator.apiKey', () => {
  it.each([
    ['a new key', {}, /^acct_[A-Za-z0-9_-]{43}$/],
    ['the given key', { apiKey: 'acct_given_key' }, /^acct_given_key$/],
    ['a key beyond the limit of the plan', { account: { plan: 'CREATOR', maxKeys: 0 } }, /^acct_/],
  ] as const)('the first key of an emulator is %s, and live', async (_, options, form) => {
    const { emulator, call } = startApi(options);
    expect(emulator.apiKey).toMatch(form);
    const { status, headers } = await call(WEBHOOKS);
    expect([status, headers['x-service-sandbox']]).toEqual([200, undefined]);
  });

  it('the first key is a sandbox key under a plan without API access', async () => {
    const { call } = startApi({ account: { plan: 'FREE' } });
    expect(await call(LIMITS)).toMatchObject({ status: 200, headers: { 'x-service-sandbox': 'true' } });
  });
});

describe('emulator.keys', () => {
  it('a new key is live, has the documented scopes and belongs to an owner', async () => {
    const { emulator, call } = startApi();
    const [key, other] = [emulator.keys.create(), emulator.keys.create()];
    expect([key, emulator.totals.keys]).toEqual([expect.stringMatching(/^acct_[A-Za-z0-9_-]{43}$/), 2]);
    expect(key).not.toBe(other);
    expect([
      (await call(USAGE, { key })).status,
      (await call(WEBHOOKS, { key, json: SETTINGS, method: 'POST' })).status,
    ]).toEqual([200, 201]);
    emulator.script({ path: '/v1/voices', scope: 'voices:read' });
    expect((await call('/v1/voices', { key })).error.message).toContain(`The scopes of this key: ${SCOPES}.`);
  });

  it('create() uses a given key value, and refuses the same value again', async () => {
    const { emulator, call } = startApi();
    const { id: account } = emulator.accounts.create();
    const value = 'acct_12345678';
    expect(emulator.keys.create({ value })).toBe(value);
    expect((await call(LIMITS, { key: value })).status).toBe(200);
    expect(() => emulator.keys.create({ value, account })).toThrow('value: this key exists already');
  });

  it('a key is created for the given account, and by default for the first one', async () => {
    const { emulator, call } = startApi({ account: { plan: 'CREATOR' } });
    const { id: account } = emulator.accounts.create({ plan: 'STANDARD' });
    const plan = async (key: string) => (await call(LIMITS, { key })).headers['x-plan'];
    expect(await plan(emulator.keys.create({ account }))).toBe('STANDARD');
    expect(await plan(emulator.keys.create())).toBe('CREATOR');
  });

  it.each<[message: string, settings: unknown]>([
    ['settings must be an object', null],
    ['account acc_0 does not exist', { account: 'acc_0' }],
    ["Unknown option 'scope' in the settings of a key. Did you mean 'scopes'?", { scope: 'webhooks:read' }],
    ['scopes must be strings', { scopes: 'webhooks:read' }],
    ['scopes must be strings', { scopes: ['webhooks:read', 7] }],
    ["kind must be 'live' or 'sandbox' or 'platform'", { kind: 'test' }],
    ["role must be 'owner' or 'admin' or 'member'", { role: 'guest' }],
    ...['acct_1234567', `acct_${'a'.repeat(257)}`, 'acct_12345678!', ' acct_12345678', 'acct acct_12345678'].map(
      (value): [string, unknown] => ['value must be acct_ and at least 8 letters or digits', { value }],
    ),
    ['value must be acct_ and at least 8 letters or digits', { value: 'plat_12345678' }],
    ['value must be plat_ and at least 8 letters or digits', { value: 'acct_12345678', kind: 'platform' }],
  ])('the error "%s" is thrown for the settings %j', async (message, settings) => {
    const { emulator, call } = startApi();
    expect(() => emulator.keys.create(settings as KeySettings)).toThrow(message);
    const { value } = (settings ?? {}) as KeySettings;
    if (value !== undefined) expect((await call(LIMITS, { key: value })).code).toBe('invalid_api_key');
  });

  it('an unknown key cannot be revoked', () => {
    const { keys } = startApi().emulator;
    for (const key of ['acct_nobody_has_it', 7 as never]) {
      expect(() => keys.revoke(key)).toThrow('key is unknown: pass a key that keys.create returned');
    }
  });
});

describe('the number of keys of an emulator account', () => {
  /** An account that may have two live keys, none of which exists. */
  function createAccount() {
    const { emulator } = startApi();
    const { id: account } = emulator.accounts.create({ plan: 'CREATOR' });
    return {
      keys: emulator.keys,
      create: (settings: KeySettings = {}) => emulator.keys.create({ account, ...settings }),
    };
  }
  const FULL = 'maxKeys: the account has its 2 keys; revoke one, or raise maxKeys';

  it('a live key beyond the limit of the plan is refused until another one is revoked', () => {
    const { keys, create } = createAccount();
    const first = create();
    create();
    expect(() => create()).toThrow(FULL);
    keys.revoke(first);
    create();
  });

  it('an account has one sandbox key, which does not count as a live key', () => {
    const { keys, create } = createAccount();
    const sandbox = create({ kind: 'sandbox' });
    create();
    create();
    expect(() => create()).toThrow(FULL);
    expect(() => create({ kind: 'sandbox' })).toThrow('kind: the account has its one sandbox key');
    keys.create({ kind: 'sandbox' });
    keys.revoke(sandbox);
    create({ kind: 'sandbox' });
  });

  it('platform keys have no limit and do not count as live keys', () => {
    const { create } = createAccount();
    for (let i = 0; i < 3; i += 1) expect(create({ kind: 'platform' })).toMatch(/^plat_/);
    create();
    create();
    expect(() => create()).toThrow(FULL);
    create({ kind: 'platform' });
  });

  it('a plan without API access allows only a sandbox key', () => {
    const { emulator } = startApi();
    const { id: account } = emulator.accounts.create({ plan: 'FREE' });
    expect(() => emulator.keys.create({ account })).toThrow('kind: the plan Free allows only a sandbox key');
    expect(emulator.keys.create({ account, kind: 'sandbox' })).toMatch(/^acct_/);
  });
});
