import { verify } from 'service-webhooks';
import { RETRY_WAITS_MS } from 'service-webhooks/service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Got, serveApp } from '../../../../../test/support/app.js';
import { aDelivery, NOW, now, SECRET } from '../../../../../test/support/deliveries.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import type { KeptRequest } from '../../../src/commands/listen/received-log.js';
import {
  createReceivedSource,
  type ReceivedSource,
  toAttemptDetails,
  toAttemptRow,
  toDeliveryRow,
} from '../../../src/commands/listen/received-source.js';
import { createRoutes } from '../../../src/commands/listen/routes.js';
import { adviceOn } from '../../../src/diagnosis/advice.js';
import type { HttpMessage } from '../../../src/http/http-message.js';
import type { Change } from '../../../src/page/page-source.js';

type Received = Parameters<ReceivedSource['add']>[0];

const URL_OF_IT = 'http://127.0.0.1:4747/hook?a=1';

function toMessage({ headers, body }: ReturnType<typeof aDelivery>) {
  return { method: 'POST', path: '/hook?a=1', headers: Object.entries(headers), body: Buffer.from(body as string) };
}

const message = toMessage(aDelivery({ at: NOW - 3_600_000 }));

/** A verified request that the app has answered with 500, with changes. */
function received(id?: string, inspection: object = {}, changes: Partial<Received> = {}): Received {
  return {
    ...{ at: NOW - 10, endedAt: NOW - 5, url: URL_OF_IT, message },
    inspection: { verdict: 'verified', type: 'stt.completed', id, bytes: message.body.length, ...inspection },
    response: { status: 500, headers: {}, body: '' },
    ...changes,
  };
}

/** A source that sends to this app, with these requests in it. */
function aSource(options: Partial<ListenOptions> = {}, appUrl?: string, ownUrl = 'http://127.0.0.1:1') {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const routes = createRoutes(appUrl === undefined ? [] : [new URL(appUrl)]);
  const given = { secrets: [SECRET], checks: {}, routes, now, delayMs: 0, ...options } as ListenOptions;
  const source = createReceivedSource(given, () => new URL(ownUrl), stop.signal);
  const changes: Change[] = [];
  const endWatching = source.watch((change) => changes.push(change));
  const replay = (delivery: string, exact = false) => Promise.resolve(source.actions.replay?.({ delivery, exact }));
  const send = (type: string) => Promise.resolve(source.actions.send?.({ type }));
  return { source, stop, changes, endWatching, replay, send };
}

async function aSourceOf(...all: readonly Received[]) {
  const app = await serveApp();
  const made = aSource({}, app.url);
  for (const one of all) made.source.add(one);
  return { app, ...made };
}

