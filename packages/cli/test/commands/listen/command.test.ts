import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { later, SECRET } from '../../../../../test/support/deliveries.js';
import { answerBytes, STRANGE_STATUSES, serveBytes } from '../../../../../test/support/hostile-app.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { type CliOptions, inside, useCli } from '../../support/cli.js';
import { capturesIn, failed } from '../support.js';
import { aDelivery, runListen } from './run-listen.js';

const cli = useCli();
const listen = (args: readonly string[] = [], options?: CliOptions) => runListen(cli, args, options);
const withoutSecret = { WEBHOOK_SECRET: undefined };
const inCwd = (...names: string[]) => join(cli.cwd, ...names);

describe('listen without an app', () => {
  it('each delivery is verified, printed as one record and answered as a receiver answers', async () => {
    const { post, next, stop, listening } = await listen();
    expect(listening).toMatchObject({ verifies: true });
    expect(await post(aDelivery())).toMatchObject({ status: 200 });
    expect(await next('delivery')).toMatchObject({
      ...{ path: '/hook', verdict: 'verified', scheme: 'v2', type: 'stt.completed', id: 'evt_1', attempt: '1' },
      ...{ status: 200, outcome: 'handled' },
    });
    expect(await post(aDelivery())).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(await next('delivery')).toMatchObject({ outcome: 'duplicate' });
    const records = [{}, {}, {}, { kind: 'ended', deliveries: 2 }];
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '', records });
  });

  it('a refused delivery is printed with the cause', async () => {
    const { post, next } = await listen();
    expect((await post(tamper.reserialisedBody(aDelivery()))).status).toBe(401);
    expect(await next('delivery')).toMatchObject({
      ...{ verdict: 'signature_mismatch', status: 401, type: 'stt.completed', id: 'evt_1' },
      cause: { cause: 'body_reserialised', certainty: 'certain' },
    });
  });

  it('--legacy, --tolerance and --header-prefix change what is accepted', async () => {
    const legacy = { headers: sign({ body: '{}', secret: SECRET, scheme: 'legacy' }), body: Buffer.from('{}') };
    const strict = await listen();
    expect((await strict.post(legacy)).body).toContain('legacy_not_accepted');
    const lenient = await listen(['--legacy', 'accept']);
    // The receiver reads the envelope only when the signature is valid.
    expect((await lenient.post(legacy)).body).toContain('invalid_envelope');
    const event = sampleEvent('stt.completed');
    const late = signDelivery({ secret: SECRET, event, at: Date.now() - 1_000_000 });
    expect((await strict.post(late)).body).toContain('timestamp_too_old');
    expect((await (await listen(['--tolerance', '2000'])).post(late)).status).toBe(200);
    const vendor = await listen(['--header-prefix', 'x-vendor']);
    expect((await vendor.post(signDelivery({ secret: SECRET, event, headerPrefix: 'x-vendor' }))).status).toBe(200);
    expect((await vendor.post(aDelivery())).body).toContain('missing_signature');
  });

  it('--secret - reads the secret from stdin, without its line end', async () => {
    const { post } = await listen(['--secret', '-'], { stdin: `${SECRET}\n`, env: withoutSecret });
    expect((await post(aDelivery())).status).toBe(200);
  });

  it('without a secret every request is acknowledged, and printed as unverified', async () => {
    const { post, next, listening } = await listen([], { env: withoutSecret });
    expect(listening).toMatchObject({ verifies: false });
    const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"outcome":"unverified"}' };
    expect(await post(tamper.wrongSecret(aDelivery()))).toMatchObject(answer);
    expect(await next('delivery')).toMatchObject({ verdict: 'unverified' });
  });

  it('--host sets the address to listen on, also an IPv6 one', async () => {
    expect((await listen(['--host', 'localhost'])).url).toMatch(/^http:\/\/localhost:\d+\/$/);
    if (!networkInterfaces()['lo']?.some(({ address }) => address === '::1')) return;
    expect((await fetch((await listen(['--host', '::1'])).url)).status).toBe(405);
  });

  it('--respond answers every request with its status', async () => {
    const { post } = await listen(['--respond', '503']);
    for (const sent of [aDelivery(), { headers: {}, body: Buffer.from('x') }]) {
      expect(await post(sent)).toMatchObject({ status: 503, body: '{"outcome":"as_told"}' });
    }
  });

  it('--delay sends the same answer later', async () => {
    const { post, next } = await listen(['--delay', '5ms']);
    expect((await post(aDelivery())).status).toBe(200);
    expect((await next('delivery'))['ms']).toBeGreaterThanOrEqual(5);
  });

  it('--events acknowledges other types, and neither prints nor captures them', async () => {
    const { post, next, stop } = await listen(['--events', 'dubbing.failed,stt.failed', '--capture=kept']);
    for (const sent of [aDelivery(), signDelivery({ secret: SECRET, body: '[]' })]) {
      expect(await post(sent)).toMatchObject({ status: 200, body: '{"outcome":"not_subscribed"}' });
    }
    expect((await post(signDelivery({ secret: SECRET, event: sampleEvent('stt.failed') }))).status).toBe(200);
    expect(await next('delivery')).toMatchObject({ type: 'stt.failed' });
    expect((await stop()).records.at(-1)).toEqual({ kind: 'ended', deliveries: 1, directory: 'kept' });
    expect(capturesIn(inCwd('kept'))).toHaveLength(1);
  });
});

