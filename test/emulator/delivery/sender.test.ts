import { sign, verify } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { type Attempt, createAttemptLog } from '../../../src/emulator/delivery/attempt-log.js';
import { createDeliveries } from '../../../src/emulator/delivery/deliveries.js';
import { createEndpoints } from '../../../src/emulator/delivery/endpoints.js';
import { newEvent } from '../../../src/emulator/delivery/events.js';
import { createSender } from '../../../src/emulator/delivery/sender.js';
import type { FaultPlan } from '../../../src/emulator/faults.js';
import { createRandom } from '../../../src/emulator/random.js';
import { createClock } from '../../../src/emulator/time/clock.js';
import { createWork } from '../../../src/emulator/time/work.js';
import { createTotals } from '../../../src/emulator/totals.js';
import type { Sent, Transport, WireRequest } from '../../../src/emulator/wire/transport.js';

const START = Date.UTC(2026, 6, 11, 9) + 345;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const NO_FAULT: FaultPlan = {
  ...{ names: [], drop: false, delayMs: 0, duplicateAfterMs: undefined, holdMs: 0, slow: undefined, reset: undefined },
  damage: (body) => body,
};

const answered = (status: number): Sent => ({ answer: { status, headers: {}, body: '' } });

/** What the receiver does; the times are on the clock. */
type Receive = (wire: WireRequest, n: number, time: Parameters<Transport['send']>[1]) => Sent | Promise<Sent>;

function create(receive: Receive, { plan = {}, renewTimestamp = false }: Options = {}) {
  const random = createRandom('sender');
  const totals = createTotals();
  const work = createWork(4);
  const clock = createClock({ speed: undefined, startAt: START, settled: work.settled });
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
    ...{ clock, work, transport, deliveries, log, totals, headerPrefix: 'x-own', renewTimestamp, hangAfterMs: 5_000 },
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
  return { sender, start, clock, deliveries, endpoint, totals, log, work, wires, places, seen };
}

interface Options {
  plan?: Partial<FaultPlan>;
  renewTimestamp?: boolean;
}