describe('the deliveries on the page of listen', () => {
  it('the requests of an event are the attempts of one delivery', () => {
    const { source } = aSource();
    for (const id of ['evt_1', 'evt_2', 'evt_1']) source.add(received(id));
    expect(source.title).toBe('Deliveries received · service-webhooks listen');
    const deliveries = [{ id: 'evt_1', status: 500 }, { id: 'evt_2' }].map((row) => expect.objectContaining(row));
    expect(source.snapshot()).toEqual({ overview: { now: NOW, speed: 1, endpoints: [], failing: 0 }, deliveries });
    expect(source.delivery('evt_1')).toEqual({
      delivery: source.snapshot().deliveries[0],
      attempts: [
        expect.objectContaining({ id: '1', kind: 'attempt', at: NOW - 10 }),
        expect.objectContaining({ id: '3', kind: 'duplicate' }),
      ],
      ...{ waits: RETRY_WAITS_MS, offers: ['replay'] },
    });
    expect(source.attempt('2')).toMatchObject({ id: '2', request: { url: URL_OF_IT } });
  });

  it('an attempt that came twice is marked as a duplicate', () => {
    const { source } = aSource();
    for (const attempt of ['1', '2', '2', '1']) source.add(received('evt_1', { attempt }));
    for (let n = 0; n < 2; n += 1) source.add(received(undefined, { attempt: '1' }));
    expect(source.delivery('evt_1')?.attempts.map(({ number, kind }) => `${number} ${kind}`)).toEqual([
      ...['1 attempt', '2 attempt', '2 duplicate', '1 duplicate'],
    ]);
    expect(source.snapshot().deliveries.map(({ duplicates }) => duplicates)).toEqual([2, 0, 0]);
  });

  it('an attempt has the code of its answer, and the exact request', () => {
    const { source } = aSource();
    const response = { status: 200, headers: { 'idempotency-replayed': 'true' }, body: '{"outcome":"duplicate"}' };
    source.add(received('evt_1', {}, { response }));
    expect(source.attempt('1')).toMatchObject({ code: 'duplicate', recognised: true });
    expect(source.message('1')).toEqual({ ...message, url: URL_OF_IT, at: NOW - 10 });
    source.add(received('evt_2', {}, { problem: 'no answer within 20 s' }));
    expect(source.attempt('2')?.code).toBeUndefined();
    expect([source.delivery('evt_3'), source.attempt('3'), source.message('3')]).toEqual(Array(3).fill(undefined));
  });

  it('the empty list names the command that sends the first delivery', () => {
    const { source } = aSource({}, undefined, 'http://127.0.0.1:4747/');
    const command = 'npx service-webhooks-cli send generation.completed http://127.0.0.1:4747/';
    expect(source.start).toEqual({ text: 'Send one to the address of listen:', command });
  });

  it('a watcher gets each change, until it stops', () => {
    const { source, changes, endWatching } = aSource();
    source.add(received('evt_1'));
    const { overview, deliveries } = source.snapshot();
    expect(changes).toEqual([{ overview, deliveries, removed: [] }]);
    endWatching();
    source.add(received('evt_2'));
    expect(changes).toHaveLength(1);
  });

  it('the button of the page clears all deliveries', async () => {
    const { source, changes } = aSource();
    for (const id of ['evt_1', 'evt_2']) source.add(received(id));
    expect(await source.actions.clear?.({})).toBe('2 deliveries are cleared.');
    expect(changes.at(-1)).toMatchObject({ deliveries: [], removed: ['evt_1', 'evt_2'] });
    expect([source.snapshot().deliveries, source.attempt('1')]).toEqual([[], undefined]);
    source.add(received('evt_1'));
    expect(await source.actions.clear?.({})).toBe('1 delivery is cleared.');
  });
});

describe('a replay from the page of listen', () => {
  it('the app gets the same body with a new signature, and the replay is kept', async () => {
    const { app, source, replay } = await aSourceOf(received('evt_1'));
    expect(await replay('evt_1')).toBe('It was sent again: 200.');
    const [got] = app.got as [Got];
    expect(got).toMatchObject({ method: 'POST', path: '/hook?a=1', body: message.body });
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET, now }).signedAt).toBe(NOW);
    expect(source.delivery('evt_1')).toMatchObject({
      delivery: { attempts: 1, replays: 1, status: 200 },
      attempts: [{ kind: 'attempt' }, { id: '2', kind: 'replay', at: NOW, endedAt: NOW, status: 200 }],
    });
    expect(source.attempt('2')?.request.url).toBe(`${app.url}/hook?a=1`);
  });

  it('an exact replay needs no secret, and a newly signed one does', async () => {
    const app = await serveApp();
    const { source, replay } = aSource({ secrets: undefined }, app.url);
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(app.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    const why = 'there is no secret to sign it with: send the same bytes and headers';
    await expect(replay('evt_1')).rejects.toThrow(why);
    expect(source.delivery('evt_1')?.cannotSign).toBe(why);
  });

  it('listen itself gets the delivery where there is no app', async () => {
    const own = await serveApp();
    const { source, replay } = aSource({}, undefined, own.url);
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(own.got).toMatchObject([{ path: '/hook?a=1' }]);
    expect(own.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    expect(source.delivery('evt_1')?.attempts).toHaveLength(1); // since listen keeps what it receives
  });

  it('a replay without an answer keeps the reason', async () => {
    const { source, replay } = aSource({}, 'http://127.0.0.1:1/');
    source.add(received('evt_1'));
    expect(await replay('evt_1')).toMatch(/^It was sent again: nothing listens there/);
    const problem = expect.stringContaining('nothing listens');
    expect(source.delivery('evt_1')?.attempts[1]).toMatchObject({ problem });
    expect(source.attempt('2')?.answer).toBeUndefined();
  });

  it('a delivery that the log has dropped cannot be sent again', async () => {
    await expect(aSource().replay('evt_1')).rejects.toThrow('it is not kept any more');
  });

  it('Ctrl+C ends the wait for the answer', async () => {
    const { source, replay, stop } = aSource({}, 'http://127.0.0.1:1/');
    source.add(received('evt_1'));
    stop.abort();
    await expect(replay('evt_1')).rejects.toThrow(/abort/i);
  });
});

