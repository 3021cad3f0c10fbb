import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { verify } from 'service-webhooks';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Got, serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { CERTIFICATE, KEY } from '../../../../emulator/test/certificate.js';
import { useCli } from '../../support/cli.js';
import { failed, serveSilence } from '../support.js';

const cli = useCli();
const FILE = '.webhooks/20260711T120000.000Z-7f3a9c01.http';
const delivery = {
  secret: SECRET,
  event: sampleEvent('stt.completed', { id: 'evt_7' }),
  at: Date.UTC(2026, 6, 11, 12),
  attempt: 2,
};
const captured = signDelivery(delivery);
const HEADERS: [string, string][] = [['Host', 'then.example'], ['X-Own', 'Café'], ...Object.entries(captured.headers)];

/** What a request says, by the secret and the clock of the program. */
const verified = ({ headers, body }: Pick<Got, 'headers'> & { body: Uint8Array }, more: object = {}) =>
  verify({ headers, body, secret: SECRET, ...more });

/** Writes a capture of a request. */
function capture(headers: readonly (readonly [string, string])[], body: Uint8Array, file = FILE): void {
  const head = headers.map((pair) => `${pair.join(': ')}\r\n`).join('');
  const bytes = Buffer.concat([Buffer.from(`POST /hook?a=1 HTTP/1.1\r\n${head}\r\n`, 'latin1'), body]);
  writeFileSync(join(cli.cwd, file), bytes);
}

beforeEach(() => {
  mkdirSync(join(cli.cwd, '.webhooks'));
  capture(HEADERS, captured.body);
});

/** An app whose certificate is trusted by nobody. */
async function serveTls(): Promise<{ port: number }> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, res) => res.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port };
}