describe('a delivery', () => {
  it('that is acknowledged has ended, and its endpoint counts anew', async () => {
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

  it('that fails is tried again by the schedule, and then is dead', async () => {
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
  ] as const)('has ended as %s, %s', async (reason, outcome, sent, error) => {
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
  ])('whose request could not be sent has failed, and says why: %s', async (_, cause, error) => {
    const { start, work, seen } = create(() => Promise.reject(cause));
    start();
    await work.settled();
    expect(seen('reason', 'error')).toEqual([['connection_error', error]]);
  });

  it('that is the twentieth dead one in a row pauses its endpoint', async () => {
    const { start, clock, endpoint } = create(() => answered(500));
    endpoint.deadInARow = 18;
    start();
    await clock.runUntilIdle();
    expect(endpoint).toMatchObject({ state: 'active', deadInARow: 19 });
    start();
    await clock.runUntilIdle();
    expect(endpoint).toMatchObject({ state: 'paused', deadInARow: 20 });
  });

  it('that is on its way when its endpoint is paused can end well', async () => {
    const { start, work, endpoint } = create(() => answered(200));
    const delivery = start();
    endpoint.state = 'paused';
    await work.settled();
    expect(delivery.state).toBe('delivered');
  });

  it('that has ended leaves no timer of the machine', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { start, work } = create((_, n) => (n === 1 ? answered(200) : Promise.reject(new Error('no'))));
    start();
    start();
    await work.settled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that is a test is sent once, also where its endpoint is paused, and counts for nothing', async () => {
    const { start, clock, endpoint, totals, wires } = create(() => answered(500));
    endpoint.state = 'paused';
    const delivery = start(true);
    await clock.runUntilIdle();
    expect([wires.length, delivery.state, endpoint.deadInARow, totals.dead]).toEqual([1, 'dead', 0, 1]);
  });

  it('waits while its endpoint is paused, and goes on when it is resumed', async () => {
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

  it('whose next attempt is yet to come is not hurried by that', async () => {
    const { sender, start, clock, endpoint, work, wires } = create(() => answered(500));
    start();
    await work.settled();
    sender.resume(endpoint);
    await work.settled();
    expect(wires).toHaveLength(1);
    await clock.advance(30_000);
    sender.resume(endpoint);
    await work.settled();
    expect(wires).toHaveLength(2);
  });

  it('that is going on is not begun again by that', async () => {
    let answer = (_: Sent) => {};
    const { sender, start, endpoint, work, wires } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    start();
    sender.resume(endpoint);
    answer(answered(200));
    await work.settled();
    sender.resume(endpoint);
    await work.settled();
    expect(wires).toHaveLength(1);
  });

  it('that is dead can be redelivered: from attempt 1, at once, and no other can', async () => {
    const { sender, start, clock, work, endpoint, deliveries, places, seen } = create((_, n) =>
      answered(n <= 6 ? 500 : 200),
    );
    const delivery = start();
    expect(sender.redeliver(delivery)).toBe(false);
    await clock.runUntilIdle();
    expect([delivery.state, endpoint.deadInARow]).toEqual(['dead', 1]);
    expect(sender.redeliver(delivery)).toBe(true);
    expect(() => deliveries.checkRoom(100)).toThrow('1 deliveries are going on');
    await work.settled();
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, redeliveries: 1 });
    expect([places[6], seen('number', 'redelivery')[6], sender.redeliver(delivery)]).toEqual([
      [1, 1, 1],
      [1, 1],
      false,
    ]);
  });

  it('that was removed sends nothing more, and of what is on its way nothing is kept', async () => {
    let answer = (_: Sent) => {};
    const { start, clock, deliveries, endpoint, work, wires, log, totals } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    start();
    await new Promise((resolve) => setImmediate(resolve));
    deliveries.removeOf(endpoint);
    answer(answered(500));
    await work.settled();
    await clock.runUntilIdle();
    expect([wires.length, log.list(), totals.attempts]).toEqual([1, [], 1]);
  });

  it('that was removed before its request went out sends none', async () => {
    const { start, clock, deliveries, endpoint, work, wires } = create(() => answered(200), { plan: { holdMs: 10 } });
    start();
    deliveries.removeOf(endpoint);
    await clock.runUntilIdle();
    await work.settled();
    expect(wires).toEqual([]);
  });
});

describe('a sender that is stopped', () => {
  it('sends nothing more, and no answer counts', async () => {
    let answer = (_: Sent) => {};
    const { sender, start, work, log, wires } = create(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const delivery = start();
    await new Promise((resolve) => setImmediate(resolve));
    sender.stop();
    answer(answered(200));
    await work.settled();
    expect([delivery.state, log.list()]).toEqual(['sending', []]);
    const later = start();
    await work.settled();
    expect([later.state, wires.length]).toEqual(['waiting', 1]);
  });

  it('sends none of what it was holding', async () => {
    const { sender, start, clock, work, wires } = create(() => answered(200), {
      plan: { holdMs: 10, duplicateAfterMs: 10 },
    });
    start();
    sender.stop();
    await clock.runUntilIdle();
    await work.settled();
    expect(wires).toEqual([]);
  });
});

describe('a request', () => {
  it('has the headers of the service, signed for its own time', async () => {
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

  it('has a body of its own where the timestamp is renewed, which is signed', async () => {
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

  it('is signed for what it was before it was damaged', async () => {
    const plan: Partial<FaultPlan> = {
      names: ['truncate', 'slowBody'],
      damage: (body) => body.subarray(1),
      slow: { ms: 10, pieces: 2 },
      reset: 'answer',
    };
    const { start, work, endpoint, wires, seen } = create(() => answered(200), { plan });
    const { event } = start();
    await work.settled();
    const { headers, body, slow, reset } = wires[0] ?? expect.unreachable();
    expect([body, slow, reset]).toEqual([event.body.subarray(1), plan.slow, plan.reset]);
    const signed = sign({ body: event.body, secret: endpoint.secret, at: START, headerPrefix: 'x-own' });
    expect(headers).toMatchObject(signed);
    expect(seen('faults')).toEqual([['truncate', 'slowBody']]);
  });
});

describe('a fault', () => {
  it('that drops the request: nothing is sent, and the 20 s pass', async () => {
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
  ])('that delays the answer by %i ms: %s', async (delayMs, reason, error) => {
    const { start, clock, seen } = create(() => answered(200), { plan: { delayMs } });
    start();
    await clock.advance(delayMs);
    expect(seen('reason', 'error', 'endedAt', 'answer')).toEqual([
      [reason, error, START + 20_000, answered(200).answer],
    ]);
  });

  it('that delays an answer leaves one alone that failed anyhow', async () => {
    const failed: Sent = { failed: 'connection_error', error: 'reset' };
    const { start, work, seen } = create(() => failed, { plan: { delayMs: 5_000 } });
    start();
    await work.settled();
    expect(seen('reason', 'endedAt')).toEqual([['connection_error', START]]);
  });

  it('that holds the request back: it is signed for when it goes', async () => {
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

  it.each([0, 1_500])('that sends it twice, %i ms apart: the same, and the first one counts', async (ms) => {
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

  it('that sends it twice at once waits for both', async () => {
    const { start, work, wires } = create(() => answered(200), { plan: { duplicateAfterMs: 0 } });
    start();
    await work.settled();
    expect(wires).toHaveLength(2);
  });

  it('that sends it twice sends no second one once the delivery was removed', async () => {
    const plan = { duplicateAfterMs: 1_500 };
    const { start, clock, deliveries, endpoint, work, wires, totals } = create(() => answered(200), { plan });
    start();
    await work.settled();
    deliveries.removeOf(endpoint);
    await clock.runUntilIdle();
    expect([wires.length, totals.duplicates]).toEqual([1, 0]);
  });
});

describe('the time for an answer', () => {
  it('that a receiver lets pass is let pass on the clock, what was held of it already counted', async () => {
    const { start, clock, seen } = create(async (_, __, time) => {
      await time.hold(15_000);
      return { failed: 'timeout' };
    });
    start();
    await clock.advance(20_000);
    expect(seen('reason', 'endedAt')).toEqual([['timeout', START + 20_000]]);
  });

  it('is not waited for any more when the answer comes while the body is being sent', async () => {
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
