import { describe, expect, it } from 'vitest';
import { countDeadDelivery, createEndpoints, moveEndpoint, showEndpoint } from '../../src/delivery/endpoints.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const settings = { accountId: 'acc_a', url: 'https://app.example/', events: ['stt.completed'] };

function create() {
  const totals = createTotals();
  return { totals, endpoints: createEndpoints(createRandom('endpoints'), totals) };
}

describe('createEndpoints', () => {
  it('a new endpoint is active, is counted, and has an id and a secret of its own', () => {
    const { endpoints, totals } = create();
    const [one, two] = [endpoints.create(settings), endpoints.create(settings)];
    expect(one).toEqual({ ...settings, id: one.id, secret: one.secret, state: 'active', deadInARow: 0 });
    expect([one.id, one.secret]).toEqual([expect.stringMatching(/^wh_/), expect.stringMatching(/^whsec_/)]);
    expect(new Set([one.id, two.id, one.secret, two.secret]).size).toBe(4);
    expect(totals.endpoints).toBe(2);
  });

  it('the same seed creates the same endpoint', () => {
    const [one, two] = [create().endpoints.create(settings), create().endpoints.create(settings)];
    expect(one).toEqual(two);
  });

  it('an endpoint can have a given secret', () => {
    expect(create().endpoints.create({ ...settings, secret: 'given' }).secret).toBe('given');
  });

  it('endpoints are found by id and by account', () => {
    const { endpoints } = create();
    const [one, two] = [endpoints.create(settings), endpoints.create({ ...settings, accountId: 'acc_b' })];
    expect([endpoints.byId.get(one.id), endpoints.byId.get('wh_0')]).toEqual([one, undefined]);
    expect([endpoints.ofAccount('acc_a'), endpoints.ofAccount('acc_b'), endpoints.ofAccount('acc_c')]).toEqual([
      [one],
      [two],
      [],
    ]);
  });

  it('the public view is a copy without the secret', () => {
    const endpoint = create().endpoints.create(settings);
    const shown = showEndpoint(endpoint);
    endpoint.state = 'paused';
    expect(shown).toEqual({ ...settings, id: endpoint.id, state: 'active', deadInARow: 0 });
  });
});

describe('countDeadDelivery and moveEndpoint', () => {
  function withDead(deadInARow: number) {
    return Object.assign(create().endpoints.create(settings), { deadInARow });
  }

  it.each([
    [19, 'active'],
    [20, 'paused'],
    [21, 'paused'],
  ])('%i consecutive dead deliveries leave an endpoint %s', (dead, state) => {
    const endpoint = withDead(dead - 1);
    countDeadDelivery(endpoint);
    expect([endpoint.state, endpoint.deadInARow]).toEqual([state, dead]);
  });

  it('enabling a paused endpoint restarts its count', () => {
    const endpoint = Object.assign(withDead(3), { state: 'paused' as const });
    moveEndpoint(endpoint, 'enable');
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 0 });
  });

  it('enabling an active endpoint keeps its count', () => {
    const endpoint = withDead(3);
    moveEndpoint(endpoint, 'enable');
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 3 });
  });

  it('pausing an endpoint keeps its count', () => {
    const endpoint = withDead(3);
    moveEndpoint(endpoint, 'pause');
    moveEndpoint(endpoint, 'pause');
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 3 });
  });

  it('a dead delivery of a paused endpoint leaves it paused', () => {
    const endpoint = Object.assign(withDead(3), { state: 'paused' as const });
    countDeadDelivery(endpoint);
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 4 });
  });
});