describe('a request to listen that the secret has not signed', () => {
  const forged = toMessage(aDelivery({ secret: 'another' }));
  const withMessage = (id: string, message: HttpMessage, verdict: string) => received(id, { verdict }, { message });

  it.each([
    ['a forged request', forged, 'signature_mismatch'],
    ['an unsigned request', { ...message, headers: [] }, 'missing_signature'],
    ['a forged request with no event', { ...forged, body: Buffer.from('x') }, 'signature_mismatch'],
  ])('the page does not sign %s, and says why', async (_, sent, verdict) => {
    const { app, source, replay } = await aSourceOf(withMessage('evt_1', sent, verdict));
    const why = 'your secret has not signed it, so anyone may have sent it';
    await expect(replay('evt_1')).rejects.toThrow(why);
    expect(source.delivery('evt_1')).toMatchObject({ offers: ['replay'], cannotSign: expect.stringContaining(why) });
    expect(app.got).toEqual([]);
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
  });

  it('a forged request with the id of a genuine event is not signed, and does not block the event', async () => {
    const body = Buffer.from(message.body.toString().replace('clip_1', 'clip_2'));
    const forgery = withMessage('evt_1', { ...forged, body }, 'signature_mismatch');
    const { app, source, replay } = await aSourceOf(received('evt_1'), forgery);
    expect(await replay('evt_1')).toBe('It was sent again: 200.');
    expect(app.got[0]?.body).toEqual(message.body);
    expect(source.delivery('evt_1')).not.toHaveProperty('cannotSign');
  });

  it('a signed request that is too old or no event is signed again', async () => {
    const { replay } = await aSourceOf(
      withMessage('evt_1', message, 'timestamp_too_old'),
      withMessage('evt_2', toMessage(aDelivery({ body: 'no event' })), 'invalid_json'),
    );
    expect([await replay('evt_1'), await replay('evt_2')]).toEqual(Array(2).fill('It was sent again: 200.'));
  });

  it('the key r sends an unverified request as it came', async () => {
    const { app, source } = await aSourceOf(received('evt_1'), withMessage('evt_1', forged, 'signature_mismatch'));
    expect(await source.replayLast()).toMatch(
      /^It was sent again: 200\. The app has accepted a delivery that does not/,
    );
    expect(app.got[0]?.rawHeaders).toEqual(expect.arrayContaining(forged.headers.flat()));
  });
});