describe('the command replay', () => {
  it.each([FILE, '7f3a9c01', 'evt_7'])(
    'the app gets the same event, signed as of now, for the capture %s',
    async (which) => {
      const app = await serveApp();
      const { exitCode, records } = await cli.run(['replay', which, app.url]);
      expect(exitCode).toBe(0);
      expect(records).toMatchObject([
        { kind: 'replayed', file: FILE, exact: false, url: `${app.url}/hook?a=1`, status: 200 },
      ]);
      const [got] = app.got as [Got];
      const { event, unsigned } = verified(got);
      expect(event.id).toBe('evt_7');
      expect(unsigned).toEqual(verified(captured, { now: () => captured.at }).unsigned);
      expect(got.body).toEqual(Buffer.from(captured.body));
      expect(got.rawHeaders).toEqual(expect.arrayContaining(['X-Own', 'Café']));
      expect(got.headers['host']).toBe(new URL(app.url).host);
      expect(got.headers['x-service-signature-v2']).not.toContain(',t=');
    },
  );

  it('a 404 answer is explained by the path, and its HTML is not printed', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(404).end('<!DOCTYPE html><pre>Cannot POST /</pre>'));
    const { exitCode, stdout } = await cli.run(['replay', '7f3a9c01', app.url, '--text']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/404 .*\n.* no route for POST .*\n.*\n.* as in \d+\/webhooks\.\n/);
    expect(stdout).not.toContain('<pre>');
  });

  it('--exact sends the bytes and headers as they were, and needs no secret', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const env = { WEBHOOK_SECRET: undefined };
    const { exitCode, records } = await cli.run(['replay', FILE, app.url, '--exact'], { env });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ exact: true, status: 401 }]);
    const [got] = app.got as [Got];
    expect(got.body).toEqual(Buffer.from(captured.body));
    expect(got.rawHeaders).toEqual(expect.arrayContaining(HEADERS.slice(1).flat()));
  });

  it('--timeout limits the wait for an answer', async () => {
    const { url } = await serveSilence();
    const { exitCode, records } = await cli.run(['replay', FILE, url, '--timeout', '50ms']);
    expect(exitCode).toBe(4);
    expect(records).toMatchObject([{ problem: 'no answer within 0.05 s' }]);
  });

  it('Ctrl+C ends the wait for an answer at once', async () => {
    const { url, asked } = await serveSilence();
    const { signal, ended } = cli.start(['replay', FILE, url]);
    await asked;
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' });
  });

  it('--header-prefix sets the prefix of the signature headers', async () => {
    const app = await serveApp();
    const { headers, body } = signDelivery({ ...delivery, headerPrefix: 'x-vendor' });
    capture(Object.entries(headers), body);
    await cli.run(['replay', FILE, app.url, '--header-prefix', 'X-Vendor']);
    expect(verified(app.got[0] as Got, { headerPrefix: 'x-vendor' }).event.id).toBe('evt_7');
  });

  it('--attempt sets the attempt header, and a path in the URL replaces that of the capture', async () => {
    const app = await serveApp();
    await cli.run(['replay', 'evt_7', `${app.url}/other`, '--attempt', '5']);
    expect(app.got).toMatchObject([{ path: '/other', headers: { 'x-service-attempt': '5' } }]);
  });

  it('--captures names the directory, and an event id its newest capture', async () => {
    mkdirSync(join(cli.cwd, 'kept'));
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, 'kept/20260711T120000.000Z-00000001.http'));
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, 'kept/20260711T120500.000Z-00000002.http'));
    writeFileSync(join(cli.cwd, 'kept/20260711T130000.000Z-00000003.http'), 'junk');
    const app = await serveApp();
    const { records } = await cli.run(['replay', 'evt_7', app.url, '--captures', 'kept']);
    expect(records).toMatchObject([{ file: 'kept/20260711T120500.000Z-00000002.http' }]);
  });

  it('--exact sends a capture of listen byte for byte', async () => {
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

  it('--last sends the newest capture, and several are named by the beginning of their ids', async () => {
    copyFileSync(join(cli.cwd, FILE), join(cli.cwd, '.webhooks/20260711T120001.000Z-02bd9c02.http'));
    const app = await serveApp();
    const last = await cli.run(['replay', '--last', app.url]);
    expect(last.records).toMatchObject([{ file: expect.stringContaining('02bd9c02'), status: 200 }]);
    const several = await cli.run(['replay', '7f3a', '02bd', `${app.port}`]);
    expect(several.records).toMatchObject([{ file: FILE }, { file: expect.stringContaining('02bd9c02') }]);
    expect(app.got).toHaveLength(3);
  });

  it('a secret from stdin is read once for several captures', async () => {
    capture(HEADERS, captured.body, '.webhooks/20260711T120001.000Z-02bd9c02.http');
    const app = await serveApp();
    const ended = await cli.run(['replay', '7f3a', '02bd', app.url, '--secret', '-'], { stdin: `${SECRET}\n` });
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(app.got).toHaveLength(2);
  });

  it('replay needs either a capture or --last, and refuses both', async () => {
    expect(await cli.run(['replay'])).toMatchObject(failed(2, '--last'));
    expect(await cli.run(['replay', '--last', '7f3a9c01', '3000'])).toMatchObject({ exitCode: 2 });
  });

  it('--insecure is needed for a certificate that is not trusted', async () => {
    const { port } = await serveTls();
    const url = `https://localhost:${port}/hook`;
    const refused = await cli.run(['replay', FILE, url]);
    expect(refused.records).toMatchObject([{ advice: { fix: expect.stringContaining('--insecure') } }]);
    expect((await cli.run(['replay', FILE, url, '--insecure'])).exitCode).toBe(0);
  });
});

