import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { answerBytes, STRANGE_STATUSES, serveBytes } from '../../../../../test/support/hostile-app.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { type CliOptions, inside, useCli } from '../../support/cli.js';

const cli = useCli();

async function listen(args: readonly string[] = [], options?: CliOptions) {
  const running = cli.start(['listen', '--port', '0', ...args], options);
  const listening = await running.next('listening');
  const { port } = new URL(String(listening['url']));
  return {
    ...running,
    listening,
    port: Number(port),
    post: (
      delivery: { headers: Record<string, string>; body: Uint8Array },
      path = '/hook',
      host = `127.0.0.1:${port}`,
    ) =>
      exchange(Number(port), toBytes({ path, host, headers: Object.entries(delivery.headers), body: delivery.body })),
    async stop() {
      running.signal('SIGINT');
      return running.ended;
    },
  };
}

const aDelivery = (id = 'evt_1') => signDelivery({ secret: SECRET, event: sampleEvent('stt.completed', { id }) });

describe('listen', () => {
  it('listen verifies each delivery, says so in one record, and answers as a receiver does', async () => {
    const { post, next, stop, listening } = await listen();
    expect(listening).toMatchObject({ verifies: true });
    expect(await post(aDelivery())).toMatchObject({ status: 200 });
    expect(await next('delivery')).toMatchObject({
      path: '/hook',
      verdict: 'verified',
      scheme: 'v2',
      type: 'stt.completed',
      id: 'evt_1',
      attempt: '1',
      status: 200,
      outcome: 'handled',
    });
    expect(await post(aDelivery())).toMatchObject({ status: 200, headers: { 'idempotency-replayed': 'true' } });
    expect(await next('delivery')).toMatchObject({ outcome: 'duplicate' });
    expect(await stop()).toMatchObject({
      exitCode: 0,
      stderr: '',
      records: [{}, {}, {}, { kind: 'ended', deliveries: 2 }],
    });
  });

  it('listen looks at deliveries as the app does: legacy, tolerance, names of headers', async () => {
    const legacy = { headers: sign({ body: '{}', secret: SECRET, scheme: 'legacy' }), body: Buffer.from('{}') };
    const strict = await listen();
    expect((await strict.post(legacy)).body).toContain('legacy_not_accepted');
    const lenient = await listen(['--legacy', 'accept']);
    expect((await lenient.post(legacy)).body).toContain('invalid_envelope'); // so the signature holds
    const event = sampleEvent('stt.completed');
    const late = signDelivery({ secret: SECRET, event, at: Date.now() - 1_000_000 });
    expect((await strict.post(late)).body).toContain('timestamp_too_old');
    expect((await (await listen(['--tolerance', '2000'])).post(late)).status).toBe(200);
    const vendor = await listen(['--header-prefix', 'x-vendor']);
    expect((await vendor.post(signDelivery({ secret: SECRET, event, headerPrefix: 'x-vendor' }))).status).toBe(200);
    expect((await vendor.post(aDelivery())).body).toContain('missing_signature');
  });

  it('listen takes headers that are larger than most servers take', async () => {
    const { post } = await listen();
    const { headers, body } = aDelivery();
    expect((await post({ headers: { ...headers, 'X-Large': 'x'.repeat(60_000) }, body })).status).toBe(200);
  });

  it('--host says where to listen', async () => {
    const { listening } = await listen(['--host', 'localhost']);
    expect(listening['url']).toMatch(/^http:\/\/localhost:\d+\/$/);
  });

  it.skipIf(!networkInterfaces()['lo']?.some(({ address }) => address === '::1'))('has a URL on IPv6 too', async () => {
    const { listening } = await listen(['--host', '::1']);
    expect((await fetch(String(listening['url']))).status).toBe(405);
  });

  it('listen says at its end how many requests there were, and where they are kept', async () => {
    const { post, stop } = await listen(['--capture=kept']);
    await post(aDelivery());
    expect((await stop()).records.at(-1)).toEqual({ kind: 'ended', deliveries: 1, directory: 'kept' });
  });

  it('listen says why a delivery is refused', async () => {
    const { post, next } = await listen();
    expect((await post(tamper.reserialisedBody(aDelivery()))).status).toBe(401);
    expect(await next('delivery')).toMatchObject({
      verdict: 'signature_mismatch',
      status: 401,
      cause: { cause: 'body_reserialised', certainty: 'certain' },
    });
  });

  it('listen reads the secret from a file and from stdin, and does not mind the end of the line', async () => {
    const one = await listen(['--secret', '-'], { stdin: `${SECRET}\n`, env: { WEBHOOK_SECRET: undefined } });
    expect((await one.post(aDelivery())).status).toBe(200);
  });

  it('listen without a secret takes everything, and says that nothing is verified', async () => {
    const { post, next, listening } = await listen([], { env: { WEBHOOK_SECRET: undefined } });
    expect(listening).toMatchObject({ verifies: false });
    expect((await post(tamper.wrongSecret(aDelivery()))).status).toBe(200);
    expect(await next('delivery')).toMatchObject({ verdict: 'unverified' });
  });

  it('listen hands the exact bytes and every header to the app, and answers what the app answers', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(418, { 'retry-after': '7', 'x-own': '1' }).end('tea'));
    const { post, next } = await listen([`${app.port}`]);
    const delivery = signDelivery({ secret: SECRET, body: Buffer.from([0, 13, 10, 0xff, 0xc3]) });
    const answer = await post({ ...delivery, headers: { ...delivery.headers, 'X-Own': 'Café' } }, '/a/b?c=%20');
    expect(answer).toMatchObject({ status: 418, body: 'tea', headers: { 'retry-after': '7' } });
    const [got] = app.got;
    expect(got).toMatchObject({ method: 'POST', path: '/a/b?c=%20', body: Buffer.from(delivery.body) });
    expect(got?.rawHeaders).toEqual(expect.arrayContaining(Object.entries(delivery.headers).flat()));
    expect(got?.rawHeaders).toEqual(expect.arrayContaining(['X-Own', 'Café']));
    expect(got?.headers['host']).toBe(`localhost:${app.port}`);
    expect(await next('delivery')).toMatchObject({
      verdict: 'invalid_encoding',
      status: 418,
      forwarded: { url: `http://localhost:${app.port}/a/b?c=%20`, status: 418, acknowledged: false, answer: 'tea' },
    });
  });

  it('listen hands a delivery that does not verify on too: what the app says to it is what is looked for', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { post, next } = await listen([app.url]);
    expect((await post(tamper.stale(aDelivery()))).status).toBe(401);
    expect(await next('delivery')).toMatchObject({ verdict: 'timestamp_too_old', forwarded: { status: 401 } });
  });

  it('listen answers 502 where the app is not there, and says so', async () => {
    const { post, next } = await listen(['http://127.0.0.1:1/hook']);
    expect((await post(aDelivery())).status).toBe(502);
    expect(await next('delivery')).toMatchObject({
      forwarded: { problem: expect.stringContaining('nothing listens there') },
    });
  });

  it('--respond answers that status, whatever comes', async () => {
    const { post } = await listen(['--respond', '503']);
    expect((await post(aDelivery())).status).toBe(503);
    expect((await post({ headers: {}, body: Buffer.from('x') })).status).toBe(503);
  });

  it('--respond answers that status in place of the one of the app, which gets the delivery', async () => {
    const app = await serveApp();
    const { post } = await listen([app.url, '--respond', '500']);
    expect((await post(aDelivery())).status).toBe(500);
    expect(app.got).toHaveLength(1);
  });

  it.skipIf(inside)('--delay answers later, and takes others meanwhile', async () => {
    const { post, next, signal, ended } = await listen(['--delay', '60s', '--capture']);
    const answer = post(aDelivery());
    answer.catch(() => {}); // it is cut off at the end
    const captures = () =>
      readdirSync(join(cli.cwd, '.webhooks')).filter((name) => name.endsWith('.http') && !name.startsWith('.'));
    while (captures().length === 0) await new Promise(setImmediate);
    expect(await Promise.race([answer, 'not yet'])).toBe('not yet');
    signal('SIGINT');
    expect(await next('delivery')).toMatchObject({ verdict: 'verified', capture: expect.any(String) });
    expect((await ended).exitCode).toBe(0);
    expect(captures()).toHaveLength(1);
  });

  it('--delay answers what it would have answered', async () => {
    const { post, next } = await listen(['--delay', '5ms']);
    const begun = performance.now();
    expect((await post(aDelivery())).status).toBe(200);
    const { ms } = await next('delivery');
    expect(ms).toBeGreaterThanOrEqual(5);
    expect(ms).toBeLessThanOrEqual(performance.now() - begun + 1);
  });

  it('--events acknowledges the other types and forgets them', async () => {
    const { post, next, stop } = await listen(['--events', 'dubbing.failed,stt.failed', '--capture']);
    expect(await post(aDelivery())).toMatchObject({ status: 200, body: '{"outcome":"not_subscribed"}' });
    expect((await post(signDelivery({ secret: SECRET, event: sampleEvent('stt.failed') }))).status).toBe(200);
    expect(await next('delivery')).toMatchObject({ type: 'stt.failed' });
    expect((await stop()).records.at(-1)).toMatchObject({ deliveries: 1 });
    expect(readdirSync(join(cli.cwd, '.webhooks')).filter((name) => name.endsWith('.http'))).toHaveLength(1);
  });

  it('--capture keeps the exact bytes and headers, for their owner alone, and out of git', async () => {
    const { post, next } = await listen(['--capture=kept']);
    const delivery = signDelivery({ secret: SECRET, body: Buffer.from([0, 10, 0xff]) });
    await post({ ...delivery, headers: { ...delivery.headers, 'X-Own': 'Café' } }, '/a?b');
    const { file, capture } = await next('delivery');
    expect(file).toMatch(new RegExp(`^kept/\\d{8}T\\d{6}\\.\\d{3}Z-${capture}\\.http$`));
    const kept = readFileSync(join(cli.cwd, String(file)));
    expect(kept.toString('latin1')).toMatch(/^POST \/a\?b HTTP\/1\.1\r\n/);
    expect(kept.toString('latin1')).toContain('\r\nX-Own: Café\r\n');
    expect(kept.subarray(-7)).toEqual(Buffer.from('\r\n\r\n\0\n\xff', 'latin1'));
    expect(statSync(join(cli.cwd, String(file))).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cli.cwd, 'kept/.gitignore'), 'utf8')).toBe('*\n');
  });

  it.skipIf(inside)('listen keeps what it has acknowledged, also when it is killed', async () => {
    const { post, signal, ended } = await listen(['--capture']);
    await Promise.all(Array.from({ length: 20 }, (_, index) => post(aDelivery(`evt_${index}`))));
    signal('SIGKILL');
    await ended;
    const files = readdirSync(join(cli.cwd, '.webhooks')).filter((name) => name.endsWith('.http'));
    const ids = files.map((name) => /evt_\d+/.exec(readFileSync(join(cli.cwd, '.webhooks', name), 'utf8'))?.[0]);
    expect(ids.toSorted()).toEqual(Array.from({ length: 20 }, (_, index) => `evt_${index}`).toSorted());
  });

  it('listen does not acknowledge what it cannot keep', async () => {
    const { post, next } = await listen(['--capture=kept']);
    rmSync(join(cli.cwd, 'kept'), { recursive: true });
    writeFileSync(join(cli.cwd, 'kept'), '');
    expect((await post(aDelivery())).status).toBe(503);
    expect(await next('problem')).toMatchObject({ message: expect.stringContaining('a part of the path is a file') });
  });

  it('listen lets what is being handled end, after Ctrl+C', async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let arrived = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const app = await serveApp(async (_, __, res) => {
      arrived();
      await asked;
      res.writeHead(202).end();
    });
    const { post, signal, ended } = await listen([app.url]);
    const posted = post(aDelivery());
    await there;
    signal('SIGTERM');
    answer();
    expect((await posted).status).toBe(202);
    expect(await ended).toMatchObject({ exitCode: 0 });
  });

  it('listen does not wait for the rest of a body, after Ctrl+C', async () => {
    const { port, stop } = await listen();
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST / HTTP/1.1\r\nHost: localhost:${port}\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\nhalf`,
      );
    });
    await once(socket, 'data'); // 100 Continue: it is being read
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.skipIf(inside)('listen ends without an error when the reader of its output has gone', async () => {
    const { post, stopReading, ended } = await listen();
    stopReading();
    await post(aDelivery());
    await post(aDelivery()).catch(() => {});
    expect(await ended).toMatchObject({ stderr: '' });
  });

  it('listen refuses other methods, compressed bodies and bodies that break off, and goes on', async () => {
    const { port, post, next } = await listen();
    const get = toBytes({ method: 'GET', host: `127.0.0.1:${port}`, headers: [], body: new Uint8Array() });
    expect((await exchange(port, get)).status).toBe(405);
    expect(await next('problem')).toMatchObject({ code: 'method_not_allowed' });
    const socket = connect(port, '127.0.0.1', () => {
      const head = `POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 100\r\n\r\n`;
      socket.write(`${head}half`, () => socket.destroy());
    });
    expect(await next('problem')).toMatchObject({ code: 'body_incomplete' });
    const gzip = { ...aDelivery().headers, 'content-encoding': 'gzip' };
    expect((await post({ headers: gzip, body: Buffer.from('x') })).status).toBe(415);
    expect((await post(aDelivery())).status).toBe(200);
  });

  it('listen answers a large request without a signature before its body has come, and shows it', async () => {
    const { port, next } = await listen();
    const head = `POST /hook HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 8000000\r\n\r\n`;
    expect(await exchange(port, Buffer.from(head))).toMatchObject({
      status: 401,
      body: expect.stringContaining('missing_signature'),
    });
    expect(await next('problem')).toMatchObject({ code: 'missing_signature', path: '/hook', hint: expect.any(String) });
  });

  it('listen takes bodies that no receiver would, and does not explain them for minutes', async () => {
    const { post, next } = await listen();
    const large = signDelivery({ secret: 'another', body: Buffer.alloc(8 * 1024 * 1024, 120) });
    expect((await post(large)).status).toBe(413);
    expect(await next('delivery')).toMatchObject({ verdict: 'signature_mismatch', bytes: 8 * 1024 * 1024 });
  });

  it('listen refuses to forward to itself, under any name of this machine', async () => {
    const { port } = await serveApp().then(({ port, server }) => {
      server.close();
      return { port };
    });
    for (const app of [`${port}`, `http://127.0.0.2:${port}/`, `http://[::1]:${port}/`]) {
      const { exitCode, stderr } = await cli.run(['listen', app, '--port', `${port}`]);
      expect({ exitCode, stderr }, app).toEqual({ exitCode: 2, stderr: expect.stringContaining('is listen itself') });
    }
  });

  it('listen says what the code in the answer of the app means', async () => {
    const body = JSON.stringify({ error: { code: 'body_already_parsed' } });
    const app = await serveApp((_, __, res) => res.writeHead(500).end(body));
    const { post, next } = await listen([app.url]);
    await post(aDelivery());
    expect(await next('delivery')).toMatchObject({
      advice: { code: 'body_already_parsed', message: expect.stringContaining('parser'), fix: expect.any(String) },
    });
  });

  it.each(STRANGE_STATUSES)('listen answers 502 where the app answers the status %s, and goes on', async (status) => {
    const { url } = await serveBytes(answerBytes(status));
    const { post, next, stop } = await listen([url]);
    expect(await post(aDelivery())).toMatchObject({ status: 502, body: '{"outcome":"app_did_not_answer"}' });
    expect(await next('delivery')).toMatchObject({ forwarded: { problem: expect.any(String) }, status: 502 });
    expect((await post(aDelivery())).status).toBe(502);
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('listen asks about the path where the app answers 404', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(404).end());
    const { post, next } = await listen([`${app.port}`]);
    await post(aDelivery(), '/');
    expect(await next('delivery')).toMatchObject({ advice: { fix: expect.stringContaining(`${app.port}/webhooks`) } });
  });

  it('listen forwards the types of a route to its app, and the others to the app', async () => {
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

  it('listen forwards to several apps, and answers with the refusal of any of them', async () => {
    const app = await serveApp();
    const other = await serveApp((_, __, res) => res.writeHead(500).end());
    const { post, next } = await listen([app.url, '--forward-to', other.url]);
    expect((await post(aDelivery())).status).toBe(500);
    expect(await next('delivery')).toMatchObject({
      forwarded: { url: `${other.url}/hook`, status: 500 },
      alsoForwarded: [{ url: `${app.url}/hook`, status: 200 }],
    });
  });

  it('listen is also called forward, and its port is also -p', async () => {
    const app = await serveApp();
    const running = cli.start(['forward', app.url, '-p', '0']);
    expect(await running.next('listening')).toMatchObject({ forwardsTo: `${app.url}/` });
  });
});