describe('a sample that is sent from the page of listen', () => {
  it('listen itself gets the sample, signed with its secret and with its header prefix', async () => {
    const own = await serveApp();
    const { send } = aSource({ checks: { headerPrefix: 'x-vendor' } }, undefined, own.url);
    expect(await send('stt.failed')).toBe('stt.failed was sent: 200.');
    const [{ headers, body, rawHeaders }] = own.got as [Got];
    expect(verify({ headers, body, secret: SECRET, headerPrefix: 'x-vendor' }).event.type).toBe('stt.failed');
    expect(rawHeaders).toEqual(expect.arrayContaining(['X-Vendor-Signature-V2']));
  });

  it('the sample is signed also where listen has no secret', async () => {
    const own = await serveApp();
    expect(await aSource({ secrets: undefined }, undefined, own.url).send('stt.failed')).toBe(
      'stt.failed was sent: 200.',
    );
    expect(own.got[0]?.headers['x-service-signature-v2']).toMatch(/^t=/);
  });

  it('the page says why a sample was not sent', async () => {
    expect(await aSource().send('stt.failed')).toMatch(/^stt\.failed was sent: nothing listens there/);
    await expect(aSource().send('stt')).rejects.toThrow('type must be one of the service');
  });
});

const hook = { ...toMessage(aDelivery()), path: '/hook' };
const inspection = { verdict: 'verified', type: 'stt.completed', id: 'evt_1', bytes: hook.body.length };

type KeptChanges = Partial<KeptRequest> & { attempt?: string | undefined; status?: number };
function kept({ attempt, status = 200, ...changes }: KeptChanges = {}) {
  return {
    ...{ id: '1', kind: 'attempt', at: NOW, endedAt: NOW + 7, url: 'http://127.0.0.1:4747/hook', message: hook },
    inspection: { ...inspection, attempt },
    response: { status, headers: { 'retry-after': '1' }, body: 'answer' },
    ...changes,
  } as KeptRequest;
}

describe('the row of an attempt on the page of listen', () => {
  it('the row has the times, the number and the status', () => {
    expect(toAttemptRow(kept({ attempt: '2' }))).toEqual({
      ...{ id: '1', kind: 'attempt', at: NOW, endedAt: NOW + 7, number: 2, acknowledged: true },
      ...{ redelivery: 0, faults: [], status: 200 },
    });
  });

  it.each([
    [undefined, 1],
    ['10', 10],
    ['999999', 999_999],
    ['0', 1],
    ['1000000', 1],
    ['-1', 1],
    ['2x', 1],
    ['x2', 1],
  ])('the attempt header %j is read as number %i', (attempt, number) => {
    expect(toAttemptRow(kept({ attempt })).number).toBe(number);
  });

  it('a status of 2xx acknowledges, and no other', () => {
    const acknowledged = [199, 200, 299, 300].filter((status) => toAttemptRow(kept({ status })).acknowledged);
    expect(acknowledged).toEqual([200, 299]);
  });

  it('an attempt without an answer has the reason in place of the status', () => {
    const row = toAttemptRow(kept({ problem: 'nothing listens there' }));
    expect(row).toMatchObject({ acknowledged: false, problem: 'nothing listens there' });
    expect(row).not.toHaveProperty('status');
  });
});

