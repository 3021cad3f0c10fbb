import { sign, verify } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { type Attempt, createAttemptLog } from '../../src/delivery/attempt-log.js';
import { createDeliveries, type DeliveryRecord } from '../../src/delivery/deliveries.js';
import { DELIVERY_TRANSITIONS } from '../../src/delivery/delivery-states.js';
import { newEvent } from '../../src/delivery/emitted-event.js';
import { createEndpoints } from '../../src/delivery/endpoints.js';
import { createSender } from '../../src/delivery/sender.js';
import type { FaultPlan } from '../../src/faults.js';
import { createRandom } from '../../src/random.js';
import { createClock } from '../../src/time/clock.js';
import { createRequestPool } from '../../src/time/request-pool.js';
import { createTotals } from '../../src/totals.js';
import type { Sent, Transport, WireRequest } from '../../src/wire/transport.js';

const START = Date.UTC(2026, 6, 11, 9) + 345;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const NO_FAULT: FaultPlan = {
  ...{ names: [], drop: false, delayMs: 0, duplicateAfterMs: undefined, holdMs: 0, slow: undefined, reset: undefined },
  damage: (body) => body,
};

const answered = (status: number): Sent => ({ answer: { status, headers: {}, body: '' } });

/** The receiver; its times are on the clock. */
type Receive = (wire: WireRequest, n: number, time: Parameters<Transport['send']>[1]) => Sent | Promise<Sent>;

function create(receive: Receive, { plan = {}, renewTimestamp = false }: Options = {}) {
  const random = createRandom('sender');
  const totals = createTotals();
  const pool = createRequestPool(4);
  const clock = createClock({ speed: undefined, startAt: START, settled: pool.settled });
  const keep = { delivered: 100, dead: 100, bytes: 1_000_000 };
  const deliveries = createDeliveries({ random, maxPending: 100, keep });
  const endpoints = createEndpoints(random, totals);
  const log = createAttemptLog({ maxItems: 1_000, maxBytes: 10_000_000 });
  const wires: WireRequest[] = [];
  const places: unknown[] = [];
  const transport: Transport = {
    async send(wire, time) {
      wires.push(wire);
      return receive(wire, wires.length, time);
    },
    close() {},
  };
  const sender = createSender({
    ...{ clock, pool, transport, deliveries, log, totals, headerPrefix: 'x-own', renewTimestamp, hangAfterMs: 5_000 },
    planFaults(...place) {
      places.push(place);
      return { ...NO_FAULT, ...plan };
    },
  });
  const endpoint = endpoints.create({ accountId: 'acc_a', url: 'https://app.example/', events: [] });
  let n = 0;
  const start = (test = false) => {
    n += 1;
    const { emitted: event } = newEvent(random, n, 'stt.completed', {}, START);
    return sender.start({ n, event, endpoint, test, createdAt: START });
  };
  const seen = <Name extends keyof Attempt>(...names: Name[]) =>
    log.list().map((attempt) => (names.length === 1 ? attempt[names[0] as Name] : names.map((name) => attempt[name])));
  return { sender, start, clock, deliveries, endpoint, totals, log, pool, wires, places, seen };
}

interface Options {
  plan?: Partial<FaultPlan>;
  renewTimestamp?: boolean;
}