describe('a request that a page in a browser may have sent', () => {
  const refused = (code: string) => ({ error: expect.objectContaining({ code }) });

  it.each(['https://evil.example', 'null', 'http://localhost:5173', 'http://127.0.0.1', 'file://'])(
    'it is refused with the origin %s, and does not reach the app',
    async (origin) => {
      const app = await serveApp();
      const { post, next, stop } = await listen([app.url, '--capture=kept']);
      const { headers, body } = aDelivery();
      const answer = await post({ headers: { ...headers, Origin: origin }, body });
      expect([answer.status, JSON.parse(answer.body)]).toEqual([403, refused('foreign_origin')]);
      expect(await next('problem')).toMatchObject({ code: 'foreign_origin', message: expect.stringContaining(origin) });
      expect((await stop()).records.at(-1)).toMatchObject({ deliveries: 0 });
      expect(app.got).toEqual([]);
      expect(readdirSync(join(cli.cwd, 'kept')).filter((name) => name.endsWith('.http'))).toEqual([]);
    },
  );

  it.each(['cross-site', 'same-site'])('it is refused where the browser says that it is %s', async (site) => {
    const { post } = await listen();
    const { headers, body } = aDelivery();
    expect((await post({ headers: { ...headers, 'Sec-Fetch-Site': site }, body })).status).toBe(403);
  });

  it.each([
    'evil.example',
    'evil.example:4747',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1:1',
    'x@localhost',
  ])('it is refused under the host %s, which DNS may have moved here', async (host) => {
    const { post, next } = await listen();
    const answer = await post(aDelivery(), '/hook', host);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([421, refused('foreign_host')]);
    const { message, hint } = await next('problem');
    expect(message).toContain(host);
    expect(hint).toContain('--allow-host');
  });

  it('a request without an origin is taken under each name of listen', async () => {
    const { post, port } = await listen(['--host', '127.0.0.1']);
    for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await post(aDelivery(), '/hook', `${name}:${port}`)).status, name).toBe(200);
    }
  });

  it('the host of a tunnel is taken where --allow-host names it, also with its own origin', async () => {
    const { post } = await listen(['--allow-host', 'me.tunnel.example', '--allow-host', 'Other.Example']);
    for (const host of ['me.tunnel.example', 'ME.tunnel.example:443', 'other.example:8080']) {
      expect((await post(aDelivery(), '/hook', host)).status, host).toBe(200);
    }
    const { headers, body } = aDelivery();
    const from = (origin: string) => post({ headers: { ...headers, Origin: origin }, body }, '/', 'me.tunnel.example');
    expect((await from('https://me.tunnel.example')).status).toBe(200);
    expect((await from('https://evil.example')).status).toBe(403);
    expect((await post(aDelivery(), '/hook', 'you.tunnel.example')).status).toBe(421);
  });

  it.each(['https://me.example', 'me.example:443', 'me.example/a', '', '*'])(
    '--allow-host %s is no host',
    async (host) => {
      const { exitCode, stderr } = await cli.run(['listen', '--port', '0', `--allow-host=${host}`]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('as in me.tunnel.example') });
    },
  );

  it('the address of this machine on which it arrives is taken where listen is open to others', async () => {
    const { port, post } = await listen(['--host', '0.0.0.0']);
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const own = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
    expect((await fetch(`http://${own}:${port}/`, { method: 'POST' })).status).toBe(401);
    expect((await post(aDelivery(), '/', 'box.example')).status).toBe(421);
  });
});