describe('the row of a delivery on the page of listen', () => {
  const rowOf = (...requests: KeptRequest[]) => toDeliveryRow('evt_1', requests, 'X-Service');
  const mismatch = { ...inspection, verdict: 'signature_mismatch' };
  const cause = {
    cause: 'body_reserialised',
    evidence: 'The body is JSON that was parsed and written again.',
  } as const;
  const advice = adviceOn('other_secret');

  it('the requests and replays of a delivery are counted', () => {
    const first = { ...hook, headers: [['x-service-Webhook-Id', 'endpoint_7'] as const] };
    const requests = [
      kept({ message: first, attempt: '3', status: 500 }),
      kept({ attempt: '1', status: 204, at: NOW + 1 }),
      kept({ kind: 'replay', problem: 'it was closed' }),
    ];
    expect(rowOf(...requests)).toEqual({
      ...{ id: 'evt_1', eventId: 'evt_1', type: 'stt.completed', endpointId: 'endpoint_7', state: 'delivered' },
      ...{ attempts: 3, replays: 1, duplicates: 0, redeliveries: 0, test: false, hasFailed: true },
      ...{ createdAt: NOW, problem: 'it was closed', cause: 'it was closed' },
      ...{ url: 'http://127.0.0.1:4747/hook', verdict: 'verified' },
    });
  });

  it('a request without an event has its request line in the row', () => {
    const message = { ...hook, headers: [] };
    expect(rowOf(kept({ inspection: { verdict: 'invalid_json', bytes: 1 }, message, status: 400 }))).toMatchObject({
      ...{ eventId: '', type: 'POST /hook', endpointId: '', state: 'failed', attempts: 1, replays: 0 },
      status: 400,
    });
  });

  it('a long URL and long headers are cut', () => {
    const long = 'x'.repeat(60_000);
    const message = { ...hook, path: `/${long}`, headers: [['x-service-webhook-id', long] as const] };
    const untyped = { ...inspection, type: undefined };
    const row = rowOf(kept({ message, inspection: untyped, url: `http://127.0.0.1/${long}` }));
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
    expect(row.type).toMatch(/^POST \/x+…$/);
  });

  it('the row has the URL and the verdict of the latest request', () => {
    const refused = { ...inspection, verdict: 'signature_mismatch' };
    const row = rowOf(kept(), kept({ url: 'http://127.0.0.1:3000/b', inspection: refused, status: 401 }));
    expect(row).toMatchObject({ url: 'http://127.0.0.1:3000/b', verdict: 'signature_mismatch' });
  });

  it.each<[string, Parameters<typeof kept>[0], string | undefined]>([
    ['the cause of a forgery', { inspection: mismatch, cause, status: 401 }, 'body reserialised'],
    ['the code of a forgery without a known cause', { inspection: mismatch, status: 401 }, 'signature mismatch'],
    ['that the app accepted a forgery', { inspection: mismatch, cause, status: 200 }, 'accepted, but does not verify'],
    ['why the app refused a valid delivery', { advice, status: 401 }, 'another secret'],
    ['why there is no answer', { problem: 'nothing listens there' }, 'nothing listens there'],
    ['no cause of an acknowledged delivery', { status: 200 }, undefined],
  ])('the row says in short %s', (_, changes, expected) => {
    expect(rowOf(kept({ advice }), kept(changes)).cause).toBe(expected);
  });

  it('a delivery with an earlier failure has failed at least once', () => {
    expect(rowOf(kept({ status: 500 }), kept({ status: 200 }))).toMatchObject({ state: 'delivered', hasFailed: true });
    expect(rowOf(kept({ status: 200 }))).toMatchObject({ hasFailed: false });
  });
});

describe('the details of an attempt on the page of listen', () => {
  const options = { secrets: [SECRET], now, delayMs: 0 } as unknown as ListenOptions;

  it('the details have the request, the answer, and the verdict at the time of the attempt', () => {
    expect(toAttemptDetails(kept(), options)).toEqual({
      ...toAttemptRow(kept()),
      request: {
        ...{ method: 'POST', url: 'http://127.0.0.1:4747/hook', headers: hook.headers },
        body: { text: hook.body.toString(), bytes: hook.body.length, shown: 'text', cut: false },
      },
      answer: {
        ...{ status: 200, headers: [['retry-after', '1']] },
        body: { text: 'answer', bytes: 6, shown: 'text', cut: false },
      },
      verdict: expect.objectContaining({ verdict: 'accepted' }),
    });
    expect(toAttemptDetails(kept({ at: NOW + 301_000 }), options).verdict.verdict).toBe('timestamp_too_old');
  });

  it('there is no answer where none came', () => {
    expect(toAttemptDetails(kept({ problem: 'it was closed' }), options).answer).toBeUndefined();
  });
});
