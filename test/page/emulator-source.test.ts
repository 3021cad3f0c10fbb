import { describe, expect, it } from 'vitest';
import type { Change, DeliveryRow } from '../../src/page/page-source.js';
import { emulated } from './emulated.js';
import { served } from './served.js';

const HOUR = 3_600_000;
const onlyRow = (rows: readonly DeliveryRow[]) => rows[0] ?? expect.fail('there is no delivery');

describe('the deliveries of an emulator', () => {
  it('are shown with where they stand and what was answered last', async () => {
    const { emulator, source, endpoint } = await emulated({ fails: () => emulator.totals.attempts < 2 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ state: 'waiting', attempts: 1, status: 500 });
    await emulator.runUntilIdle();
    const { deliveries, overview } = source.snapshot();
    expect(onlyRow(deliveries)).toMatchObject({ state: 'delivered', attempts: 3, status: 200, nextAt: undefined });
    expect(overview).toMatchObject({ now: emulator.now(), speed: 0, endpoints: [{ id: endpoint.id, deadInARow: 0 }] });
  });

  it('are told of when something about them changes, and only those', async () => {
    const { emulator, source } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.settled();
    source.snapshot();
    const changes: Change[] = [];
    const changed = new Promise<void>((resolve) => {
      const stop = source.watch((change) => {
        changes.push(change);
        if (change.deliveries.some(({ state }) => state === 'delivered')) resolve(stop());
      });
    });
    await emulator.emit('dubbing.failed');
    await changed;
    expect(new Set(changes.flatMap(({ deliveries }) => deliveries.map(({ type }) => type)))).toEqual(
      new Set(['dubbing.failed']),
    );
    const attempts = source.snapshot().deliveries.map(({ id }) => source.delivery(id)?.attempts.length);
    expect(attempts).toEqual([1, 1]);
  });

  it('have all their attempts, each with its request, its answer and whether its signature holds', async () => {
    const { emulator, source, url } = await emulated({ fails: () => true });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const { id, eventId } = onlyRow(source.snapshot().deliveries);
    const { attempts, offers, waits } = source.delivery(id) ?? expect.fail();
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, 500]));
    expect({ offers, waits }).toEqual({
      offers: ['redeliver', 'replay'],
      waits: [30_000, 120_000, 600_000, HOUR, 4 * HOUR],
    });
    const last = source.attempt(attempts.at(-1)?.id ?? '') ?? expect.fail();
    expect(last.verdict).toEqual({ verdict: 'accepted', causes: [] });
    expect(last.request.url).toBe(url);
    expect(last.request.headers).toContainEqual(['x-service-attempt', '6']);
    expect(JSON.parse(last.request.body.text).id).toBe(eventId);
    expect(last.answer).toMatchObject({ status: 500, body: { text: expect.stringContaining('handler_failed') } });
  });

  it('are explained where they do not verify', async () => {
    const { emulator, source } = await emulated({ faults: { corrupt: { rate: 1, times: 1 } } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = source.delivery(onlyRow(source.snapshot().deliveries).id)?.attempts ?? [];
    expect(attempt).toMatchObject({ status: 401, faults: ['corrupt'], acknowledged: false });
    const { verdict, causes } = source.attempt(attempt?.id ?? '')?.verdict ?? expect.fail();
    expect([verdict, causes[0]?.cause]).toEqual(['signature_mismatch', 'body_changed']);
  });

  it('are shown without the duplicates that a fault makes of their attempts', async () => {
    let handled = 0;
    const { emulator, source } = await emulated({ faults: { duplicate: 1 }, fails: () => ++handled > 1 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const row = onlyRow(source.snapshot().deliveries);
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, status: 200 });
    const { attempts } = source.delivery(row.id) ?? expect.fail();
    expect(attempts.map(({ kind, status }) => [kind, status])).toEqual([
      ['attempt', 200],
      ['duplicate', 500],
    ]);
  });

  it('to an endpoint whose secret is not known are not verified, and say so', async () => {
    const { emulator, source, endpoint, url } = await emulated();
    emulator.endpoints.remove(endpoint.id);
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = source.delivery(onlyRow(source.snapshot().deliveries).id)?.attempts ?? [];
    expect(source.attempt(attempt?.id ?? '')?.verdict).toEqual({ verdict: 'unverified', causes: [] });
  });

  it('are gone when they are not kept any more', async () => {
    const { emulator, source } = await emulated({ keep: { delivered: 1 } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const first = onlyRow(source.snapshot().deliveries);
    await emulator.emit('stt.failed');
    await emulator.settled();
    expect(source.snapshot().deliveries.map(({ type }) => type)).toEqual(['stt.failed']);
    expect([source.delivery(first.id), source.attempt('none')]).toEqual([undefined, undefined]);
  });
});

describe('what can be done', () => {
  it('is everything', async () => {
    const { source } = await emulated();
    const all = ['advance', 'enable', 'failNext', 'pause', 'redeliver', 'replay', 'send'];
    expect(Object.keys(source.actions).sort()).toEqual(all);
    expect(source.title).toBe('Deliveries of the emulator');
  });

  it('redeliver starts a dead delivery again, and no other', async () => {
    let fails = true;
    const { emulator, source } = await emulated({ fails: () => fails });
    await source.actions.send?.({ type: 'stt.completed' });
    await emulator.runUntilIdle();
    const { id } = onlyRow(source.snapshot().deliveries);
    fails = false;
    await source.actions.redeliver?.({ delivery: id });
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ state: 'delivered', redeliveries: 1, attempts: 1 });
    await expect(source.actions.redeliver?.({ delivery: id })).rejects.toThrow('is not dead');
  });

  it('replay sends the latest attempt again, signed anew or as it was', async () => {
    const { emulator, source } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.advance(HOUR);
    const { id } = onlyRow(source.snapshot().deliveries);
    await expect(source.actions.replay?.({ delivery: id, exact: true })).resolves.toMatch('401');
    await expect(source.actions.replay?.({ delivery: id, exact: false })).resolves.toMatch('200');
    const { attempts = [], delivery } = source.delivery(id) ?? {};
    expect(attempts.map(({ kind, status }) => [kind, status])).toEqual([
      ['attempt', 200],
      ['replay', 401],
      ['replay', 200],
    ]);
    expect(delivery?.attempts).toBe(1);
    const verdicts = attempts.map((attempt) => source.attempt(attempt.id)?.verdict.verdict);
    expect(verdicts).toEqual(['accepted', 'timestamp_too_old', 'accepted']);
  });

  it('replay says why there was no answer', async () => {
    const { emulator, source, endpoint } = await emulated();
    emulator.endpoints.update(endpoint.id, { url: 'http://127.0.0.1:1/' });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { id, problem } = onlyRow(source.snapshot().deliveries);
    expect(problem).toMatch('ECONNREFUSED');
    await expect(source.actions.replay?.({ delivery: id, exact: false })).resolves.toMatch('nothing listens there');
  });

  it('replay is shown beside the schedule, where it was made', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { id, eventId } = onlyRow(source.snapshot().deliveries);
    await emulator.advance(1_000);
    await expect(source.actions.replay?.({ delivery: id, exact: false })).resolves.toBe(
      `${eventId} was sent again: 500.`,
    );
    await emulator.advance(HOUR);
    const { attempts, delivery } = source.delivery(id) ?? expect.fail();
    expect(attempts.map(({ kind }) => kind)).toEqual(['attempt', 'replay', 'attempt', 'attempt', 'attempt']);
    expect([delivery.attempts, delivery.replays]).toEqual([4, 1]);
    expect(new Set(attempts.map((attempt) => attempt.id)).size).toBe(5);
  });

  it('replay needs an attempt, and a secret unless it goes as it was', async () => {
    const { emulator, source, endpoint, url } = await emulated();
    emulator.endpoints.remove(endpoint.id);
    const other = emulator.endpoints.create({ url });
    emulator.endpoints.pause(other.id);
    await emulator.emit('stt.completed');
    const { id } = onlyRow(source.snapshot().deliveries);
    const replay = (exact: boolean) => source.actions.replay?.({ delivery: id, exact });
    expect(source.delivery(id)).toMatchObject({ attempts: [], offers: [] });
    await expect(replay(true)).rejects.toThrow('there is no attempt of it that could be sent again');
    emulator.endpoints.enable(other.id);
    await emulator.settled();
    expect(source.delivery(id)?.offers).toEqual(['replay']);
    await expect(replay(false)).rejects.toThrow('its secret is not known here: send it as it was');
    await expect(replay(true)).resolves.toMatch('401');
  });

  it('replay keeps the latest hundred, as long as the delivery is kept', async () => {
    const { emulator, source } = await emulated({ keep: { delivered: 1 } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { id } = onlyRow(source.snapshot().deliveries);
    for (let n = 0; n < 101; n += 1) await source.actions.replay?.({ delivery: id, exact: true });
    const attempts = source.delivery(id)?.attempts ?? [];
    expect(attempts).toHaveLength(101);
    const last = attempts.at(-1)?.id ?? '';
    expect(source.attempt(last)?.kind).toBe('replay');
    await emulator.emit('stt.failed');
    await emulator.settled();
    source.snapshot();
    expect(source.attempt(last)).toBeUndefined();
  });

  it('failNext counts each failure once, and none that it did not ask for', async () => {
    const { emulator, source } = await emulated({ faults: { reset: { rate: 1, times: 1 } } });
    const failing = () => source.snapshot().overview.failing;
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(failing()).toBe(0);
    await expect(source.actions.failNext?.({ count: 1 })).resolves.toBe(
      'The next request fails: the connection is reset.',
    );
    await expect(source.actions.failNext?.({ count: 3 })).resolves.toMatch('The next 3 requests fail:');
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect([failing(), failing()]).toEqual([2, 2]);
  });

  it('failNext goes on failing them however often it is looked meanwhile', async () => {
    const { emulator, source } = await emulated();
    await source.actions.failNext?.({ count: 3 });
    const left: number[] = [];
    for (let sent = 0; sent < 4; sent++) {
      await emulator.emit('stt.completed');
      await emulator.settled();
      left.push(source.snapshot().overview.failing);
    }
    expect(left).toEqual([2, 1, 0, 0]);
    const states = source.snapshot().deliveries.map(({ state }) => state);
    expect(states).toEqual(['waiting', 'waiting', 'waiting', 'delivered']);
  });

  it('failNext fails as many requests and no more, and then the faults are those of before', async () => {
    const { emulator, source } = await emulated({ faults: { duplicate: 1 } });
    await expect(source.actions.failNext?.({ count: 0.5 })).rejects.toThrow('count must be a positive integer');
    await source.actions.failNext?.({ count: 2 });
    expect(source.snapshot().overview.failing).toBe(2);
    for (let sent = 0; sent < 3; sent++) await source.actions.send?.({ type: 'stt.completed' });
    await emulator.settled();
    const { overview, deliveries } = source.snapshot();
    expect(overview.failing).toBe(0);
    expect(deliveries.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'delivered']);
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.attempts.list().at(-1)?.faults).toEqual(['duplicate']);
  });

  it('pause holds back, enable lets go, advance lets time pass', async () => {
    const { emulator, source, endpoint } = await emulated();
    const { pause, send, advance, enable } = source.actions;
    await expect(pause?.({ endpoint: endpoint.id })).resolves.toBe('The endpoint is paused.');
    await expect(send?.({ type: 'stt.completed' })).resolves.toBe('stt.completed is on its way.');
    await expect(advance?.({ ms: HOUR })).resolves.toBe('The time has passed.');
    expect(source.snapshot()).toMatchObject({
      overview: { endpoints: [{ state: 'paused' }], now: emulator.now() },
      deliveries: [{ state: 'waiting', attempts: 0 }],
    });
    await expect(enable?.({ endpoint: endpoint.id })).resolves.toBe('The endpoint is active.');
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries).state).toBe('delivered');
    await expect(source.actions.advance?.({ ms: -1 })).rejects.toThrow('ms must be 0 or more');
    await expect(source.actions.pause?.({ endpoint: 'wh_none' })).rejects.toThrow('does not exist');
  });

  it('send says when nobody has subscribed', async () => {
    const { emulator, source, endpoint } = await emulated();
    emulator.endpoints.update(endpoint.id, { events: ['stt.failed'] });
    await expect(source.actions.send?.({ type: 'stt.completed' })).resolves.toMatch('No endpoint has subscribed');
  });
});

it('no signing secret and no key is in anything that the page is sent', async () => {
  const { emulator, source, secret } = await emulated({ faults: { corrupt: { rate: 1, times: 1 } } });
  await emulator.emit('stt.completed');
  await emulator.runUntilIdle();
  const { get, act } = await served(source);
  const { id } = onlyRow(source.snapshot().deliveries);
  const replayed = await act('replay', { delivery: id, exact: false });
  const refused = await act('pause', { endpoint: 'wh_none' });
  const attempts = source.delivery(id)?.attempts ?? [];
  const paths = ['/', `/page/deliveries/${id}`, ...attempts.map((attempt) => `/page/attempts/${attempt.id}`)];
  const answers = [replayed, refused, ...(await Promise.all(paths.map((path) => get(path))))];
  const everything = [JSON.stringify(source.snapshot()), ...answers.map((answer) => JSON.stringify(answer))].join('\n');
  expect(attempts.length).toBe(3);
  expect(everything).toContain(id);
  for (const hidden of [secret, secret.replace(/^whsec_/, ''), emulator.apiKey])
    expect(everything).not.toContain(hidden);
});
