import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verify } from 'service-webhooks';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CERTIFICATE, KEY } from '../emulator/certificate.js';
import { type Got, serveApp, serveListener } from '../support/app.js';
import { useCli } from '../support/cli.js';
import { SECRET } from '../support/deliveries.js';

const cli = useCli();
const FILE = '.webhooks/20260711T120000.000Z-7f3a9c01.http';
const captured = signDelivery({
  secret: 'the secret of then',
  event: sampleEvent('stt.completed', { id: 'evt_7' }),
  at: Date.UTC(2026, 6, 11, 12),
  attempt: 2,
});
const HEADERS: [string, string][] = [['Host', 'then.example'], ['X-Own', 'Café'], ...Object.entries(captured.headers)];

beforeEach(() => {
  mkdirSync(join(cli.cwd, '.webhooks'));
  const head = HEADERS.map((pair) => pair.join(': ')).join('\r\n');
  const bytes = Buffer.concat([Buffer.from(`POST /hook?a=1 HTTP/1.1\r\n${head}\r\n\r\n`, 'latin1'), captured.body]);
  writeFileSync(join(cli.cwd, FILE), bytes);
});

/** An app whose certificate is trusted by nobody. */
async function serveTls(): Promise<{ port: number }> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, res) => res.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port };
}

describe('replay', () => {
  it.each([FILE, '7f3a9c01', 'evt_7'])('sends %s again, signed anew: the same event, as of now', async (which) => {
    const app = await serveApp();
    const { exitCode, records } = await cli.run(['replay', which, app.url]);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      { kind: 'replayed', file: FILE, exact: false, url: `${app.url}/hook?a=1`, status: 200 },
    ]);
    const [got] = app.got as [Got];
    const { event, unsigned } = verify({ headers: got.headers, body: got.body, secret: SECRET }); // the secret and the clock of now
    expect(event.id).toBe('evt_7');
    expect(unsigned).toEqual(
      verify({ headers: captured.headers, body: captured.body, secret: 'the secret of then', now: () => captured.at })
        .unsigned,
    );
    expect(got.body).toEqual(Buffer.from(captured.body));
    expect(got.rawHeaders).toEqual(expect.arrayContaining(['X-Own', 'Café']));
    expect(got.headers['host']).toBe(new URL(app.url).host);
    expect(got.headers['x-service-signature-v2']).not.toContain(',t=');
  });

  it('explains a 404 by the path, and does not print the page of the answer', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(404).end('<!DOCTYPE html><pre>Cannot POST /</pre>'));
    const { exitCode, stdout } = await cli.run(['replay', '7f3a9c01', app.url, '--text']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/404 .*path/);
    expect(stdout).not.toContain('<pre>');
  });

  it('--exact sends the bytes and headers as they were, and needs no secret', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { exitCode, records } = await cli.run(['replay', FILE, app.url, '--exact'], {
      env: { WEBHOOK_SECRET: undefined },
    });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ exact: true, status: 401 }]);
    const [got] = app.got as [Got];
    expect(got.body).toEqual(Buffer.from(captured.body));
    expect(got.rawHeaders).toEqual(expect.arrayContaining(HEADERS.slice(1).flat()));
  });

  it('replay waits no longer than it was told', async () => {
    const { url } = await serveListener(() => {});
    const { exitCode, records } = await cli.run(['replay', FILE, url, '--timeout', '50ms']);
    expect(exitCode).toBe(4);
    expect(records).toMatchObject([{ problem: 'no answer within 0.05 s' }]);
  });

  it('replay ends at once with Ctrl+C', async () => {
    let asked = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { url } = await serveListener(() => asked());
    const { signal, ended } = cli.start(['replay', FILE, url]);
    await arrived;
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' });
  });

  it('replay signs in the headers that the receiver knows', async () => {
    const app = await serveApp();
    await cli.run(['replay', FILE, app.url, '--header-prefix', 'X-Vendor']);
    const vendor = app.got[0] as Got;
    expect(
      verify({ headers: vendor.headers, body: vendor.body, secret: SECRET, headerPrefix: 'x-vendor' }).event.id,
    ).toBe('evt_7');
  });

  it('--attempt says which attempt it is', async () => {
    const app = await serveApp();
    await cli.run(['replay', 'evt_7', app.url, '--attempt', '5']);
    expect(app.got[0]?.headers['x-service-attempt']).toBe('5');
  });

  it('replay sends to the path of the URL where it has one', async () => {
    const app = await serveApp();
    await cli.run(['replay', 'evt_7', `${app.url}/other`]);
    expect(app.got[0]?.path).toBe('/other');
  });

  it('replay takes the newest capture of an event, from the directory that is named', async () => {
    mkdirSync(join(cli.cwd, 'kept'));
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, 'kept/20260711T120000.000Z-00000001.http'));
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, 'kept/20260711T120500.000Z-00000002.http'));
    writeFileSync(join(cli.cwd, 'kept/20260711T130000.000Z-00000003.http'), 'junk');
    const app = await serveApp();
    const { records } = await cli.run(['replay', 'evt_7', app.url, '--captures', 'kept']);
    expect(records).toMatchObject([{ file: 'kept/20260711T120500.000Z-00000002.http' }]);
  });

  it('replays what listen captured, byte for byte, to where it is sent', async () => {
    const { next, signal, ended } = cli.start(['listen', '--port', '0', '--capture']);
    const { url } = await next('listening');
    const body = Buffer.from([0, 13, 10, 10, 0xff]);
    await cli.run(['send', '--body', '-', `${url}hook`], { stdin: body });
    const { capture } = await next('delivery');
    signal('SIGINT');
    await ended;
    const app = await serveApp();
    expect((await cli.run(['replay', String(capture), app.url, '--exact'])).exitCode).toBe(0);
    expect(app.got).toMatchObject([{ body, path: '/hook' }]);
  });

  it('replay sends the newest capture with --last, and several by the beginning of their ids', async () => {
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, '.webhooks/20260711T120001.000Z-02bd9c02.http'));
    const app = await serveApp();
    const last = await cli.run(['replay', '--last', app.url]);
    expect(last.records).toMatchObject([{ file: expect.stringContaining('02bd9c02'), status: 200 }]);
    const several = await cli.run(['replay', '7f3a', '02bd', `${app.port}`]);
    expect(several.records).toMatchObject([{ file: FILE }, { file: expect.stringContaining('02bd9c02') }]);
    expect(app.got).toHaveLength(3);
  });

  it('replay has to be told what to send, and with --last nothing else', async () => {
    expect(await cli.run(['replay'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--last') });
    expect(await cli.run(['replay', '--last', '7f3a9c01', '3000'])).toMatchObject({ exitCode: 2 });
  });

  it('replay sends to an app with a certificate of its own with --insecure alone', async () => {
    const { port } = await serveTls();
    const url = `https://localhost:${port}/hook`;
    const refused = await cli.run(['replay', FILE, url]);
    expect(refused.records).toMatchObject([{ problem: expect.stringContaining('--insecure') }]);
    expect((await cli.run(['replay', FILE, url, '--insecure'])).exitCode).toBe(0);
  });
});

describe('captures list', () => {
  it('captures list prints the captures, the newest first', async () => {
    const { exitCode, records } = await cli.run(['captures', 'list']);
    expect(exitCode).toBe(0);
    expect(records).toEqual([
      {
        ...{ kind: 'capture', id: '7f3a9c01', file: FILE, at: '2026-07-11T12:00:00.000Z' },
        ...{ type: 'stt.completed', eventId: 'evt_7', bytes: captured.body.length },
      },
    ]);
  });
});
