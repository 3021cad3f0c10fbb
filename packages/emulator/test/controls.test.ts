import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';

const URL = 'https://app.example/';

let emulator: Emulator;
afterEach(() => emulator.close());

function create(options: EmulatorOptions = {}) {
  emulator = createEmulator({ seed: 'dashboard', fetch: () => new Response(null, { status: 500 }), ...options });
  return emulator;
}

describe('emulator.endpoints', () => {
  it('an endpoint subscribes to all event types or to those given, each once', () => {
    const { endpoints } = create();
    expect(endpoints.create({ url: URL }).events).toEqual(WEBHOOK_EVENT_TYPES);
    expect(endpoints.create({ url: URL, events: ['a.b', 'c.d', 'a.b'] }).events).toEqual(['a.b', 'c.d']);
  });

  it('the secret of an endpoint is returned on creation and never again', () => {
    const { endpoints, accounts } = create();
    const { signingSecret, ...shown } = endpoints.create({ url: URL, events: ['a.b'] });
    const expected = { id: shown.id, accountId: accounts.list()[0]?.id, url: URL, events: ['a.b'] };
    expect(shown).toEqual({ ...expected, state: 'active', deadInARow: 0 });
    expect(signingSecret).toMatch(/^whsec_/);
    for (const seen of [endpoints.get(shown.id), endpoints.update(shown.id, {}), endpoints.list()[0]]) {
      expect(seen).toEqual(shown);
    }
  });

  it('an endpoint has the given secret if that is valid', () => {
    const { endpoints } = create();
    expect(endpoints.create({ url: URL, signingSecret: 'of the receiver' }).signingSecret).toBe('of the receiver');
    expect(() => endpoints.create({ url: URL, signingSecret: ' padded' })).toThrow(
      'secret begins with a space. Trim it. (invalid_secret)',
    );
    expect(endpoints.list()).toHaveLength(1);
  });

  it('an endpoint belongs to the given account', () => {
    const { endpoints, accounts } = create();
    const { id: account } = accounts.create();
    expect(endpoints.create({ url: URL, account }).accountId).toBe(account);
    expect(() => endpoints.create({ url: URL, account: 'acc_0' })).toThrow('account acc_0 does not exist');
  });

  it('an update changes the URL, the types, both or neither', () => {
    const { endpoints } = create();
    const { id } = endpoints.create({ url: URL, events: ['a.b'] });
    expect(endpoints.update(id, { url: `${URL}2` })).toMatchObject({ url: `${URL}2`, events: ['a.b'] });
    expect(endpoints.update(id, { events: ['c.d'] })).toMatchObject({ url: `${URL}2`, events: ['c.d'] });
    expect(endpoints.update(id, { url: URL, events: ['e.f'] })).toMatchObject({ url: URL, events: ['e.f'] });
    expect(endpoints.update(id, {})).toEqual(endpoints.get(id));
  });

  it('an unknown endpoint is not found, and every change to it is refused', () => {
    const { endpoints } = create();
    expect(endpoints.get('wh_0')).toBe(undefined);
    for (const call of [
      () => endpoints.update('wh_0', {}),
      () => endpoints.remove('wh_0'),
      () => endpoints.pause('wh_0'),
      () => endpoints.enable('wh_0'),
    ]) {
      expect(call).toThrow('endpoint wh_0 does not exist');
    }
  });

  it('an endpoint is paused and enabled', () => {
    const { endpoints } = create();
    const { id } = endpoints.create({ url: URL });
    expect(endpoints.pause(id)).toBe(undefined);
    expect(endpoints.get(id)?.state).toBe('paused');
    endpoints.enable(id);
    expect(endpoints.get(id)?.state).toBe('active');
  });

  it.each([
    [{ url: 'https://localhost/' }, 'url is not public: loopback (allowLoopback allows it)'],
    [{ url: 'https://10.0.0.1/' }, 'url is not public: private'],
    [{ url: URL, events: [] }, 'events must be a list of event types'],
    [{ url: URL, events: 'a.b' }, 'events must be a list of event types'],
    [{ url: URL, events: ['a.b', ''] }, 'events must be a list of event types'],
    [{ url: URL, events: ['a.b', 7] }, 'events must be a list of event types'],
    [{ url: URL, signingSecret: new Uint8Array(32) }, 'signingSecret must be a string'],
    [null, 'endpoint must be an object'],
  ])('the settings %j are refused: %s', (given, message) => {
    const { endpoints } = create();
    const thrown = (call: () => unknown) => {
      try {
        return call();
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(thrown(() => endpoints.create(given as never))).toContain(message);
    expect(endpoints.list()).toEqual([]);
  });

  it('an invalid update is refused and changes nothing', () => {
    const { endpoints } = create();
    const { signingSecret: _, ...made } = endpoints.create({ url: URL });
    expect(() => endpoints.update(made.id, { url: 'https://10.0.0.1/', events: ['a.b'] })).toThrow('private');
    expect(() => endpoints.update(made.id, { url: `${URL}2`, events: [] })).toThrow('events must be a list');
    expect(() => endpoints.update(made.id, null as never)).toThrow('changes must be an object');
    expect(endpoints.list()).toEqual([made]);
  });
});

describe('emulator.deliveries', () => {
  /** A delivered delivery, and a failing one to each of two endpoints. */
  async function withThree(options: EmulatorOptions = {}) {
    let status = 200;
    create({ fetch: () => new Response(null, { status }), ...options });
    const one = emulator.endpoints.create({ url: URL, events: ['stt.completed'] });
    const two = emulator.endpoints.create({ url: URL, events: ['stt.failed'] });
    await emulator.emit('stt.completed', { id: 'evt_a' });
    await emulator.settled();
    status = 500;
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.emit('stt.failed', { id: 'evt_c' });
    await emulator.settled();
    return { one, two };
  }

  it('deliveries are listed by state, endpoint and event', async () => {
    const { one, two } = await withThree();
    const found = (filter?: Parameters<typeof emulator.deliveries.list>[0]) =>
      emulator.deliveries.list(filter).map(({ eventId }) => eventId);
    expect(found()).toEqual(['evt_a', 'evt_b', 'evt_c']);
    expect(found({ state: 'delivered' })).toEqual(['evt_a']);
    expect(found({ endpointId: one.id })).toEqual(['evt_a', 'evt_b']);
    expect(found({ eventId: 'evt_b' })).toEqual(['evt_b']);
    expect(found({ state: 'waiting', endpointId: two.id })).toEqual(['evt_c']);
    expect(found({ eventId: 'evt_a', endpointId: two.id })).toEqual([]);
  });

  it('a delivery is found by its id', async () => {
    await withThree();
    const [first] = emulator.deliveries.list();
    expect(emulator.deliveries.get(first?.id ?? '')).toEqual(first);
    expect(emulator.deliveries.get('dlv_0')).toBe(undefined);
  });

  it('only a dead delivery can be redelivered', async () => {
    await withThree();
    const id = emulator.deliveries.list()[0]?.id ?? '';
    for (const wrong of [id, 'dlv_0']) {
      const message = `delivery ${wrong} is not dead, or no longer kept`;
      expect(() => emulator.deliveries.redeliver(wrong)).toThrow(message);
    }
    await emulator.runUntilIdle();
    const [dead] = emulator.deliveries.list({ state: 'dead' });
    expect(emulator.deliveries.redeliver(dead?.id ?? '')).toMatchObject({ state: 'sending', redeliveries: 1 });
    await emulator.settled();
  });

  it('redeliver is refused where there is no room for one more', async () => {
    await withThree({ maxPending: 2 });
    await emulator.runUntilIdle();
    const [dead] = emulator.deliveries.list({ state: 'dead' });
    for (let i = 0; i < 2; i += 1) await emulator.emit('stt.completed');
    expect(() => emulator.deliveries.redeliver(dead?.id ?? '')).toThrow('maxPending: 2 deliveries are pending');
  });
});

describe('emulator.accounts and emulator.keys', () => {
  it('accounts are created, changed and listed, as copies', () => {
    const { accounts } = create({ account: { plan: 'CREATOR' } });
    const [first] = accounts.list();
    expect(first).toEqual({ id: expect.stringMatching(/^acc_/), settings: { plan: 'CREATOR' } });
    expect(accounts.create()).toEqual({ id: expect.stringMatching(/^acc_/), settings: {} });
    const updated = accounts.update(first?.id ?? '', { maxKeys: 7 });
    expect(updated.settings).toEqual({ plan: 'CREATOR', maxKeys: 7 });
    Object.assign(updated.settings, { maxKeys: 8 });
    expect(accounts.list().map(({ settings }) => settings)).toEqual([{ plan: 'CREATOR', maxKeys: 7 }, {}]);
    expect(() => accounts.update('acc_0', {})).toThrow('account acc_0 does not exist');
  });

  it('a key belongs to the given account', async () => {
    const { accounts, keys } = create({ account: { plan: 'CREATOR' } });
    const { id: account } = accounts.create({ plan: 'STANDARD' });
    const plan = async (key: string) => {
      const headers = { 'x-api-key': key };
      const answer = await emulator.fetch(new Request('http://api/api/v1/account/api-limits', { headers }));
      return answer.headers.get('x-plan');
    };
    expect([await plan(keys.create({ account })), await plan(keys.create())]).toEqual(['STANDARD', 'CREATOR']);
    expect(() => keys.create({ account: 'acc_0' })).toThrow('account acc_0 does not exist');
  });

  it('invalid settings and unknown keys are refused', () => {
    const { keys } = create();
    expect(() => keys.create(null as never)).toThrow('settings must be an object');
    expect(() => keys.revoke('acct_nobody_has_it')).toThrow('key is unknown: pass a key that keys.create returned');
  });
});
