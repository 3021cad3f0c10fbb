import { describe, expect, it } from 'vitest';
import type { Change, DeliveryRow } from '../../../src/page/page-source.js';
import { served } from '../served.js';
import { emulated } from './emulated.js';

const HOUR = 3_600_000;
const onlyRow = (rows: readonly DeliveryRow[]) => rows[0] ?? expect.fail('there is no delivery');

describe('deliveries of an emulator', () => {
  it('a row has the state of its delivery and the last answer', async () => {
    const { emulator, source, endpoint } = await emulated({ fails: () => emulator.totals.attempts < 2 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ state: 'waiting', attempts: 1, status: 500 });
    await emulator.runUntilIdle();
    const { deliveries, overview } = source.snapshot();
    expect(onlyRow(deliveries)).toMatchObject({ state: 'delivered', attempts: 3, status: 200, nextAt: undefined });
    expect(overview).toMatchObject({ now: emulator.now(), speed: 0, endpoints: [{ id: endpoint.id, deadInARow: 0 }] });
  });

  it('a watcher gets the delivery that changed, and no other', async () => {
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

  it('a delivery has all its attempts, with request, answer and verdict', async () => {
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

  it('an attempt whose signature does not match is explained', async () => {
    const { emulator, source } = await emulated({ faults: { corrupt: { rate: 1, times: 1 } } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = source.delivery(onlyRow(source.snapshot().deliveries).id)?.attempts ?? [];
    expect(attempt).toMatchObject({ status: 401, faults: ['corrupt'], acknowledged: false });
    const { verdict, causes } = source.attempt(attempt?.id ?? '')?.verdict ?? expect.fail();
    expect([verdict, causes[0]?.cause]).toEqual(['signature_mismatch', 'body_changed']);
  });

  it('duplicates made by a fault do not count as attempts', async () => {
    let handled = 0;
    const { emulator, source } = await emulated({ faults: { duplicate: 1 }, fails: () => ++handled > 1 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const row = onlyRow(source.snapshot().deliveries);
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, status: 200, duplicates: 1 });
    const { attempts } = source.delivery(row.id) ?? expect.fail();
    expect(attempts.map(({ kind, status }) => [kind, status])).toEqual([
      ['attempt', 200],
      ['duplicate', 500],
    ]);
  });

  it('an answer is put in words, with what to do about it', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = source.delivery(onlyRow(source.snapshot().deliveries).id)?.attempts ?? [];
    expect(source.attempt(attempt?.id ?? '')).toMatchObject({
      code: 'handler_failed',
      advice: {
        code: 'handler_failed',
        message: expect.stringContaining('Your handler failed'),
        fix: expect.any(String),
      },
    });
  });

  it('an attempt has its exact request', async () => {
    const { emulator, source, url } = await emulated();
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = emulator.attempts.list();
    const message = source.message('1') ?? expect.fail();
    expect(message).toMatchObject({ method: 'POST', path: '/webhooks', url, at: attempt?.at });
    expect(message.body).toEqual(attempt?.request.body);
    expect(message.headers).toContainEqual(['X-Service-Attempt', '1']);
    expect(message.headers[0]).toEqual(['Host', new URL(url).host]);
    expect(source.message('2')).toBeUndefined();
  });

  it('the start names a command, and the button where there is an endpoint', async () => {
    const { source, emulator, endpoint } = await emulated();
    expect(source.start).toEqual({
      text: 'Press “Send a sample”, or start with:',
      command: 'npx service-webhooks-cli dev http://localhost:3000/webhooks --emit generation.completed',
    });
    emulator.endpoints.remove(endpoint.id);
    expect(source.start.text).toBe('Start with:');
  });

  it('an attempt at an endpoint without a known secret is not verified', async () => {
    const { emulator, source, endpoint, url } = await emulated();
    emulator.endpoints.remove(endpoint.id);
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = source.delivery(onlyRow(source.snapshot().deliveries).id)?.attempts ?? [];
    expect(source.attempt(attempt?.id ?? '')?.verdict).toEqual({ verdict: 'unverified', causes: [] });
  });

  it('a delivery that the emulator has dropped is gone', async () => {
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

describe('actions on an emulator', () => {
  it('every action is offered', async () => {
    const { source } = await emulated();
    const all = [
      'advance',
      'clear',
      'emit',
      'enable',
      'failNext',
      'pause',
      'redeliver',
      'redeliverDead',
      'replay',
      'send',
    ];
    expect(Object.keys(source.actions).sort()).toEqual(all);
    expect(source.title).toBe('Deliveries to your app · service-webhooks dev');
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

  it('replay sends the latest attempt again, signed with the present time or unchanged', async () => {
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

  it('replay is listed in its place between the attempts', async () => {
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

  it('replay needs an attempt, and a secret to sign with', async () => {
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
    const cannotSign = 'its secret is not known here: send the same bytes and headers';
    expect(source.delivery(id)).toMatchObject({ offers: ['replay'], cannotSign });
    await expect(replay(false)).rejects.toThrow(cannotSign);
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

  it('failNext counts each failure once, and no failure of another fault', async () => {
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

  it('failNext counts down, however often the page looks', async () => {
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

  it('failNext fails the number it was asked for, and then the old faults are back', async () => {
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

  it('redeliverDead starts each dead delivery again, and fails where there is none', async () => {
    let fails = true;
    const { emulator, source } = await emulated({ fails: () => fails });
    const redeliverDead = async () => source.actions.redeliverDead?.({});
    await expect(redeliverDead()).rejects.toThrow('no delivery is dead');
    for (const type of ['stt.completed', 'stt.failed', 'dubbing.failed']) await emulator.emit(type);
    await emulator.runUntilIdle();
    fails = false;
    await emulator.emit('export.failed');
    await emulator.settled();
    expect(await redeliverDead()).toBe('3 dead deliveries start again.');
    await emulator.settled();
    const rows = source.snapshot().deliveries;
    expect(rows.map(({ state, redeliveries }) => [state, redeliveries])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 0],
    ]);
  });

  it('redeliverDead says how many have started where there is no room for all', async () => {
    const { emulator, source, endpoint } = await emulated({ fails: () => true, maxPending: 3 });
    for (const type of ['stt.completed', 'stt.failed', 'dubbing.failed']) await emulator.emit(type);
    await emulator.runUntilIdle();
    emulator.endpoints.pause(endpoint.id);
    await emulator.emit('export.failed');
    await emulator.emit('export.completed');
    const said = await source.actions.redeliverDead?.({});
    expect(said).toMatch(/^1 of 3 dead deliveries start again: maxPending: 3 deliveries are pending/);
    await expect(source.actions.redeliverDead?.({})).rejects.toThrow('maxPending');
  });

  it('emit sends the event as it is written, with the retries of the service', async () => {
    const { emulator, source } = await emulated({ fails: () => true });
    const event = { type: 'generation.completed', jobId: 'clip_7', data: { clipId: 'clip_7', mine: [1] } };
    expect(await source.actions.emit?.({ event: JSON.stringify(event) })).toBe('generation.completed is on its way.');
    await emulator.runUntilIdle();
    const row = onlyRow(source.snapshot().deliveries);
    expect(row).toMatchObject({ type: 'generation.completed', state: 'dead', attempts: 6 });
    const [first] = source.delivery(row.id)?.attempts ?? [];
    const sent = JSON.parse(source.attempt(first?.id ?? '')?.request.body.text ?? '');
    expect(sent).toEqual({
      ...{ id: row.eventId, type: 'generation.completed', version: '2026-07-11', jobId: 'clip_7' },
      ...{ data: { clipId: 'clip_7', mine: [1] }, timestamp: expect.stringContaining('2026-') },
    });
  });

  it('emit takes its own id and an unknown type, and refuses what is no event', async () => {
    const { emulator, source } = await emulated();
    const emit = async (event: unknown) => source.actions.emit?.({ event: JSON.stringify(event) });
    expect(await emit({ type: 'voice.retired', id: 'evt_mine' })).toMatch('No endpoint has subscribed');
    await emit({ type: 'stt.failed', id: 'evt_mine', data: { reason: 'noise' } });
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ eventId: 'evt_mine', state: 'delivered' });
    await expect(emit({ type: 'stt.failed', data: [] })).rejects.toThrow('data must be an object');
    await expect(source.actions.emit?.({ event: '{"type":' })).rejects.toThrow('This is not JSON');
    expect(source.snapshot().deliveries).toHaveLength(1);
  });

  it('clear removes what has ended, until it is redelivered', async () => {
    let fails = true;
    const { emulator, source } = await emulated({ fails: () => fails });
    const clear = async () => source.actions.clear?.({});
    await emulator.emit('stt.failed');
    await emulator.runUntilIdle();
    const { id } = onlyRow(source.snapshot().deliveries);
    await emulator.emit('stt.completed');
    await emulator.settled();
    const changes: Change[] = [];
    source.snapshot();
    source.watch((change) => void changes.push(change));
    expect(await clear()).toBe('1 delivery is cleared. 1 still under way stays.');
    expect(changes.at(-1)?.removed).toEqual([id]);
    expect(source.snapshot().deliveries.map(({ type }) => type)).toEqual(['stt.completed']);
    fails = false;
    await emulator.runUntilIdle();
    expect(await clear()).toBe('1 delivery is cleared.');
    expect(await clear()).toBe('0 deliveries are cleared.');
    emulator.deliveries.redeliver(id);
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ id, redeliveries: 1 });
    await emulator.settled();
    expect(onlyRow(source.snapshot().deliveries)).toMatchObject({ id, state: 'delivered' });
  });

  it('send says that no endpoint has subscribed', async () => {
    const { emulator, source, endpoint } = await emulated();
    emulator.endpoints.update(endpoint.id, { events: ['stt.failed'] });
    await expect(source.actions.send?.({ type: 'stt.completed' })).resolves.toMatch('No endpoint has subscribed');
  });
});

it('no secret and no key is in anything that the page is sent', async () => {
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