describe('listen --capture', () => {
  it('a capture has the exact bytes and headers, for its owner alone and out of git', async () => {
    const { port, next } = await listen(['--capture=kept']);
    const { headers, body } = signDelivery({ secret: SECRET, body: Buffer.from([0, 10, 0xff]) });
    const own = [['X-Own', 'Café'], ['a', '2'], ['X-Own', '3']] as const; // biome-ignore format: in this order
    const all = [...Object.entries(headers), ...own];
    await exchange(port, toBytes({ path: '/a?b', host: `localhost:${port}`, headers: all, body }));
    const { file, capture } = await next('delivery');
    expect(file).toMatch(new RegExp(`^kept/\\d{8}T\\d{6}\\.\\d{3}Z-${capture}\\.http$`));
    const kept = readFileSync(inCwd(String(file)));
    expect(kept.toString('latin1')).toMatch(/^POST \/a\?b HTTP\/1\.1\r\n/);
    expect(kept.toString('latin1')).toContain('\r\nX-Own: Café\r\na: 2\r\nX-Own: 3\r\n');
    expect(kept.subarray(-7)).toEqual(Buffer.from('\r\n\r\n\0\n\xff', 'latin1'));
    expect(statSync(inCwd(String(file))).mode & 0o777).toBe(0o600);
    expect(readFileSync(inCwd('kept/.gitignore'), 'utf8')).toBe('*\n');
  });

  it.skipIf(inside)('acknowledged deliveries are on disk, also when listen is killed', async () => {
    const { post, signal, ended } = await listen(['--capture=kept']);
    const ids = Array.from({ length: 20 }, (_, index) => `evt_${index}`);
    await Promise.all(ids.map((id) => post(aDelivery(id))));
    signal('SIGKILL');
    await ended;
    const idIn = (name: string) => /evt_\d+/.exec(readFileSync(inCwd('kept', name), 'utf8'))?.[0];
    expect(capturesIn(inCwd('kept')).map(idIn).toSorted()).toEqual(ids.toSorted());
  });

  it('a delivery that cannot be captured is answered 503 and not handled', async () => {
    const { post, next } = await listen(['--capture=kept']);
    rmSync(inCwd('kept'), { recursive: true });
    writeFileSync(inCwd('kept'), '');
    expect(await post(aDelivery())).toMatchObject({ status: 503, body: '{"outcome":"not_kept"}' });
    expect(await next('problem')).toMatchObject({ message: expect.stringContaining('a part of the path is a file') });
    rmSync(inCwd('kept'));
    mkdirSync(inCwd('kept'));
    expect(await post(aDelivery())).toMatchObject({ status: 200, body: '{"outcome":"handled"}' });
  });
});

