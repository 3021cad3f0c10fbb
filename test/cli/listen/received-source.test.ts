import { verify } from 'service-webhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ListenOptions } from '../../../src/cli/listen/options.js';
import { createReceivedSource } from '../../../src/cli/listen/received-source.js';
import { RETRY_WAITS_MS } from '../../../src/emulator/delivery/schedule.js';
import type { Change } from '../../../src/page/page-source.js';
import { type Got, serveApp } from '../../support/app.js';
import { aDelivery, NOW, now, SECRET } from '../../support/deliveries.js';

const { headers, body } = aDelivery({ at: NOW - 3_600_000 });
const message = {
  method: 'POST',
  path: '/hook?a=1',
  headers: Object.entries(headers),
  body: Buffer.from(body as string),
};
const received = (id?: string) => ({
  ...{ at: NOW - 10, endedAt: NOW - 5, url: 'http://127.0.0.1:4747/hook?a=1', message },
  seen: { verdict: 'verified', type: 'stt.completed', id, bytes: message.body.length },
  response: { status: 500, headers: {}, body: '' },
});

function aSource(options: Partial<ListenOptions> = {}, ownUrl = 'http://127.0.0.1:1') {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const given = { secrets: [SECRET], now, delayMs: 0, ...options } as ListenOptions;
  const source = createReceivedSource(given, () => new URL(ownUrl), stop.signal);
  const replay = (delivery: string, exact = false) => Promise.resolve(source.actions.replay?.({ delivery, exact }));
  const send = (type: string) => Promise.resolve(source.actions.send?.({ type }));
  return { source, stop, replay, send };
}

describe('what the page shows of what listen receives', () => {
  it('is each delivery with its attempts', () => {
    const { source } = aSource();
    for (const id of ['evt_1', 'evt_2', 'evt_1']) source.add(received(id));
    expect(source.title).toBe('Deliveries that were received');
    expect(source.snapshot()).toEqual({
      overview: { now: NOW, speed: 1, endpoints: [], failing: 0 },
      deliveries: [expect.objectContaining({ id: 'evt_1', status: 500 }), expect.objectContaining({ id: 'evt_2' })],
    });
    expect(source.delivery('evt_1')).toEqual({
      delivery: source.snapshot().deliveries[0],
      attempts: [
        expect.objectContaining({ id: '1', kind: 'attempt', at: NOW - 10 }),
        expect.objectContaining({ id: '3' }),
      ],
      waits: RETRY_WAITS_MS,
      offers: ['replay'],
    });
    expect(source.attempt('2')).toMatchObject({ id: '2', request: { url: 'http://127.0.0.1:4747/hook?a=1' } });
  });

  it('is nothing where it is not kept', () => {
    const { source } = aSource();
    expect([source.delivery('evt_1'), source.attempt('1')]).toEqual([undefined, undefined]);
  });

  it('is told as it changes, to whoever watches', () => {
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
  it('goes to the app, signed as of now, and is kept beside its attempts', async () => {
    const app = await serveApp();
    const { source, replay } = aSource({ target: new URL(app.url) });
    source.add(received('evt_1'));
    expect(await replay('evt_1')).toBe('It was sent again: 200.');
    const [got] = app.got as [Got];
    expect(got).toMatchObject({ method: 'POST', path: '/hook?a=1', body: message.body });
    expect(verify({ ...got, secret: SECRET, now }).signedAt).toBe(NOW);
    expect(source.delivery('evt_1')).toMatchObject({
      delivery: { attempts: 1, replays: 1, status: 200 },
      attempts: [{ kind: 'attempt' }, { id: '2', kind: 'replay', at: NOW, endedAt: NOW, status: 200 }],
    });
    expect(source.attempt('2')?.request.url).toBe(`${app.url}/hook?a=1`);
  });

  it('goes as it was, where that is asked for', async () => {
    const app = await serveApp();
    const { source, replay } = aSource({ target: new URL(app.url), secrets: undefined });
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(app.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    await expect(replay('evt_1')).rejects.toThrow('there is no secret to sign it with: send it as it was');
  });

  it('goes to listen itself where there is no app, which keeps it as it keeps the others', async () => {
    const own = await serveApp();
    const { source, replay } = aSource({}, own.url);
    source.add(received('evt_1'));
    expect(await replay('evt_1', true)).toBe('It was sent again: 200.');
    expect(own.got).toMatchObject([{ path: '/hook?a=1' }]);
    expect(own.got[0]?.rawHeaders).toEqual(expect.arrayContaining(message.headers.flat()));
    expect(source.delivery('evt_1')?.attempts).toHaveLength(1);
  });

  it('is kept with the reason where nobody answers', async () => {
    const { source, replay } = aSource({ target: new URL('http://127.0.0.1:1/') });
    source.add(received('evt_1'));
    expect(await replay('evt_1')).toMatch(/^It was sent again: 127\.0\.0\.1:1: nothing listens there/);
    expect(source.delivery('evt_1')?.attempts[1]).toMatchObject({
      problem: expect.stringContaining('nothing listens'),
    });
    expect(source.attempt('2')?.answer).toBeUndefined();
  });

  it('cannot be one that is not kept any more', async () => {
    await expect(aSource().replay('evt_1')).rejects.toThrow('it is not kept any more');
  });

  it('is not waited for after Ctrl+C', async () => {
    const { source, replay, stop } = aSource({ target: new URL('http://127.0.0.1:1/') });
    source.add(received('evt_1'));
    stop.abort();
    await expect(replay('evt_1')).rejects.toThrow(/abort/i);
  });
});

describe('a sample that is sent from the page', () => {
  it('goes to listen itself, signed with its secret', async () => {
    const own = await serveApp();
    const { send } = aSource({ headerPrefix: 'x-vendor' }, own.url);
    expect(await send('stt.failed')).toBe('stt.failed was sent: 200.');
    const [got] = own.got as [Got];
    expect(verify({ ...got, secret: SECRET, headerPrefix: 'x-vendor' }).event.type).toBe('stt.failed');
    expect(got.rawHeaders).toEqual(expect.arrayContaining(['X-Vendor-Signature-V2']));
  });

  it('goes there also where there is no secret', async () => {
    const own = await serveApp();
    const { send } = aSource({ secrets: undefined }, own.url);
    expect(await send('stt.failed')).toBe('stt.failed was sent: 200.');
    expect(own.got[0]?.headers['x-service-signature-v2']).toMatch(/^t=/);
  });

  it('says why it did not arrive', async () => {
    expect(await aSource().send('stt.failed')).toMatch(/^stt\.failed was sent: 127\.0\.0\.1:1: nothing listens there/);
  });

  it('is of a type of the service', async () => {
    await expect(aSource().send('stt')).rejects.toThrow('type must be one of the service');
  });
});
