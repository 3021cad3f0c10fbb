import { describe, expect, it } from 'vitest';
import { createDeliveries, type DeliveryRecord, showDelivery } from '../../src/delivery/deliveries.js';
import { createEndpoints } from '../../src/delivery/endpoints.js';
import { createRandom } from '../../src/random.js';
import { createTotals } from '../../src/totals.js';

const KIB = 1024;

function create({ maxPending = 100, delivered = 100, dead = 100, bytes = 1_000 * KIB } = {}) {
  const random = createRandom('deliveries');
  const deliveries = createDeliveries({ random, maxPending, keep: { delivered, dead, bytes } });
  const endpoints = createEndpoints(random, createTotals());
  const newEndpoint = () => endpoints.create({ accountId: 'acc_a', url: 'https://app.example/', events: [] });
  const endpoint = newEndpoint();
  let n = 0;
  const add = (changes: Partial<DeliveryRecord> = {}, size = 0) => {
    n += 1;
    const event = { id: `evt_${n}`, type: 'stt.completed', idempotencyKey: `key_${n}`, body: new Uint8Array(size) };
    return deliveries.add({ n, event, endpoint, test: false, createdAt: 7, ...changes });
  };
  const end = (delivery: DeliveryRecord, state: 'delivered' | 'dead') => {
    delivery.state = state;
    deliveries.finished(delivery);
  };
  const kept = () => [...deliveries.all()].map(({ n }) => n);
  const room = (more: number) => {
    try {
      deliveries.checkRoom(more);
      return true;
    } catch {
      return false;
    }
  };
  return { deliveries, endpoint, newEndpoint, add, end, kept, room };
}

describe('a delivery record', () => {
  it('a new delivery waits, has no attempts and is found by its id', () => {
    const { deliveries, add, endpoint } = create();
    const [one, two] = [add(), add({ test: true })];
    expect(showDelivery(one)).toEqual({
      id: one.id,
      eventId: 'evt_1',
      type: 'stt.completed',
      endpointId: endpoint.id,
      state: 'waiting',
      attempts: 0,
      redeliveries: 0,
      test: false,
      createdAt: 7,
      nextAt: undefined,
    });
    expect(one.id).toMatch(/^dlv_/);
    expect(one.removed).toBe(false);
    expect([deliveries.get(one.id), deliveries.get(two.id), deliveries.get('dlv_0')]).toEqual([one, two, undefined]);
  });

  it('a delivery can be restored with its state', () => {
    const { add } = create();
    const delivery = add({ id: 'dlv_saved', state: 'dead', attempts: 6, redeliveries: 2, dueAt: () => 9 });
    expect(showDelivery(delivery)).toMatchObject({
      ...{ id: 'dlv_saved', state: 'dead', attempts: 6, redeliveries: 2, nextAt: 9 },
    });
  });
});

describe('createDeliveries', () => {
  it('no more deliveries are pending than maxPending', () => {
    const { deliveries, add, room } = create({ maxPending: 3 });
    expect([room(3), room(4)]).toEqual([true, false]);
    add();
    add();
    expect([room(1), room(2)]).toEqual([true, false]);
    expect(() => deliveries.checkRoom(2)).toThrow(
      'maxPending: 2 deliveries are pending; advance the clock until they end, or raise maxPending',
    );
  });

  it('finished and removed deliveries make room, and redelivered ones take it', () => {
    const { deliveries, add, end, room, newEndpoint } = create({ maxPending: 4 });
    const [one, two] = [add(), add()];
    end(one, 'delivered');
    end(two, 'dead');
    expect([room(4), room(5)]).toEqual([true, false]);
    two.state = 'waiting';
    deliveries.revived();
    expect([room(3), room(4)]).toEqual([true, false]);
    const endpoint = newEndpoint();
    end(add({ endpoint }), 'dead');
    end(add({ endpoint }), 'delivered');
    add({ endpoint });
    add({ endpoint, state: 'sending' });
    expect([room(1), room(2)]).toEqual([true, false]);
    deliveries.removeOf(endpoint);
    expect([room(3), room(4)]).toEqual([true, false]);
  });

  it('all pending deliveries are kept, and the latest delivered and dead ones', () => {
    const { add, end, kept } = create({ delivered: 1, dead: 2 });
    const all = Array.from({ length: 7 }, () => add());
    for (const [i, delivery] of all.entries()) {
      if (i < 3) end(delivery, 'delivered');
      else if (i < 6) end(delivery, 'dead');
    }
    expect(kept()).toEqual([3, 5, 6, 7]);
  });

  it('a finished delivery counts with its body and 1 KiB', () => {
    const { add, end, kept } = create({ bytes: 5 * KIB });
    end(add({}, 2 * KIB), 'dead');
    end(add({}, KIB), 'dead');
    end(add({}, 4 * KIB), 'delivered');
    expect(kept()).toEqual([1, 2, 3]);
    end(add({}, 0), 'dead');
    expect(kept()).toEqual([2, 3, 4]);
  });

  it('a redelivered delivery is dropped by its latest end', () => {
    const { deliveries, add, end, kept } = create({ dead: 2 });
    const [one, two, three] = [add(), add(), add()];
    end(one, 'dead');
    end(two, 'dead');
    one.redeliveries += 1;
    one.state = 'waiting';
    deliveries.revived();
    end(one, 'dead');
    expect(kept()).toEqual([1, 2, 3]);
    end(three, 'dead');
    expect(kept()).toEqual([1, 3]);
  });

  it('removing an endpoint removes its deliveries and their timers', () => {
    const { deliveries, add, kept, newEndpoint } = create();
    const endpoint = newEndpoint();
    let cancelled = 0;
    const timer = {
      cancel() {
        cancelled += 1;
      },
    };
    const stays = add({ timer });
    const goes = add({ endpoint, timer });
    const idle = add({ endpoint });
    deliveries.removeOf(endpoint);
    expect([kept(), cancelled]).toEqual([[1], 1]);
    expect([stays.removed, goes.removed, idle.removed]).toEqual([false, true, true]);
  });

  it('clear leaves nothing, also when the same deliveries are added again', () => {
    const { deliveries, add, end, kept, room } = create({ maxPending: 2, dead: 1, delivered: 1 });
    const before = [add(), add(), add()] as const;
    end(before[0], 'dead');
    end(before[1], 'delivered');
    deliveries.clear();
    expect([kept(), room(2), room(3)]).toEqual([[], true, false]);
    const [one, two] = [add({ id: before[0].id }), add({ id: before[1].id })];
    end(one, 'dead');
    end(two, 'delivered');
    expect(kept()).toEqual([4, 5]);
  });
});