describe('listen with an app', () => {
  it('the app gets the exact bytes and headers, and the sender gets the answer of the app', async () => {
    const said = { 'Retry-After': '7', 'Idempotency-Replayed': 'true', 'Content-Type': 'text/plain' };
    const app = await serveApp((_, __, res) => res.writeHead(418, { ...said, Server: 'a', 'X-Own': '1' }).end('tea'));
    const { post, next } = await listen([`${app.port}/`]);
    const delivery = signDelivery({ secret: SECRET, body: Buffer.from([0, 13, 10, 0xff, 0xc3]) });
    const answer = await post({ ...delivery, headers: { ...delivery.headers, 'X-Own': 'Café' } }, '/a/b?c=%20');
    const headers = { 'retry-after': '7', 'idempotency-replayed': 'true', 'content-type': 'text/plain' };
    expect(answer).toMatchObject({ status: 418, body: 'tea', headers });
    for (const name of ['server', 'x-own']) expect(answer.headers).not.toHaveProperty(name);
    const [got] = app.got;
    expect(got).toMatchObject({ method: 'POST', path: '/a/b?c=%20', body: Buffer.from(delivery.body) });
    expect(got?.rawHeaders).toEqual(expect.arrayContaining([...Object.entries(delivery.headers).flat(), 'Café']));
    expect(got?.headers['host']).toBe(`localhost:${app.port}`);
    expect(await next('delivery')).toMatchObject({
      ...{ verdict: 'invalid_encoding', status: 418 },
      forwarded: { url: `http://localhost:${app.port}/a/b?c=%20`, status: 418, acknowledged: false, answer: 'tea' },
    });
  });

  it('a delivery that does not verify is forwarded to the app too', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { post, next } = await listen([app.url]);
    expect((await post(tamper.stale(aDelivery()))).status).toBe(401);
    expect(await next('delivery')).toMatchObject({ verdict: 'timestamp_too_old', forwarded: { status: 401 } });
  });

  it('--respond replaces the status of the app, which still gets the delivery', async () => {
    const app = await serveApp((_, __, res) => res.end('done'));
    const { post } = await listen([app.url, '--respond', '500']);
    expect(await post(aDelivery())).toMatchObject({ status: 500, body: 'done' });
    expect(app.got).toHaveLength(1);
  });

  const noAnswer = { status: 502, body: '{"outcome":"app_did_not_answer"}' };

  it('where no app listens, the reason is printed and the sender gets 502', async () => {
    const { post, next } = await listen(['http://127.0.0.1:1/hook']);
    expect(await post(aDelivery())).toMatchObject({ ...noAnswer, headers: { 'content-type': 'application/json' } });
    const problem = expect.stringContaining('nothing listens there');
    expect(await next('delivery')).toMatchObject({ forwarded: { problem } });
  });

  it.each(STRANGE_STATUSES)('the sender gets 502 where the app answers the status %s', async (status) => {
    const { url } = await serveBytes(answerBytes(status));
    const { post, next, stop } = await listen([url]);
    expect(await post(aDelivery())).toMatchObject(noAnswer);
    expect(await next('delivery')).toMatchObject({ forwarded: { problem: expect.any(String) }, status: 502 });
    expect((await post(aDelivery())).status).toBe(502);
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['a code of the library', 500, 'body_already_parsed', { fix: expect.stringContaining('raw body') }],
    ['a 404', 404, 'none', { fix: expect.stringContaining('/webhooks') }],
  ])('the advice explains %s in the answer of the app', async (_, status, code, advice) => {
    const app = await serveApp((_, __, res) => res.writeHead(status).end(JSON.stringify({ error: { code } })));
    const { post, next } = await listen([`${app.port}`]);
    await post(aDelivery(), '/');
    expect(await next('delivery')).toMatchObject({ advice });
  });

  it('the types of a --route go to its app, and the others to the default app', async () => {
    const [app, other] = [await serveApp(), await serveApp()];
    const { post, next, listening } = await listen([app.url, '--route', `dubbing.*=${other.url}/dubs`]);
    expect(listening['routes']).toEqual([
      { types: 'dubbing.*', url: `${other.url}/dubs` },
      { types: '*', url: `${app.url}/` },
    ]);
    await post(signDelivery({ secret: SECRET, event: sampleEvent('dubbing.failed') }));
    expect(await next('delivery')).toMatchObject({ forwarded: { url: `${other.url}/dubs`, status: 200 } });
    await post(aDelivery());
    expect(await next('delivery')).toMatchObject({ forwarded: { url: `${app.url}/hook` } });
    expect([app.got.length, other.got.length]).toEqual([1, 1]);
  });

  it('several apps get each delivery, and the sender gets the refusal of one', async () => {
    const app = await serveApp();
    const other = await serveApp((_, __, res) => res.writeHead(500).end());
    const { post, next } = await listen([app.url, '--forward-to', other.url]);
    expect((await post(aDelivery())).status).toBe(500);
    expect(await next('delivery')).toMatchObject({
      forwarded: { url: `${other.url}/hook`, status: 500 },
      alsoForwarded: [{ url: `${app.url}/hook`, status: 200 }],
    });
  });

  it('forwarding to listen itself is refused, under any name of this machine', async () => {
    const { port, server } = await serveApp();
    server.close();
    for (const app of [`${port}`, `http://127.0.0.2:${port}/`, `http://[::1]:${port}/`]) {
      expect(await cli.run(['listen', app, '--port', `${port}`]), app).toMatchObject(failed(2, 'is listen itself'));
    }
  });

  it('-p is another name of --port', async () => {
    const { url } = await serveApp();
    const running = cli.start(['listen', url, '-p', '0', '--json']);
    expect(await running.next('listening')).toMatchObject({ forwardsTo: `${url}/` });
  });

  it('--capture without a value does not swallow the port of the app behind it', async () => {
    const { listening } = await listen(['--capture', '3000']);
    expect(listening).toMatchObject({ forwardsTo: 'http://localhost:3000/webhooks', directory: '.webhooks' });
  });
});