describe('a delivery of the sender', () => {
  it('an acknowledged delivery is finished, and its endpoint restarts its count', async () => {
    const { start, clock, endpoint, totals, seen } = create(() => answered(200));
    endpoint.deadInARow = 7;
    const delivery = start();
    await clock.runUntilIdle();
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, dueAt: undefined });
    expect([endpoint.deadInARow, clock.now(), seen('outcome', 'reason', 'state')]).toEqual([
      0,
      START,
      [['acknowledged', '2xx', 'delivered']],
    ]);
    expect(totals).toMatchObject({ attempts: 1, acknowledged: 1, failed: 0, delivered: 1, dead: 0, duplicates: 0 });
  });

  it('a failing delivery is retried by the schedule and then is dead', async () => {
    const { start, clock, endpoint, totals, seen, places } = create(() => answered(500));
    const delivery = start();
    await clock.runUntilIdle();
    const after = [0, 30_000, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR].map((wait, i, waits) =>
      waits.slice(0, i + 1).reduce((sum, ms) => sum + ms, START - wait + wait),
    );
    expect(seen('number', 'at', 'nextAt', 'state', 'seq')).toEqual(
      after.map((at, i) => [i + 1, at, after[i + 1], i < 5 ? 'waiting' : 'dead', i + 1]),
    );
    expect(delivery).toMatchObject({ state: 'dead', attempts: 6 });
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 1 });
    expect(totals).toMatchObject({ attempts: 6, acknowledged: 0, failed: 6, delivered: 0, dead: 1 });
    expect(places).toEqual([1, 2, 3, 4, 5, 6].map((attempt) => [1, 0, attempt]));
  });

  it.each([
    ['2xx', 'acknowledged', answered(200), undefined],
    ['2xx', 'acknowledged', answered(299), undefined],
    ['non-2xx', 'failed', answered(199), undefined],
    ['non-2xx', 'failed', answered(300), undefined],
    ['timeout', 'failed', { ...answered(200), failed: 'timeout', error: 'too late' }, 'too late'],
    ['connection_error', 'failed', { ...answered(200), failed: 'connection_error', error: 'reset' }, 'reset'],
    ['non-2xx', 'failed', {}, undefined],
  ] as const)('an attempt ends as %s, %s', async (reason, outcome, sent, error) => {
    const { start, clock, seen } = create(() => sent);
    start();
    await clock.advance(20_000);
    expect(seen('reason', 'outcome', 'error', 'answer')).toEqual([
      [reason, outcome, error, 'answer' in sent ? sent.answer : undefined],
    ]);
  });

  it.each([
    ['an error', new Error('no way'), 'no way'],
    ['an error with a code alone', Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['anything', 'nothing', 'nothing'],
  ])('an attempt whose transport rejects with %s fails and says why', async (_, cause, error) => {
    const { start, pool, seen } = create(() => Promise.reject(cause));
    start();
    await pool.settled();
    expect(seen('reason', 'error')).toEqual([['connection_error', error]]);
  });

  it('the twentieth consecutive dead delivery pauses its endpoint', async () => {
    const { start, clock, endpoint } = create(() => answered(500));
    endpoint.deadInARow = 18;
    start();
    await clock.runUntilIdle();
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 19 });
    start();
    await clock.runUntilIdle();
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 20 });
  });

  it('a running attempt can succeed after its endpoint is paused', async () => {
    const { start, pool, endpoint } = create(() => answered(200));
    const delivery = start();
    endpoint.state = 'paused';
    await pool.settled();
    expect(delivery.state).toBe('delivered');
  });

  it('a finished attempt leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { start, pool } = create((_, n) => (n === 1 ? answered(200) : Promise.reject(new Error('no'))));
    start();
    start();
    await pool.settled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a test is sent once, also to a paused endpoint, and its failure does not count', async () => {
    const { start, clock, endpoint, totals, wires } = create(() => answered(500));
    endpoint.state = 'paused';
    const delivery = start(true);
    await clock.runUntilIdle();
    expect([wires.length, delivery.state, endpoint.deadInARow, totals.dead]).toEqual([1, 'dead', 0, 1]);
  });

  it('a delivery waits while its endpoint is paused and starts when it is resumed', async () => {
    const { sender, start, clock, endpoint, wires } = create(() => answered(200));
    endpoint.state = 'paused';
    const [one, two] = [start(), start()];
    await clock.runUntilIdle();
    expect([wires.length, one.state, two.state]).toEqual([0, 'waiting', 'waiting']);
    endpoint.state = 'active';
    sender.resume({ ...endpoint });
    await clock.runUntilIdle();
    expect(wires).toHaveLength(0);
    sender.resume(endpoint);
    await clock.runUntilIdle();
    expect([wires.length, one.state, two.state]).toEqual([2, 'delivered', 'delivered']);
  });

  it('resume does not start a retry before it is due', async () => {
    const { sender, start, clock, endpoint, pool, wires } = create(() => answered(500));
    start();
    await pool.settled();
    sender.resume(endpoint);
    await pool.settled();
    expect(wires).toHaveLength(1);
    await clock.advance(30_000);
    sender.resume(endpoint);
    await pool.settled();
    expect(wires).toHaveLength(2);
  });

  it('resume does not start a running attempt again', async () => {
    let answer = (_: Sent) => {};
    const { sender, start, endpoint, pool, wires } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    start();
    sender.resume(endpoint);
    answer(answered(200));
    await pool.settled();
    sender.resume(endpoint);
    await pool.settled();
    expect(wires).toHaveLength(1);
  });

  it('only a dead delivery can be redelivered: at once, from attempt 1', async () => {
    const { sender, start, clock, pool, endpoint, deliveries, places, seen } = create((_, n) =>
      answered(n <= 6 ? 500 : 200),
    );
    const delivery = start();
    expect(sender.redeliver(delivery)).toBe(false);
    await clock.runUntilIdle();
    expect([delivery.state, endpoint.deadInARow]).toEqual(['dead', 1]);
    expect(sender.redeliver(delivery)).toBe(true);
    expect(() => deliveries.checkRoom(100)).toThrow('1 deliveries are pending');
    await pool.settled();
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, redeliveries: 1 });
    expect([places[6], seen('number', 'redelivery')[6], sender.redeliver(delivery)]).toEqual([
      [1, 1, 1],
      [1, 1],
      false,
    ]);
  });

  it('a removed delivery sends nothing, and its running attempt is not logged', async () => {
    let answer = (_: Sent) => {};
    const { start, clock, deliveries, endpoint, pool, wires, log, totals } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    start();
    await new Promise((resolve) => setImmediate(resolve));
    deliveries.removeOf(endpoint);
    answer(answered(500));
    await pool.settled();
    await clock.runUntilIdle();
    expect([wires.length, log.list(), totals.attempts]).toEqual([1, [], 1]);
  });

  it('a delivery that is removed while it is held back sends nothing', async () => {
    const { start, clock, deliveries, endpoint, pool, wires } = create(() => answered(200), { plan: { holdMs: 10 } });
    start();
    deliveries.removeOf(endpoint);
    await clock.runUntilIdle();
    await pool.settled();
    expect(wires).toEqual([]);
  });
});

