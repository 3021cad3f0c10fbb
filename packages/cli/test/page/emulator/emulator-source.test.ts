import { describe, expect, it } from 'vitest';
import { type Advice, adviceOn as advice } from '../../../src/diagnosis/advice.js';
import type { Actions, Change, DeliveryRow } from '../../../src/page/page-source.js';
import { served } from '../served.js';
import { type EmulatedOptions, emulated } from './emulated.js';

const HOUR = 3_600_000;

type Input<Name extends keyof Actions> = Parameters<NonNullable<Actions[Name]>>[0];

/** An emulated source, with short ways to what it shows and does. */
async function setUp(options?: EmulatedOptions) {
  const all = await emulated(options);
  const { emulator, source } = all;
  const rows = () => source.snapshot().deliveries;
  const onlyRow = (): DeliveryRow => rows()[0] ?? expect.fail('there is no delivery');
  const details = (id = onlyRow().id) => source.delivery(id) ?? expect.fail('it is not kept');
  return {
    ...all,
    ...{ rows, onlyRow, details },
    states: () => rows().map(({ state }) => state),
    firstAttempt: async () =>
      (await source.attempt(details().attempts[0]?.id ?? '')) ?? expect.fail('there is no attempt'),
    /** Emits events, each of which is attempted once. */
    async emit(...types: string[]) {
      for (const type of types) await emulator.emit(type);
      await emulator.settled();
    },
    /** Emits events that fail until they are dead. */
    async kill(...types: string[]) {
      for (const type of types) await emulator.emit(type);
      await emulator.runUntilIdle();
    },
    act: async <Name extends keyof Actions>(name: Name, input: Input<Name>) =>
      (source.actions[name] as (given: Input<Name>) => Promise<string>)(input),
  };
}