describe('listen that ends', () => {
  it('a request under way is answered before listen ends', async () => {
    const [arrived, answering] = [later(), later()];
    const app = await serveApp(async (_, __, res) => {
      arrived.resolve();
      await answering.promise;
      res.writeHead(202).end();
    });
    const { post, signal, ended } = await listen([app.url]);
    const posted = post(aDelivery());
    await arrived.promise;
    signal('SIGTERM');
    answering.resolve();
    expect((await posted).status).toBe(202);
    expect(await ended).toMatchObject({ exitCode: 0 });
  });

  it('the rest of a body is not waited for after Ctrl+C', async () => {
    const { port, stop } = await listen();
    const head = `POST / HTTP/1.1\r\nHost: localhost:${port}\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`;
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}half`));
    await once(socket, 'data'); // 100 Continue: it is being read
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.skipIf(inside)('no error is printed when the reader of the output has gone', async () => {
    const { post, stopReading, ended } = await listen();
    stopReading();
    await post(aDelivery());
    await post(aDelivery()).catch(() => {});
    expect(await ended).toMatchObject({ stderr: '' });
  });
});

describe('an unusual request to listen', () => {
  it('other methods, compressed bodies and broken bodies are refused', async () => {
    const { port, post, breakOff, next } = await listen();
    const get = toBytes({ method: 'GET', host: `127.0.0.1:${port}`, headers: [], body: new Uint8Array() });
    expect((await exchange(port, get)).status).toBe(405);
    expect(await next('problem')).toMatchObject({ code: 'method_not_allowed' });
    breakOff();
    expect(await next('problem')).toMatchObject({ code: 'body_incomplete' });
    const gzip = { ...aDelivery().headers, 'content-encoding': 'gzip' };
    expect((await post({ headers: gzip, body: Buffer.from('x') })).status).toBe(415);
    expect((await post(aDelivery())).status).toBe(200);
  });

  it('a large request without a signature is answered before its body has come', async () => {
    const { port, next } = await listen();
    const head = `POST /hook HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 8000000\r\n\r\n`;
    const body = expect.stringContaining('missing_signature');
    expect(await exchange(port, Buffer.from(head))).toMatchObject({ status: 401, body });
    expect(await next('problem')).toMatchObject({ code: 'missing_signature', path: '/hook', hint: expect.any(String) });
  });

  it('a body over the limit is refused, without a long search for the cause', async () => {
    const { post, next } = await listen();
    const large = signDelivery({ secret: 'another', body: Buffer.alloc(8 * 1024 * 1024, 120) });
    expect((await post(large)).status).toBe(413);
    expect(await next('delivery')).toMatchObject({ verdict: 'signature_mismatch', bytes: 8 * 1024 * 1024 });
  });

  it('a request with 60 KB of headers is accepted', async () => {
    const { post } = await listen();
    const { headers, body } = aDelivery();
    expect((await post({ headers: { ...headers, 'X-Large': 'x'.repeat(60_000) }, body })).status).toBe(200);
  });
});

describe('a request to listen that a web page may have sent', () => {
  const refused = (code: string) => ({ error: expect.objectContaining({ code }) });
  const from = (headers: Record<string, string>) => {
    const delivery = aDelivery();
    return { ...delivery, headers: { ...delivery.headers, ...headers } };
  };

  it.each(['https://evil.example', 'null', 'http://localhost:5173', 'http://127.0.0.1', 'file://'])(
    'a request with the origin %s is not forwarded',
    async (origin) => {
      const app = await serveApp();
      const { post, next, stop } = await listen([app.url, '--capture=kept']);
      const answer = await post(from({ Origin: origin }));
      expect([answer.status, JSON.parse(answer.body)]).toEqual([403, refused('foreign_origin')]);
      expect(await next('problem')).toMatchObject({ code: 'foreign_origin', message: expect.stringContaining(origin) });
      expect((await stop()).records.at(-1)).toMatchObject({ deliveries: 0 });
      expect([app.got, capturesIn(inCwd('kept'))]).toEqual([[], []]);
    },
  );

  it('a request that the browser marks as cross-site is answered 403', async () => {
    const { post } = await listen();
    for (const site of ['cross-site', 'same-site']) {
      expect((await post(from({ 'Sec-Fetch-Site': site }))).status, site).toBe(403);
    }
  });

  it('a request under a foreign host name is answered 421, against DNS rebinding', async () => {
    const { post, next } = await listen();
    const evil = ['evil.example', 'evil.example:4747', 'localhost.evil.example', '127.0.0.1.evil.example'];
    for (const host of [...evil, '127.0.0.1:1', 'x@localhost']) {
      const answer = await post(aDelivery(), '/hook', host);
      expect([answer.status, JSON.parse(answer.body)], host).toEqual([421, refused('foreign_host')]);
    }
    const { message, hint } = await next('problem');
    expect([message, hint]).toEqual([expect.stringContaining(evil[0] ?? ''), expect.stringContaining('--allow-host')]);
  });

  it('every host name of this listen is accepted where there is no Origin', async () => {
    const { post, port } = await listen(['--host', '127.0.0.1']);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await post(aDelivery(), '/hook', `${name}:${port}`)).status, name).toBe(200);
    }
  });

  it('--allow-host admits the host of a tunnel, with its own origin', async () => {
    const { post } = await listen(['--allow-host', 'me.tunnel.example', '--allow-host', 'Other.Example']);
    for (const host of ['me.tunnel.example', 'ME.tunnel.example:443', 'other.example:8080']) {
      expect((await post(aDelivery(), '/hook', host)).status, host).toBe(200);
    }
    const statusFrom = async (origin: string) =>
      (await post(from({ Origin: origin }), '/', 'me.tunnel.example')).status;
    expect(await statusFrom('https://me.tunnel.example')).toBe(200);
    expect(await statusFrom('https://evil.example')).toBe(403);
    expect((await post(aDelivery(), '/hook', 'you.tunnel.example')).status).toBe(421);
  });

  it.each(['https://me.example', 'me.example:443', 'me.example/a', '', '*'])(
    '--allow-host refuses %j',
    async (host) => {
      const ended = await cli.run(['listen', '--port', '0', `--allow-host=${host}`]);
      expect(ended).toMatchObject(failed(2, 'as in me.tunnel.example'));
    },
  );

  it('an address of this machine is accepted where listen is open to others', async () => {
    const { port, post } = await listen(['--host', '0.0.0.0']);
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
    expect((await fetch(`http://${own}:${port}/`, { method: 'POST' })).status).toBe(401);
    expect((await post(aDelivery(), '/', 'box.example')).status).toBe(421);
  });
});
