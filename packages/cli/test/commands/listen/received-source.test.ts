import { verify } from 'service-webhooks';
import { RETRY_WAITS_MS } from 'service-webhooks/service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Got, serveApp } from '../../../../../test/support/app.js';
import { aDelivery, NOW, now, SECRET } from '../../../../../test/support/deliveries.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import type { KeptRequest } from '../../../src/commands/listen/received-log.js';
import {
  createReceivedSource,
  toAttemptDetails,
  toAttemptRow,
  toDeliveryRow,
} from '../../../src/commands/listen/received-source.js';
import { createRoutes } from '../../../src/commands/listen/routes.js';
import type { HttpMessage } from '../../../src/http/http-message.js';
import type { Change } from '../../../src/page/page-source.js';

const { headers, body } = aDelivery({ at: NOW - 3_600_000 });
const message = {
  method: 'POST',
  path: '/hook?a=1',
  headers: Object.entries(headers),
  body: Buffer.from(body as string),
};
const received = (id?: string) => ({
  ...{ at: NOW - 10, endedAt: NOW - 5, url: 'http://127.0.0.1:4747/hook?a=1', message },
  inspection: { verdict: 'verified', type: 'stt.completed', id, bytes: message.body.length },
  response: { status: 500, headers: {}, body: '' },
});

function aSource(options: Partial<ListenOptions> = {}, ownUrl = 'http://127.0.0.1:1') {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const given = {
    secrets: [SECRET],
    checks: {},
    routes: createRoutes([]),
    now,
    delayMs: 0,
    ...options,
  } as ListenOptions;
  const source = createReceivedSource(given, () => new URL(ownUrl), stop.signal);
  const replay = (delivery: string, exact = false) => Promise.resolve(source.actions.replay?.({ delivery, exact }));
  const send = (type: string) => Promise.resolve(source.actions.send?.({ type }));
  return { source, stop, replay, send };
}

describe('what the page shows of what listen receives', () => {
  it('what the page shows of what listen receives is each delivery with its attempts', () => {
    const { source } = aSource();
    for (const id of ['evt_1', 'evt_2', 'evt_1']) source.add(received(id));
    expect(source.title).toBe('Deliveries received · service-webhooks listen');
    expect(source.snapshot()).toEqual({
      overview: { now: NOW, speed: 1, endpoints: [], failing: 0 },
      deliveries: [expect.objectContaining({ id: 'evt_1', status: 500 }), expect.objectContaining({ id: 'evt_2' })],
    });
    expect(source.delivery('evt_1')).toEqual({
      delivery: source.snapshot().deliveries[0],
      attempts: [
        expect.objectContaining({ id: '1', kind: 'attempt', at: NOW - 10 }),
        expect.objectContaining({ id: '3', kind: 'duplicate' }),
      ],
      waits: RETRY_WAITS_MS,
      offers: ['replay'],
    });
    expect(source.attempt('2')).toMatchObject({ id: '2', request: { url: 'http://127.0.0.1:4747/hook?a=1' } });
  });

  it('what the page shows of what listen receives is marked where the same attempt has come twice', () => {
    const { source } = aSource();
    const attempt = (number: string, id: string | undefined) => {
      const { inspection, ...rest } = received(id);
      source.add({ ...rest, inspection: { ...inspection, attempt: number } });
    };
    for (const number of ['1', '2', '2', '1']) attempt(number, 'evt_1');
    for (let n = 0; n < 2; n += 1) attempt('1', undefined);
    expect(source.delivery('evt_1')?.attempts.map(({ number, kind }) => [number, kind])).toEqual([
      [1, 'attempt'],
      [2, 'attempt'],
      [2, 'duplicate'],
      [1, 'duplicate'],
    ]);
    expect(source.snapshot().deliveries.map(({ duplicates }) => duplicates)).toEqual([2, 0, 0]);
  });

  it('what the page shows of what listen receives has the answer in words, and the exact request', () => {
    const { source } = aSource();
    const body = '{"outcome":"duplicate"}';
    source.add({ ...received('evt_1'), response: { status: 200, headers: { 'idempotency-replayed': 'true' }, body } });
    expect(source.attempt('1')).toMatchObject({ code: 'duplicate', recognised: true });
    expect(source.message('1')).toEqual({ ...message, url: 'http://127.0.0.1:4747/hook?a=1', at: NOW - 10 });
    expect(source.message('2')).toBeUndefined();
    source.add({ ...received('evt_2'), problem: 'no answer within 20 s' });
    expect(source.attempt('2')).not.toHaveProperty('code');
  });

  it('what the page shows of what listen receives begins with the command that sends the first', () => {
    const { source } = aSource({}, 'http://127.0.0.1:4747/');
    const command = 'npx service-webhooks-cli send generation.completed http://127.0.0.1:4747/';
    expect(source.start).toEqual({ text: 'Send one:', command });
  });

  it('what the page shows of what listen receives can be cleared', async () => {
    const { source } = aSource();
    const changes: Change[] = [];
    source.watch((change) => changes.push(change));
    for (const id of ['evt_1', 'evt_2']) source.add(received(id));
    expect(await source.actions.clear?.({})).toBe('2 deliveries are cleared.');
    expect(changes.at(-1)).toMatchObject({ deliveries: [], removed: ['evt_1', 'evt_2'] });
    expect([source.snapshot().deliveries, source.attempt('1')]).toEqual([[], undefined]);
    source.add(received('evt_1'));
    expect(await source.actions.clear?.({})).toBe('1 delivery is cleared.');
  });

  it('what the page shows of what listen receives is nothing where it is not kept', () => {
    const { source } = aSource();
    expect([source.delivery('evt_1'), source.attempt('1')]).toEqual([undefined, undefined]);
  });

  it('what listen receives is sent to each open page as it changes', () => {
    const { source } = aSource();
    const changes: Change[] = [];
    const end = source.watch((change) => changes.push(change));
    source.add(received('evt_1'));
    const { overview, deliveries } = source.snapshot();
    expect(changes).toEqual([{ overview, deliveries, removed: [] }]);
    end();
    source.add(received('evt_2'));
    expect(changes).toHaveLength(1);
  });
});