describe('the deliveries of an emulator on the page of dev', () => {
  it('a row has the state of its delivery and the last answer', async () => {
    let answers = 0;
    const { emulator, source, endpoint, emit, onlyRow } = await setUp({ fails: () => ++answers < 3 });
    await emit('stt.completed');
    expect(onlyRow()).toMatchObject({ state: 'waiting', attempts: 1, status: 500 });
    await emulator.runUntilIdle();
    expect(onlyRow()).toMatchObject({ state: 'delivered', attempts: 3, status: 200, nextAt: undefined });
    expect(source.snapshot().overview).toMatchObject({
      ...{ now: emulator.now(), speed: 0, endpoints: [{ id: endpoint.id, deadInARow: 0 }] },
    });
  });

  it('a row says why the app refuses, first by its answer and then by the advice', async () => {
    let tell = (_: Advice | undefined) => {};
    const adviceOn = () =>
      new Promise<Advice | undefined>((resolve) => {
        tell = resolve;
      });
    const { emit, onlyRow } = await setUp({ faults: { corrupt: { rate: 1 } }, adviceOn });
    await emit('stt.completed');
    expect(onlyRow()).toMatchObject({ status: 401, cause: 'signature mismatch' });
    tell(advice('other_secret'));
    await expect.poll(() => onlyRow().cause).toBe('another secret');
  });

  it('a row says why there is no answer, and no cause of a success', async () => {
    const { emulator, emit, rows } = await setUp({ faults: { reset: { rate: 1, times: 1 } } });
    await emit('stt.completed');
    expect(rows()).toMatchObject([{ state: 'waiting', cause: 'connection reset', hasFailed: true }]);
    await emulator.runUntilIdle();
    expect(rows()).toMatchObject([{ state: 'delivered', cause: undefined, hasFailed: true }]);
    await emit('stt.failed');
    expect(rows().at(-1)).toMatchObject({ state: 'delivered', cause: undefined, hasFailed: false });
  });

  it('advice on an earlier attempt is not that of a later one', async () => {
    const tell: ((told: Advice) => void)[] = [];
    const adviceOn = () => new Promise<Advice>((resolve) => void tell.push(resolve));
    const { emulator, emit, onlyRow } = await setUp({ fails: () => true, adviceOn });
    await emit('stt.completed');
    expect(onlyRow().cause).toBe('handler failed');
    await emulator.advance(30_000);
    onlyRow();
    tell[0]?.(advice('login'));
    await Promise.resolve();
    expect(onlyRow()).toMatchObject({ attempts: 2, cause: 'handler failed' });
  });

  it('the texts of all attempts and replays can be searched', async () => {
    const { emulator, source, act, emit, onlyRow } = await setUp({ fails: () => true });
    await emit('stt.completed');
    await emulator.advance(1_000);
    await act('replay', { delivery: onlyRow().id, exact: false });
    const texts = [...source.attemptTexts()];
    expect(new Set(texts.map(({ delivery }) => delivery))).toEqual(new Set([onlyRow().id]));
    const all = texts.map(({ text }) => Buffer.from(text).toString()).join('\n');
    expect(all.match(/handler_failed/g)).toHaveLength(2);
    expect(all.match(/x-service-signature-v2: t=/g)).toHaveLength(2);
    expect(all.match(/"type": ?"stt.completed"/g)).toHaveLength(2);
  });

  it('the overview counts the deliveries that are no longer kept, until they are cleared', async () => {
    const { source, act, emit, rows } = await setUp({ keep: { delivered: 2 } });
    const total = () => source.snapshot().overview.total;
    await emit('stt.completed', 'stt.completed');
    expect([rows().length, total()]).toEqual([2, undefined]);
    await emit('stt.completed', 'stt.completed', 'stt.completed');
    expect([rows().length, total()]).toEqual([2, 5]);
    await act('clear', {});
    expect([rows().length, total()]).toEqual([0, undefined]);
    await emit('stt.completed', 'stt.completed');
    expect([rows().length, total()]).toEqual([2, undefined]);
    await emit('stt.completed');
    expect([rows().length, total()]).toEqual([2, 3]);
  });

  it('a watcher gets the delivery that changed, and no other', async () => {
    const { source, emit, rows } = await setUp();
    await emit('stt.completed');
    const before = rows();
    const changed: DeliveryRow[] = [];
    source.watch(({ deliveries }) => void changed.push(...deliveries));
    await emit('dubbing.failed');
    await expect.poll(() => changed.at(-1)).toMatchObject({ type: 'dubbing.failed', state: 'delivered' });
    expect(new Set(changed.map(({ type }) => type))).toEqual(new Set(['dubbing.failed']));
    expect(rows()).toMatchObject([...before, { attempts: 1 }]);
  });

  it('a delivery has all its attempts, with request, answer and verdict', async () => {
    const { source, url, kill, onlyRow, details } = await setUp({ fails: () => true });
    await kill('stt.completed');
    const { attempts, offers, waits } = details();
    expect(attempts.map(({ number, status }) => [number, status])).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, 500]));
    expect(offers).toEqual(['redeliver', 'replay']);
    expect(waits).toEqual([30_000, 120_000, 600_000, HOUR, 4 * HOUR]);
    const last = (await source.attempt(attempts.at(-1)?.id ?? '')) ?? expect.fail();
    expect(last).toMatchObject({
      verdict: { verdict: 'accepted', causes: [] },
      request: { url, headers: expect.arrayContaining([['x-service-attempt', '6']]) },
      answer: { status: 500, body: { text: expect.stringContaining('handler_failed') } },
      code: 'handler_failed',
    });
    expect(JSON.parse(last.request.body.text).id).toBe(onlyRow().eventId);
  });

  it('an attempt whose signature does not match is explained', async () => {
    const { emit, details, firstAttempt } = await setUp({ faults: { corrupt: { rate: 1, times: 1 } } });
    await emit('stt.completed');
    expect(details().attempts[0]).toMatchObject({ status: 401, faults: ['corrupt'], acknowledged: false });
    expect((await firstAttempt()).verdict).toMatchObject({
      verdict: 'signature_mismatch',
      causes: expect.arrayContaining([expect.objectContaining({ cause: 'body_changed' })]),
    });
  });

  it('duplicates made by a fault do not count as attempts', async () => {
    let handled = 0;
    const { emit, onlyRow, details } = await setUp({ faults: { duplicate: 1 }, fails: () => ++handled > 1 });
    await emit('stt.completed');
    expect(onlyRow()).toMatchObject({ state: 'delivered', attempts: 1, status: 200, duplicates: 1 });
    expect(details().attempts).toMatchObject([
      { kind: 'attempt', status: 200 },
      { kind: 'duplicate', status: 500 },
    ]);
  });

  it('an attempt has its exact request', async () => {
    const { emulator, source, url, emit } = await setUp();
    await emit('stt.completed');
    const [attempt] = emulator.attempts.list();
    const message = source.message('1') ?? expect.fail();
    expect(message).toMatchObject({ method: 'POST', path: '/webhooks', url, at: attempt?.at });
    expect(message.body).toEqual(attempt?.request.body);
    expect(message.headers).toContainEqual(['X-Service-Attempt', '1']);
    expect(message.headers[0]).toEqual(['Host', new URL(url).host]);
    expect(source.message('2')).toBeUndefined();
  });

  it('the empty list names the dev command, and the sample button where there is an endpoint', async () => {
    const { source, emulator, endpoint } = await setUp();
    expect(source.start).toEqual({
      text: 'Press “Send a sample”, or type:',
      command: 'npx service-webhooks-cli dev 3000 --emit generation.completed',
    });
    emulator.endpoints.remove(endpoint.id);
    expect(source.start.text).toMatch(/^There is no endpoint: create one through the API, or stop dev/);
  });

  it('an attempt at an endpoint without a known secret is not verified', async () => {
    const { emulator, endpoint, url, emit, firstAttempt } = await setUp();
    emulator.endpoints.remove(endpoint.id);
    emulator.endpoints.create({ url });
    await emit('stt.completed');
    expect((await firstAttempt()).verdict).toEqual({ verdict: 'unverified', causes: [] });
  });

  it('a delivery that the emulator has dropped is gone', async () => {
    const { source, emit, onlyRow, rows } = await setUp({ keep: { delivered: 1 } });
    await emit('stt.completed');
    const { id } = onlyRow();
    await emit('stt.failed');
    expect(rows().map(({ type }) => type)).toEqual(['stt.failed']);
    expect([source.delivery(id), await source.attempt('none')]).toEqual([undefined, undefined]);
  });
});