describe('DELIVERY_TRANSITIONS', () => {
  it('a delivery makes the moves of the table and no other', async () => {
    const statuses = [500, 500, 500, 500, 500, 500, 200, 500];
    const { sender, start, clock, endpoint } = create((_, n) => answered(statuses[n - 1] ?? 200));
    const moves = new Set<string>();
    const watch = (delivery: DeliveryRecord) => {
      let { state } = delivery;
      Object.defineProperty(delivery, 'state', {
        get: () => state,
        set(next) {
          moves.add(`${state} ${next}`);
          state = next;
        },
      });
      return delivery;
    };
    endpoint.state = 'paused';
    const delivery = watch(start());
    endpoint.state = 'active';
    sender.resume(endpoint);
    await clock.runUntilIdle();
    sender.redeliver(delivery);
    await clock.runUntilIdle();
    watch(start(true));
    await clock.runUntilIdle();
    expect([...moves].sort()).toEqual([...new Set(DELIVERY_TRANSITIONS.map(({ from, to }) => `${from} ${to}`))].sort());
  });
});

describe('sender.stop', () => {
  it('a stopped sender sends nothing, and no answer counts', async () => {
    let answer = (_: Sent) => {};
    const { sender, start, pool, log, wires } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const delivery = start();
    await new Promise((resolve) => setImmediate(resolve));
    sender.stop();
    answer(answered(200));
    await pool.settled();
    expect([delivery.state, log.list()]).toEqual(['sending', []]);
    const later = start();
    await pool.settled();
    expect([later.state, wires.length]).toEqual(['waiting', 1]);
  });

  it('a stopped sender sends no request that it was holding back', async () => {
    const { sender, start, clock, pool, wires } = create(() => answered(200), {
      plan: { holdMs: 10, duplicateAfterMs: 10 },
    });
    start();
    sender.stop();
    await clock.runUntilIdle();
    await pool.settled();
    expect(wires).toEqual([]);
  });
});

describe('a request of the sender', () => {
  it('a request has the headers of the service, signed for its own time', async () => {
    const { start, clock, endpoint, wires } = create(() => answered(500));
    const { event } = start();
    await clock.advance(30_000);
    for (const [i, at] of [START, START + 30_000].entries()) {
      const { url, headers, body } = wires[i] ?? expect.unreachable();
      expect([url, body]).toEqual(['https://app.example/', event.body]);
      expect(headers).toEqual({
        ...sign({ body, secret: endpoint.secret, at, headerPrefix: 'x-own' }),
        'content-type': 'application/json',
        'x-own-timestamp': String(Math.floor(at / 1000)),
        'x-own-webhook-id': endpoint.id,
        'x-own-attempt': String(i + 1),
        'idempotency-key': event.idempotencyKey,
      });
      expect(verify({ headers, body, secret: endpoint.secret, now: () => at, headerPrefix: 'x-own' })).toBeDefined();
    }
  });

  it('with renewTimestamp, each request has and signs a body of its own', async () => {
    const { start, clock, endpoint, wires } = create(() => answered(500), { renewTimestamp: true });
    const { event } = start();
    await clock.advance(30_000);
    const envelope = JSON.parse(new TextDecoder().decode(event.body));
    const { headers, body } = wires[1] ?? expect.unreachable();
    const timestamp = new Date(START + 30_000).toISOString();
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual({ ...envelope, timestamp });
    expect(verify({ headers, body, secret: endpoint.secret, now: clock.now, headerPrefix: 'x-own' }).event).toEqual({
      ...envelope,
      timestamp,
    });
  });

  it('a damaged request is signed for the original body', async () => {
    const plan: Partial<FaultPlan> = {
      names: ['truncate', 'slowBody'],
      damage: (body) => body.subarray(1),
      slow: { ms: 10, pieces: 2 },
      reset: 'answer',
    };
    const { start, pool, endpoint, wires, seen } = create(() => answered(200), { plan });
    const { event } = start();
    await pool.settled();
    const { headers, body, slow, reset } = wires[0] ?? expect.unreachable();
    expect([body, slow, reset]).toEqual([event.body.subarray(1), plan.slow, plan.reset]);
    const signed = sign({ body: event.body, secret: endpoint.secret, at: START, headerPrefix: 'x-own' });
    expect(headers).toMatchObject(signed);
    expect(seen('faults')).toEqual([['truncate', 'slowBody']]);
  });
});

