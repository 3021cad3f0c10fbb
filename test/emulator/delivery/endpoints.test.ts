import { describe, expect, it } from 'vitest';
import { createEndpoints, moveEndpoint, showEndpoint } from '../../../src/emulator/delivery/endpoints.js';
import { createRandom } from '../../../src/emulator/random.js';
import { createTotals } from '../../../src/emulator/totals.js';

const settings = { accountId: 'acc_a', url: 'https://app.example/', events: ['stt.completed'] };

function create() {
  const totals = createTotals();
  return { totals, endpoints: createEndpoints(createRandom('endpoints'), totals) };
}

describe('endpoints', () => {
  it('are active from the start, each with an id and a secret of its own, and are counted', () => {
    const { endpoints, totals } = create();
    const [one, two] = [endpoints.create(settings), endpoints.create(settings)];
    expect(one).toEqual({ ...settings, id: one.id, secret: one.secret, state: 'active', deadInARow: 0 });
    expect([one.id, one.secret]).toEqual([expect.stringMatching(/^wh_/), expect.stringMatching(/^whsec_/)]);
    expect(new Set([one.id, two.id, one.secret, two.secret]).size).toBe(4);
    expect(totals.endpoints).toBe(2);
  });

  it('are the same again from the same seed', () => {
    const [one, two] = [create().endpoints.create(settings), create().endpoints.create(settings)];
    expect(one).toEqual(two);
  });

  it('can have a secret that is given', () => {
    expect(create().endpoints.create({ ...settings, secret: 'given' }).secret).toBe('given');
  });

  it('are found by their id and by their account, until they are removed', () => {
    const { endpoints } = create();
    const [one, two] = [endpoints.create(settings), endpoints.create({ ...settings, accountId: 'acc_b' })];
    expect([endpoints.get(one.id), endpoints.get('wh_0')]).toEqual([one, undefined]);
    expect([endpoints.of('acc_a'), endpoints.of('acc_b'), endpoints.of('acc_c')]).toEqual([[one], [two], []]);
    endpoints.remove(one);
    expect([[...endpoints.all()], endpoints.get(one.id)]).toEqual([[two], undefined]);
    endpoints.restore(one);
    expect([...endpoints.all()]).toEqual([two, one]);
    endpoints.clear();
    expect([...endpoints.all()]).toEqual([]);
  });

  it('are shown as they are by then, without their secret', () => {
    const endpoint = create().endpoints.create(settings);
    const shown = showEndpoint(endpoint);
    endpoint.state = 'paused';
    expect(shown).toEqual({ ...settings, id: endpoint.id, state: 'active', deadInARow: 0 });
  });
});

describe('the state of an endpoint', () => {
  function withDead(deadInARow: number) {
    return Object.assign(create().endpoints.create(settings), { deadInARow });
  }

  it.each([
    [19, 'active'],
    [20, 'paused'],
    [21, 'paused'],
  ])('after %i dead deliveries in a row is %s', (deadInARow, state) => {
    const endpoint = withDead(deadInARow);
    moveEndpoint(endpoint, 'dead delivery');
    expect([endpoint.state, endpoint.deadInARow]).toEqual([state, deadInARow]);
  });

  it('is paused by hand, however few are dead, and their number stays until it is enabled', () => {
    const endpoint = withDead(3);
    moveEndpoint(endpoint, 'pause');
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 3 });
    moveEndpoint(endpoint, 'enable');
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 0 });
  });

  it('stays where there is no way', () => {
    const endpoint = withDead(3);
    moveEndpoint(endpoint, 'enable');
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 3 });
    moveEndpoint(endpoint, 'pause');
    moveEndpoint(endpoint, 'dead delivery');
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 3 });
  });
});