describe('the actions of the page of dev on an emulator', () => {
  it('every action is offered', async () => {
    const { source } = await setUp();
    const others = ['advance', 'clear', 'emit', 'enable', 'failNext', 'pause', 'redeliver', 'redeliverDead'];
    expect(Object.keys(source.actions).sort()).toEqual([...others, 'replay', 'send']);
    expect(source.title).toBe('Deliveries to your app · service-webhooks dev');
  });

  it('redeliver starts a dead delivery again, and no other', async () => {
    let fails = true;
    const { emulator, act, kill, onlyRow } = await setUp({ fails: () => fails });
    await kill('stt.completed');
    const { id } = onlyRow();
    fails = false;
    await act('redeliver', { delivery: id });
    await emulator.settled();
    expect(onlyRow()).toMatchObject({ state: 'delivered', redeliveries: 1, attempts: 1 });
    await expect(act('redeliver', { delivery: id })).rejects.toThrow('is not dead');
  });

  it('replay sends the latest attempt again, signed with the present time or unchanged', async () => {
    const { emulator, source, act, onlyRow, details } = await setUp();
    await emulator.emit('stt.completed');
    await emulator.advance(HOUR);
    const { id } = onlyRow();
    await expect(act('replay', { delivery: id, exact: true })).resolves.toMatch('401');
    await expect(act('replay', { delivery: id, exact: false })).resolves.toMatch('200');
    const { attempts, delivery } = details();
    expect(attempts.map(({ kind, status }) => [kind, status])).toEqual([
      ['attempt', 200],
      ['replay', 401],
      ['replay', 200],
    ]);
    expect(delivery.attempts).toBe(1);
    const verdicts = await Promise.all(attempts.map(async ({ id }) => (await source.attempt(id))?.verdict.verdict));
    expect(verdicts).toEqual(['accepted', 'timestamp_too_old', 'accepted']);
  });

  it('replay returns the reason where there was no answer', async () => {
    const { emulator, act, endpoint, emit, onlyRow } = await setUp();
    emulator.endpoints.update(endpoint.id, { url: 'http://127.0.0.1:1/' });
    await emit('stt.completed');
    const { id, problem } = onlyRow();
    expect(problem).toMatch('ECONNREFUSED');
    await expect(act('replay', { delivery: id, exact: false })).resolves.toMatch('nothing listens there');
  });

  it('replay is listed in its place between the attempts', async () => {
    const { emulator, act, emit, onlyRow, details } = await setUp({ fails: () => true });
    await emit('stt.completed');
    const { id, eventId } = onlyRow();
    await emulator.advance(1_000);
    expect(await act('replay', { delivery: id, exact: false })).toBe(`${eventId} was sent again: 500.`);
    await emulator.advance(HOUR);
    const { attempts, delivery } = details();
    expect(attempts.map(({ kind }) => kind)).toEqual(['attempt', 'replay', 'attempt', 'attempt', 'attempt']);
    expect([delivery.attempts, delivery.replays]).toEqual([4, 1]);
    expect(new Set(attempts.map((attempt) => attempt.id)).size).toBe(5);
  });

  it('replay needs an attempt, and a secret to sign with', async () => {
    const { emulator, act, endpoint, url, onlyRow, details } = await setUp();
    emulator.endpoints.remove(endpoint.id);
    const other = emulator.endpoints.create({ url });
    emulator.endpoints.pause(other.id);
    await emulator.emit('stt.completed');
    const replay = (exact: boolean) => act('replay', { delivery: onlyRow().id, exact });
    expect(details()).toMatchObject({ attempts: [], offers: [] });
    await expect(replay(true)).rejects.toThrow('there is no attempt of it that could be sent again');
    emulator.endpoints.enable(other.id);
    await emulator.settled();
    const cannotSign = 'its secret is not known here: send the same bytes and headers';
    expect(details()).toMatchObject({ offers: ['replay'], cannotSign });
    await expect(replay(false)).rejects.toThrow(cannotSign);
    await expect(replay(true)).resolves.toMatch('401');
  });

  it('replay keeps the latest hundred, as long as the delivery is kept', async () => {
    const { source, act, emit, onlyRow, details } = await setUp({ keep: { delivered: 1 } });
    await emit('stt.completed');
    const { id } = onlyRow();
    for (let n = 0; n < 101; n += 1) await act('replay', { delivery: id, exact: true });
    const { attempts } = details();
    expect(attempts).toHaveLength(101);
    const last = attempts.at(-1)?.id ?? '';
    expect((await source.attempt(last))?.kind).toBe('replay');
    await emit('stt.failed');
    source.snapshot();
    expect(await source.attempt(last)).toBeUndefined();
  });

  it('failNext counts each failure once, and no failure of another fault', async () => {
    const { source, act, emit } = await setUp({ faults: { reset: { rate: 1, times: 1 } } });
    const failing = () => source.snapshot().overview.failing;
    await emit('stt.completed');
    expect(failing()).toBe(0);
    expect(await act('failNext', { count: 1 })).toBe('The next request fails: the connection is reset.');
    expect(await act('failNext', { count: 3 })).toMatch('The next 3 requests fail:');
    const left: number[] = [];
    for (let sent = 0; sent < 4; sent++) {
      await emit('stt.completed');
      left.push(failing(), failing());
    }
    expect(left).toEqual([2, 2, 1, 1, 0, 0, 0, 0]);
  });

  it('failNext fails the number it was asked for, and then the old faults are back', async () => {
    const { emulator, source, act, emit, states } = await setUp({ faults: { duplicate: 1 } });
    await expect(act('failNext', { count: 0.5 })).rejects.toThrow('count must be a positive integer');
    await act('failNext', { count: 2 });
    expect(source.snapshot().overview.failing).toBe(2);
    for (let sent = 0; sent < 3; sent++) await act('send', { type: 'stt.completed' });
    await emulator.settled();
    expect(states()).toEqual(['waiting', 'waiting', 'delivered']);
    expect(source.snapshot().overview.failing).toBe(0);
    await emit('stt.completed');
    expect(emulator.attempts.list().at(-1)?.faults).toEqual(['duplicate']);
  });

  it('pause holds deliveries, enable sends them, and advance moves the clock', async () => {
    const { emulator, source, act, endpoint, states } = await setUp();
    expect(await act('pause', { endpoint: endpoint.id })).toBe('The endpoint is paused.');
    expect(await act('send', { type: 'stt.completed' })).toBe('stt.completed is on its way.');
    expect(await act('advance', { ms: HOUR })).toBe('The time has passed.');
    expect(source.snapshot()).toMatchObject({
      overview: { endpoints: [{ state: 'paused' }], now: emulator.now() },
      deliveries: [{ state: 'waiting', attempts: 0 }],
    });
    expect(await act('enable', { endpoint: endpoint.id })).toBe('The endpoint is active.');
    await emulator.settled();
    expect(states()).toEqual(['delivered']);
    await expect(act('advance', { ms: -1 })).rejects.toThrow('ms must be 0 or more');
    await expect(act('pause', { endpoint: 'wh_none' })).rejects.toThrow('does not exist');
  });

  it('redeliverDead starts each dead delivery again, and fails where there is none', async () => {
    let fails = true;
    const { emulator, act, kill, emit, rows } = await setUp({ fails: () => fails });
    await expect(act('redeliverDead', {})).rejects.toThrow('no delivery is dead');
    await kill('stt.completed', 'stt.failed', 'dubbing.failed');
    fails = false;
    await emit('export.failed');
    expect(await act('redeliverDead', {})).toBe('3 dead deliveries start again.');
    await emulator.settled();
    expect(rows().map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
    expect(rows().map(({ redeliveries }) => redeliveries)).toEqual([1, 1, 1, 0]);
  });

  it('redeliverDead says how many have started where there is no room for all', async () => {
    const { emulator, act, endpoint, kill } = await setUp({ fails: () => true, maxPending: 3 });
    await kill('stt.completed', 'stt.failed', 'dubbing.failed');
    emulator.endpoints.pause(endpoint.id);
    for (const type of ['export.failed', 'export.completed']) await emulator.emit(type);
    const said = await act('redeliverDead', {});
    expect(said).toMatch(/^1 of 3 dead deliveries start again: maxPending: 3 deliveries are pending/);
    await expect(act('redeliverDead', {})).rejects.toThrow('maxPending');
  });

  it('emit sends the event as it is written, with the retries of the service', async () => {
    const { emulator, act, onlyRow, firstAttempt } = await setUp({ fails: () => true });
    const event = { type: 'generation.completed', jobId: 'clip_7', data: { clipId: 'clip_7', mine: [1] } };
    expect(await act('emit', { event: JSON.stringify(event) })).toBe('generation.completed is on its way.');
    await emulator.runUntilIdle();
    expect(onlyRow()).toMatchObject({ type: 'generation.completed', state: 'dead', attempts: 6 });
    const rest = { id: onlyRow().eventId, version: '2026-07-11', timestamp: expect.stringContaining('2026-') };
    expect(JSON.parse((await firstAttempt()).request.body.text)).toEqual({ ...event, ...rest });
  });

  it('emit accepts an own id and an unknown type, and refuses what is no event', async () => {
    const { emulator, act, rows } = await setUp();
    const emit = (event: unknown) => act('emit', { event: JSON.stringify(event) });
    expect(await emit({ type: 'voice.retired', id: 'evt_mine' })).toMatch('No endpoint has subscribed');
    await emit({ type: 'stt.failed', id: 'evt_mine', data: { reason: 'noise' } });
    await emulator.settled();
    await expect(emit({ type: 'stt.failed', data: [] })).rejects.toThrow('data must be an object');
    await expect(act('emit', { event: '{"type":' })).rejects.toThrow('This is not JSON');
    expect(rows()).toMatchObject([{ eventId: 'evt_mine', state: 'delivered' }]);
  });

  it('clear removes ended deliveries, and a redelivered one is listed again', async () => {
    let fails = true;
    const { emulator, source, act, kill, emit, onlyRow, rows } = await setUp({ fails: () => fails });
    await kill('stt.failed');
    const { id } = onlyRow();
    await emit('stt.completed');
    const changes: Change[] = [];
    source.snapshot();
    source.watch((change) => void changes.push(change));
    expect(await act('clear', {})).toBe('1 delivery is cleared. 1 still under way stays.');
    expect(changes.at(-1)?.removed).toEqual([id]);
    expect(rows().map(({ type }) => type)).toEqual(['stt.completed']);
    fails = false;
    await emulator.runUntilIdle();
    expect(await act('clear', {})).toBe('1 delivery is cleared.');
    expect(await act('clear', {})).toBe('0 deliveries are cleared.');
    emulator.deliveries.redeliver(id);
    expect(onlyRow()).toMatchObject({ id, redeliveries: 1 });
    await emulator.settled();
    expect(onlyRow()).toMatchObject({ id, state: 'delivered' });
  });

  it('send returns that no endpoint has subscribed to the type', async () => {
    const { emulator, act, endpoint } = await setUp();
    emulator.endpoints.update(endpoint.id, { events: ['stt.failed'] });
    expect(await act('send', { type: 'stt.completed' })).toMatch('No endpoint has subscribed');
  });
});

it('no secret and no key is in anything that the page is sent', async () => {
  const { emulator, source, secret, onlyRow, details } = await setUp({ faults: { corrupt: { rate: 1, times: 1 } } });
  await emulator.emit('stt.completed');
  await emulator.runUntilIdle();
  const { get, act } = await served(source);
  const { id } = onlyRow();
  const replayed = await act('replay', { delivery: id, exact: false });
  const refused = await act('pause', { endpoint: 'wh_none' });
  const { attempts } = details();
  const paths = ['/', `/page/deliveries/${id}`, ...attempts.map((attempt) => `/page/attempts/${attempt.id}`)];
  const answers = [replayed, refused, ...(await Promise.all(paths.map((path) => get(path))))];
  const everything = [source.snapshot(), ...answers].map((shown) => JSON.stringify(shown)).join('\n');
  expect(attempts.length).toBe(3);
  expect(everything).toContain(id);
  for (const hidden of [secret, secret.replace(/^whsec_/, ''), emulator.apiKey])
    expect(everything).not.toContain(hidden);
});