describe('faults of the sender', () => {
  it('a dropped request is not sent, and its 20 s pass', async () => {
    const { start, clock, wires, seen } = create(() => answered(200), { plan: { drop: true } });
    start();
    await clock.advance(20_000);
    expect([wires, seen('reason', 'error', 'endedAt')]).toEqual([
      [],
      [['timeout', 'the request was lost', START + 20_000]],
    ]);
  });

  it.each([
    [20_000, '2xx', undefined],
    [20_001, 'timeout', 'the answer came too late'],
  ])('an answer that is delayed by %i ms ends as %s', async (delayMs, reason, error) => {
    const { start, clock, seen } = create(() => answered(200), { plan: { delayMs } });
    start();
    await clock.advance(delayMs);
    expect(seen('reason', 'error', 'endedAt', 'answer')).toEqual([
      [reason, error, START + 20_000, answered(200).answer],
    ]);
  });

  it('a failed request is not delayed', async () => {
    const failed: Sent = { failed: 'connection_error', error: 'reset' };
    const { start, pool, seen } = create(() => failed, { plan: { delayMs: 5_000 } });
    start();
    await pool.settled();
    expect(seen('reason', 'endedAt')).toEqual([['connection_error', START]]);
  });

  it('a request that is held back is signed for the time when it starts', async () => {
    const { start, clock, wires, seen } = create(() => answered(200), { plan: { holdMs: 700 } });
    const delivery = start();
    expect([delivery.state, delivery.attempts]).toEqual(['sending', 1]);
    await clock.advance(699);
    expect(wires).toHaveLength(0);
    await clock.advance(1);
    await clock.runUntilIdle();
    expect([wires[0]?.headers['x-own-timestamp'], seen('at')]).toEqual([
      String(Math.floor((START + 700) / 1000)),
      [START + 700],
    ]);
  });

  it.each([0, 1_500])('a duplicate after %i ms is the same request, and the first answer counts', async (ms) => {
    const { start, clock, wires, totals, seen } = create((_, n) => answered(n === 1 ? 200 : 500), {
      plan: { duplicateAfterMs: ms },
    });
    const delivery = start();
    await clock.runUntilIdle();
    expect(wires).toHaveLength(2);
    expect(wires[1]).toEqual(wires[0]);
    expect([delivery.state, seen('duplicate', 'number', 'at', 'outcome')]).toEqual([
      'delivered',
      [
        [false, 1, START, 'acknowledged'],
        [true, 1, START + ms, 'failed'],
      ],
    ]);
    expect(totals).toMatchObject({ attempts: 2, duplicates: 1, acknowledged: 1, failed: 1, delivered: 1 });
  });

  it('the sender waits for both answers of a duplicated request', async () => {
    const { start, pool, wires } = create(() => answered(200), { plan: { duplicateAfterMs: 0 } });
    start();
    await pool.settled();
    expect(wires).toHaveLength(2);
  });

  it('no duplicate is sent after the delivery is removed', async () => {
    const plan = { duplicateAfterMs: 1_500 };
    const { start, clock, deliveries, endpoint, pool, wires, totals } = create(() => answered(200), { plan });
    start();
    await pool.settled();
    deliveries.removeOf(endpoint);
    await clock.runUntilIdle();
    expect([wires.length, totals.duplicates]).toEqual([1, 0]);
  });
});

describe('the time for an answer of the sender', () => {
  it('a timeout passes on the clock, less the time that was held already', async () => {
    const { start, clock, seen } = create(async (_, __, time) => {
      await time.hold(15_000);
      return { failed: 'timeout' };
    });
    start();
    await clock.advance(20_000);
    expect(seen('reason', 'endedAt')).toEqual([['timeout', START + 20_000]]);
  });

  it('an answer that arrives while the body is being sent ends the wait', async () => {
    let held: Promise<boolean> | undefined;
    const receive: Receive = (_, __, time) => {
      held = time.hold(15_000);
      return answered(401);
    };
    const { start, clock, seen } = create(receive, { plan: { delayMs: 10 } });
    start();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await held).toBe(false);
    await clock.advance(10);
    expect(seen('reason', 'endedAt')).toEqual([['non-2xx', START + 10]]);
  });
});