describe('a delivery that is sent again from the page', () => {
  it('a delivery that is sent again from the page goes to the app, signed as of now, and is kept beside its attempts', async () => {
    const app = await serveApp();
    const { source, replay } = aSource({ routes: createRoutes([new URL(app.url)]) });
    source.add(received('evt_1'));
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

  it('a delivery that is sent again from the page goes as it was, where that is asked for', async () => {
    const app = await serveApp();
    const { source, replay } = aSource({ routes: createRoutes([new URL(app.url)]), secrets: undefined });
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(app.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    await expect(replay('evt_1')).rejects.toThrow(
      'there is no secret to sign it with: send the same bytes and headers',
    );
  });

  it('a delivery that is sent again from the page goes to listen itself where there is no app, which keeps it as it keeps the others', async () => {
    const own = await serveApp();
    const { source, replay } = aSource({}, own.url);
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(own.got).toMatchObject([{ path: '/hook?a=1' }]);
    expect(own.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    expect(source.delivery('evt_1')?.attempts).toHaveLength(1);
  });

  it('a delivery that is sent again from the page is kept with the reason where no app answers', async () => {
    const { source, replay } = aSource({ routes: createRoutes([new URL('http://127.0.0.1:1/')]) });
    source.add(received('evt_1'));
    expect(await replay('evt_1')).toMatch(/^It was sent again: 127\.0\.0\.1:1: nothing listens there/);
    expect(source.delivery('evt_1')?.attempts[1]).toMatchObject({
      problem: expect.stringContaining('nothing listens'),
    });
    expect(source.attempt('2')?.answer).toBeUndefined();
  });

  it('a delivery that is sent again from the page cannot be one that is not kept any more', async () => {
    await expect(aSource().replay('evt_1')).rejects.toThrow('it is not kept any more');
  });

  it('a delivery that is sent again from the page is not waited for after Ctrl+C', async () => {
    const { source, replay, stop } = aSource({ routes: createRoutes([new URL('http://127.0.0.1:1/')]) });
    source.add(received('evt_1'));
    stop.abort();
    await expect(replay('evt_1')).rejects.toThrow(/abort/i);
  });
});

describe('a request that the secret has not signed', () => {
  const forged = { ...message, headers: Object.entries(aDelivery({ secret: 'another' }).headers) };
  const withMessage = (id: string, message: HttpMessage, verdict: string) => {
    const { inspection, ...rest } = received(id);
    return { ...rest, message, inspection: { ...inspection, verdict } };
  };
  const aSourceOf = async (...all: readonly Parameters<ReturnType<typeof aSource>['source']['add']>[0][]) => {
    const app = await serveApp();
    const { source, replay } = aSource({ routes: createRoutes([new URL(app.url)]) });
    for (const one of all) source.add(one);
    return { app, source, replay };
  };

  it.each([
    ['a forged request', forged, 'signature_mismatch'],
    ['an unsigned request', { ...message, headers: [] }, 'missing_signature'],
    ['a forged request with no event', { ...forged, body: Buffer.from('x') }, 'signature_mismatch'],
  ])('%s is not signed by the page, which says why', async (_, sent, verdict) => {
    const { app, source, replay } = await aSourceOf(withMessage('evt_1', sent, verdict));
    const why = 'your secret has not signed it, so anyone may have sent it';
    await expect(replay('evt_1')).rejects.toThrow(why);
    expect(source.delivery('evt_1')).toMatchObject({ offers: ['replay'], cannotSign: expect.stringContaining(why) });
    expect(app.got).toEqual([]);
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
  });

  it('a request without a secret to check it with is not signed by the page, which says why', () => {
    const { source } = aSource({ secrets: undefined });
    source.add(received('evt_1'));
    expect(source.delivery('evt_1')?.cannotSign).toContain('there is no secret');
  });

  it('a forged request with the id of a genuine event is not signed, and does not block the event', async () => {
    const body = Buffer.from(message.body.toString().replace('clip_1', 'clip_2'));
    const { app, source, replay } = await aSourceOf(
      received('evt_1'),
      withMessage('evt_1', { ...forged, body }, 'signature_mismatch'),
    );
    expect(await replay('evt_1')).toBe('It was sent again: 200.');
    expect(app.got[0]?.body).toEqual(message.body);
    expect(source.delivery('evt_1')).not.toHaveProperty('cannotSign');
  });

  it('a delivery that was only too old, or no event, is signed again', async () => {
    const { body } = message;
    const [at, text] = [NOW - 3_600_000, 'no event'];
    const old = { ...message, headers: Object.entries(aDelivery({ at, body }).headers) };
    const noEvent = { ...message, ...aDelivery({ body: text }), body: Buffer.from(text) };
    const { replay } = await aSourceOf(
      withMessage('evt_1', old, 'timestamp_too_old'),
      withMessage('evt_2', { ...noEvent, headers: Object.entries(noEvent.headers) }, 'invalid_json'),
    );
    expect([await replay('evt_1'), await replay('evt_2')]).toEqual(Array(2).fill('It was sent again: 200.'));
  });

  it('r sends a request that was not verified as it came', async () => {
    const { app, source } = await aSourceOf(received('evt_1'), withMessage('evt_1', forged, 'signature_mismatch'));
    expect(await source.replayLast()).toBe('It was sent again: 200.');
    expect(app.got[0]?.rawHeaders).toEqual(expect.arrayContaining(forged.headers.flat()));
  });
});

describe('a sample that is sent from the page', () => {
  it('a sample that is sent from the page goes to listen itself, signed with its secret', async () => {
    const own = await serveApp();
    const { send } = aSource({ checks: { headerPrefix: 'x-vendor' } }, own.url);
    expect(await send('stt.failed')).toBe('stt.failed was sent: 200.');
    const [got] = own.got as [Got];
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET, headerPrefix: 'x-vendor' }).event.type).toBe(
      'stt.failed',
    );
    expect(got.rawHeaders).toEqual(expect.arrayContaining(['X-Vendor-Signature-V2']));
  });

  it('a sample that is sent from the page goes there also where there is no secret', async () => {
    const own = await serveApp();
    const { send } = aSource({ secrets: undefined }, own.url);
    expect(await send('stt.failed')).toBe('stt.failed was sent: 200.');
    expect(own.got[0]?.headers['x-service-signature-v2']).toMatch(/^t=/);
  });

  it('a sample that is sent from the page says why it did not arrive', async () => {
    expect(await aSource().send('stt.failed')).toMatch(/^stt\.failed was sent: 127\.0\.0\.1:1: nothing listens there/);
  });

  it('a sample that is sent from the page is of a type of the service', async () => {
    await expect(aSource().send('stt')).rejects.toThrow('type must be one of the service');
  });
});

const fresh = aDelivery();
const hook = {
  ...{ method: 'POST', path: '/hook', headers: Object.entries(fresh.headers) },
  body: Buffer.from(fresh.body as string),
};
const inspection = { verdict: 'verified', type: 'stt.completed', id: 'evt_1', bytes: hook.body.length };

function kept({
  attempt,
  status = 200,
  ...changes
}: Partial<KeptRequest> & { attempt?: string; status?: number } = {}) {
  return {
    ...{ id: '1', kind: 'attempt', at: NOW, endedAt: NOW + 7, url: 'http://127.0.0.1:4747/hook', message: hook },
    inspection: { ...inspection, attempt },
    response: { status, headers: { 'retry-after': '1' }, body: 'answer' },
    ...changes,
  } as KeptRequest;
}

describe('a request that was received', () => {
  it('a request that was received is an attempt of its delivery', () => {
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
  ])('a request that was received that says it is attempt %s is number %i', (attempt, number) => {
    expect(toAttemptRow(kept(attempt === undefined ? {} : { attempt })).number).toBe(number);
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('a request that was received is acknowledged with %i: %s', (status, acknowledged) => {
    expect(toAttemptRow(kept({ status }))).toMatchObject({ status, acknowledged });
  });

  it('a request that was received that got no answer has the reason in its place', () => {
    const row = toAttemptRow(kept({ problem: 'nothing listens there' }));
    expect(row).toMatchObject({ acknowledged: false, problem: 'nothing listens there' });
    expect(row).not.toHaveProperty('status');
  });
});

describe('a delivery that was received', () => {
  it('a delivery that was received is what its requests say together', () => {
    const first = { ...hook, headers: [['X-Vendor-Webhook-Id', 'endpoint_7'] as const] };
    const requests = [
      kept({ message: first, attempt: '3', status: 500 }),
      kept({ attempt: '1', status: 204, at: NOW + 1 }),
      kept({ kind: 'replay', problem: 'it was closed' }),
    ];
    expect(toDeliveryRow('evt_1', requests, 'X-Vendor')).toEqual({
      ...{ id: 'evt_1', eventId: 'evt_1', type: 'stt.completed', endpointId: 'endpoint_7', state: 'delivered' },
      ...{ attempts: 3, replays: 1, duplicates: 0, redeliveries: 0, test: false },
      ...{ createdAt: NOW, problem: 'it was closed' },
      ...{ url: 'http://127.0.0.1:4747/hook', verdict: 'verified' },
    });
  });

  it('a delivery that was received is none of an event where the body has none, and failed where nothing was acknowledged', () => {
    const anything = kept({
      inspection: { verdict: 'invalid_json', bytes: 1 },
      message: { ...hook, headers: [] },
      status: 400,
    });
    expect(toDeliveryRow('request_1', [anything], 'x-service')).toMatchObject({
      ...{ id: 'request_1', eventId: '', type: 'POST /hook', endpointId: '', state: 'failed', attempts: 1, replays: 0 },
      status: 400,
    });
  });

  it('a delivery that was received is a short row, however long its address and its headers are', () => {
    const long = 'x'.repeat(60_000);
    const headers = [['x-service-webhook-id', long] as const];
    const anything = {
      ...kept({ message: { ...hook, path: `/${long}`, headers } }),
      url: `http://127.0.0.1/${long}`,
    };
    const { id: _, ...inspection } = anything.inspection;
    const row = toDeliveryRow(
      'request_1',
      [{ ...anything, inspection: { ...inspection, type: undefined } }],
      'x-service',
    );
    expect(JSON.stringify(row).length).toBeLessThan(2_000);
    expect(row.type).toMatch(/^POST \/x+…$/);
  });
});

describe('all there is to see of a request', () => {
  const options = { secrets: [SECRET], now, delayMs: 0 } as unknown as ListenOptions;

  it('all there is to see of a request is what came, what was answered, and whether it was genuine then', () => {
    expect(toAttemptDetails(kept(), options)).toEqual({
      ...toAttemptRow(kept()),
      request: {
        ...{ method: 'POST', url: 'http://127.0.0.1:4747/hook', headers: hook.headers },
        body: { text: fresh.body, bytes: hook.body.length, shown: 'text', cut: false },
      },
      answer: {
        ...{ status: 200, headers: [['retry-after', '1']] },
        body: { text: 'answer', bytes: 6, shown: 'text', cut: false },
      },
      verdict: expect.objectContaining({ verdict: 'accepted' }),
    });
    expect(toAttemptDetails(kept({ at: NOW + 301_000 }), options).verdict.verdict).toBe('timestamp_too_old');
  });

  it('all there is to see of a request has no answer where there was none', () => {
    expect(toAttemptDetails(kept({ problem: 'it was closed' }), options).answer).toBeUndefined();
  });
});

describe('the row of a delivery that was received', () => {
  const rowOf = (...requests: KeptRequest[]) => toDeliveryRow('evt_1', requests, 'x-service');

  it('has what the page searches: the address, the verdict and the cause of the latest request', () => {
    const refused = { ...inspection, verdict: 'signature_mismatch' };
    const cause = 'body_reserialised The body is JSON that was parsed and written again.';
    const row = rowOf(kept(), kept({ url: 'http://127.0.0.1:3000/b', inspection: refused, cause, status: 401 }));
    expect(row).toMatchObject({ url: 'http://127.0.0.1:3000/b', verdict: 'signature_mismatch', cause });
  });

  it('has no cause where the latest request is accepted', () => {
    expect(rowOf(kept({ cause: 'secret_wrong' }), kept())).not.toHaveProperty('cause');
  });
});
