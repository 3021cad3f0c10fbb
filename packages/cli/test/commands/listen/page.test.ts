import { connect } from 'node:net';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import type { DeliveryRow } from '../../../src/page/page-source.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();

/** What a page that is opened now shows. */
async function rowsOf(page: string): Promise<readonly DeliveryRow[]> {
  const stop = new AbortController();
  const { body } = await fetch(new URL('/page/stream', page), { signal: stop.signal });
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('\n\n')) break;
  }
  stop.abort();
  return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? '{}').deliveries;
}

describe('the page of listen', () => {
  it('has for the search of each delivery its address, its verdict and the cause of a refusal', async () => {
    const app = await serveApp();
    const listen = cli.start(['listen', app.url, '--port', '0', '--ui=0']);
    const { url, page } = await listen.next('listening');
    const good = signDelivery({ secret: SECRET, event: sampleEvent('stt.completed', { id: 'evt_1' }) });
    const bad = tamper.reserialisedBody(
      signDelivery({ secret: SECRET, event: sampleEvent('stt.completed', { id: 'evt_2' }) }),
    );
    for (const one of [good, bad]) {
      await fetch(`${url}hook`, { method: 'POST', headers: one.headers, body: Buffer.from(one.body) });
      await listen.next('delivery');
    }
    expect(await rowsOf(String(page))).toMatchObject([
      { eventId: 'evt_1', url: `${app.url}/hook`, verdict: 'verified' },
      { eventId: 'evt_2', verdict: 'signature_mismatch', cause: expect.stringContaining('body_reserialised') },
    ]);
  });

  it('shows a request whose body broke off, with the reason', async () => {
    const listen = cli.start(['listen', '--port', '0', '--ui=0']);
    const { url, page } = await listen.next('listening');
    const { host, port } = new URL(String(url));
    const socket = connect(Number(port), '127.0.0.1', () => {
      const head = `POST /hook HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\n`;
      socket.write(`${head}half`, () => socket.destroy());
    });
    await listen.next('problem');
    expect(await rowsOf(String(page))).toMatchObject([
      { type: 'POST /hook', state: 'failed', verdict: 'body_incomplete', status: 400 },
    ]);
  });

  it('shows a request whose target is no path, with the command that sends it again', async () => {
    const listen = cli.start(['listen', '--port', '0', '--ui=0']);
    const { url, page } = await listen.next('listening');
    const { host, port } = new URL(String(url));
    for (const path of ['http://other.example/hook', '*', '//other.example/hook']) {
      await exchange(Number(port), toBytes({ path, host, headers: [], body: Buffer.from('{}') }));
    }
    const rows = await rowsOf(String(page));
    expect(rows.map((row) => row.url)).toEqual([`${url}`, `${url}`, `${url}/other.example/hook`]);
    for (const id of ['1', '2', '3']) expect((await fetch(new URL(`/page/curl/${id}`, String(page)))).status).toBe(200);
  });
});