describe('replay of a capture that the secret has not signed', () => {
  const { 'x-service-signature-v2': v2 = '', ...others } = captured.headers;
  const unverified = [
    ['an unsigned request', 'missing_signature', signDelivery(delivery).body, []],
    ['a forged request', 'signature_mismatch', captured.body, Object.entries(signDelivery({ ...delivery, secret: 'x' }).headers)],
    ['a request with another body', 'signature_mismatch', Buffer.from('{"id":"evt_7"}'), Object.entries(captured.headers)],
    ['a request with only the legacy signature', 'legacy_not_accepted', captured.body, Object.entries(others)],
    ['a request with two signatures', 'malformed_signature', captured.body, [...Object.entries(captured.headers), ['X-Service-Signature-V2', v2]]],
    ['a request that says that it was verified', 'missing_signature', captured.body, [['X-Service-Webhooks-Verdict', 'verified']]],
  ] as const; // biome-ignore format: a row each

  it.each(unverified)('%s is not signed: %s', async (_, code, body, headers) => {
    capture(headers, body);
    const app = await serveApp();
    const ended = await cli.run(['replay', '7f3a9c01', app.url]);
    for (const says of [FILE, code, '--exact', '--sign-unverified', '--secret'])
      expect(ended).toMatchObject(failed(2, says));
    expect(app.got).toEqual([]);
  });

  it('a forgery that listen has captured is not signed', async () => {
    const listen = cli.start(['listen', '--port', '0', '--capture']);
    const { url } = await listen.next('listening');
    const forged = tamper.wrongSecret(signDelivery({ secret: SECRET, event: sampleEvent('stt.completed') }));
    await fetch(String(url), { method: 'POST', headers: forged.headers, body: Buffer.from(forged.body) });
    const { capture } = await listen.next('delivery');
    const app = await serveApp();
    const ended = await cli.run(['replay', String(capture), app.url]);
    expect(ended).toMatchObject(failed(2, 'signature_mismatch'));
    expect(app.got).toEqual([]);
  });

  it('a request without the fields of --redact is not signed either', async () => {
    capture([], captured.body);
    const app = await serveApp();
    expect(await cli.run(['replay', FILE, app.url, '--redact', 'data.clipId'])).toMatchObject({ exitCode: 2 });
    expect(app.got).toEqual([]);
  });

  it('--exact sends the request as it came, and --sign-unverified signs it', async () => {
    capture([['X-Own', 'a']], captured.body);
    const app = await serveApp();
    expect((await cli.run(['replay', FILE, app.url, '--exact'])).exitCode).toBe(0);
    expect((await cli.run(['replay', FILE, app.url, '--sign-unverified'])).exitCode).toBe(0);
    const [exact, signed] = app.got as [Got, Got];
    expect(exact.headers).not.toHaveProperty('x-service-signature-v2');
    expect(verified(signed).event.id).toBe('evt_7');
  });

  it('a capture signed with an old secret is signed where that secret is passed too', async () => {
    const old = signDelivery({ ...delivery, secret: 'the secret of then' });
    capture(Object.entries(old.headers), old.body);
    const app = await serveApp();
    const env = { OLD_SECRET: 'the secret of then' };
    expect((await cli.run(['replay', FILE, app.url], { env })).exitCode).toBe(2);
    const both = ['--secret', 'env:WEBHOOK_SECRET', '--secret', 'env:OLD_SECRET'];
    expect((await cli.run(['replay', FILE, app.url, ...both], { env })).exitCode).toBe(0);
    expect(verified(app.got[0] as Got).event.id).toBe('evt_7');
  });

  it('a capture with only the legacy signature is signed with --legacy accept', async () => {
    capture(Object.entries(others), captured.body);
    const app = await serveApp();
    expect((await cli.run(['replay', FILE, app.url, '--legacy', 'accept'])).exitCode).toBe(0);
  });

  it('--sign-unverified is refused together with --exact', async () => {
    const ended = await cli.run(['replay', '7f3a9c01', '1', '--sign-unverified', '--exact']);
    expect(ended).toMatchObject(failed(2, 'leave --sign-unverified out'));
  });

  it('the options of a queue are refused, because queue replay sends dead letters', async () => {
    const ended = await cli.run(['replay', '17', '3000', '--sqlite', 'webhooks.db']);
    expect(ended).toMatchObject(failed(2, "unknown option '--sqlite'"));
  });
});

describe('the command captures list', () => {
  const listed = {
    ...{ kind: 'capture', id: '7f3a9c01', file: FILE, at: '2026-07-11T12:00:00.000Z' },
    ...{ type: 'stt.completed', eventId: 'evt_7', bytes: captured.body.length },
  };

  it('the newest capture is the first, each with whether the secret has signed it', async () => {
    const [forgery, junk] = ['0100.000Z-02bd9c02', '0200.000Z-02bd9c03'].map(
      (end) => `.webhooks/20260711T12${end}.http`,
    ) as [string, string];
    capture([], captured.body, forgery);
    writeFileSync(join(cli.cwd, junk), 'junk');
    const { exitCode, records } = await cli.run(['captures', 'list']);
    expect(exitCode).toBe(0);
    expect(records).toEqual([
      expect.objectContaining({ file: junk, verified: false }),
      { ...listed, id: '02bd9c02', file: forgery, at: '2026-07-11T12:01:00.000Z', verified: false },
      { ...listed, verified: true },
    ]);
    expect((await cli.run(['captures', 'list', '--text'])).stdout).toMatch(
      /02bd9c02 .*not verified\n7f3a9c01 .*evt_7(?!.*not verified)/,
    );
  });

  it('without a secret, the records say nothing about signatures', async () => {
    const { records } = await cli.run(['captures', 'list'], { env: { WEBHOOK_SECRET: undefined } });
    expect(records).toEqual([listed]);
  });
});
