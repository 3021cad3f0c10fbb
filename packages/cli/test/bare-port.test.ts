import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type Express } from 'express';
import { webhookHandler } from 'service-webhooks/express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveApp, serveListener } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { useCli } from './support/cli.js';

const cli = useCli();

/** A right app, whose receiver is on a path. */
function anApp(path: string): Express {
  const app = express();
  app.post(path, webhookHandler({ secret: SECRET, logger: false, on: { '*': () => {} } }));
  return app;
}

/** An app on the IPv6 loopback address alone; undefined on a machine without one. */
async function serveOnIpv6(listener: RequestListener): Promise<number | undefined> {
  const server = createServer(listener).listen(0, '::1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  onTestFinished(() => void server.close());
  return isListening ? (server.address() as AddressInfo).port : undefined;
}

/** Gives `localhost` both addresses in a program, as most machines have them. */
const BOTH_ADDRESSES = `import dns from 'node:dns';
const { lookup } = dns;
dns.lookup = (host, options, callback) =>
  host === 'localhost'
    ? callback(null, [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }])
    : lookup(host, options, callback);`;

const send = (target: string, ...more: string[]) => cli.run(['send', 'generation.completed', target, ...more]);

describe('a port alone as the target', () => {
  it('send, doctor and replay reach the receiver at /webhooks', async () => {
    const { port } = await serveListener(anApp('/webhooks'));
    const url = `http://localhost:${port}/webhooks`;
    expect(await send(`${port}`)).toMatchObject({ exitCode: 0, records: [{ acknowledged: true, url }] });
    expect(await send(`:${port}`)).toMatchObject({ exitCode: 0, records: [{ acknowledged: true, url }] });
    expect(await cli.run(['doctor', `${port}`, '--only', 'stale'])).toMatchObject({ exitCode: 0 });
    const listen = cli.start(['listen', `${port}`, '--port', '0', '--capture']);
    const { url: own, forwardsTo } = await listen.next('listening');
    expect(forwardsTo).toBe(url);
    expect((await send(`${own}/`)).exitCode).toBe(0);
    await listen.next('delivery');
    listen.signal('SIGINT');
    await listen.ended;
    const replayed = await cli.run(['replay', '--last', `${port}`]);
    expect(replayed).toMatchObject({ exitCode: 0, records: [{ acknowledged: true, url }] });
  });

  it('dev delivers to /webhooks', async () => {
    const { port } = await serveListener(anApp('/webhooks'));
    const dev = cli.start(['dev', `${port}`, '--port', '0', '--emit', 'stt.completed']);
    expect(await dev.next('developing')).toMatchObject({ deliversTo: `http://localhost:${port}/webhooks` });
    expect(await dev.next('attempt')).toMatchObject({ acknowledged: true, status: 200 });
    dev.signal('SIGINT');
    await dev.ended;
  });

  it.each([
    ['/', '/'],
    ['/other', '/other'],
  ])('the path %s behind a port is sent to as it is', async (path, got) => {
    const app = await serveApp();
    await send(`${app.port}${path}`);
    expect(app.got).toMatchObject([{ path: got }]);
  });

  it('the path in service-webhooks.json takes the place of /webhooks', async () => {
    writeFileSync(join(cli.cwd, 'service-webhooks.json'), '{ "path": "/hooks" }');
    const { port } = await serveListener(anApp('/hooks'));
    expect(await send(`${port}`)).toMatchObject({ exitCode: 0 });
  });

  it('an app on the IPv6 loopback address alone is reached', async (context) => {
    const port = await serveOnIpv6(anApp('/webhooks'));
    if (port === undefined) return context.skip();
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BOTH_ADDRESSES)}` };
    const ended = await cli.run(['send', 'generation.completed', `${port}`], { env });
    expect(ended).toMatchObject({ exitCode: 0, records: [{ acknowledged: true }] });
  });
});

describe('an answer that is not from the receiver', () => {
  const notMounted = 'The receiver is not mounted there, or another app answers here.';

  it('send explains a 404 below its line, with the URL, the cause and the path to try', async () => {
    const { port } = await serveListener(anApp('/api/webhooks'));
    const { exitCode, stdout } = await send(`${port}`, '--text');
    expect(exitCode).toBe(1);
    const [line, ...advice] = stdout.split('\n');
    expect(line).toMatch(/^404 {2}not acknowledged {2}\d+ ms {2}/);
    expect(advice).toEqual([
      `   The app at http://localhost:${port} has no route for POST /webhooks.`,
      `   ${notMounted}`,
      `   Name the path where your receiver is mounted, as in ${port}/api/webhooks.`,
      '   A port alone means /webhooks, or the path in service-webhooks.json.',
      '',
    ]);
    expect((await send(`${port}/api/webhooks`)).exitCode).toBe(0);
  });

  it('the record of send has the advice for a 404', async () => {
    const { port } = await serveListener(anApp('/webhooks'));
    const { records } = await send(`http://127.0.0.1:${port}/`);
    const message = `The app at http://127.0.0.1:${port} has no route for POST /. ${notMounted}`;
    const fix = expect.stringContaining(`as in ${port}/webhooks. A port alone means /webhooks`);
    expect(records).toMatchObject([{ status: 404, acknowledged: false, advice: { message, fix } }]);
  });

  it('doctor and replay explain a 404 with the same words', async () => {
    const { port } = await serveListener(anApp('/api/webhooks'));
    const says = `has no route for POST /webhooks.\n   ${notMounted}\n   Name the path where your receiver`;
    expect(await cli.run(['doctor', `${port}`, '--text'])).toMatchObject({
      ...{ exitCode: 1, stdout: expect.stringContaining(says) },
    });
    const captured = 'POST /webhooks HTTP/1.1\r\ncontent-type: application/json\r\n\r\n{}';
    writeFileSync(join(cli.cwd, 'delivery.http'), captured);
    const replay = await cli.run(['replay', 'delivery.http', `${port}`, '--exact', '--text']);
    expect(replay).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(says) });
  });

  it('a 200 with an HTML page is not called acknowledged by send and doctor', async () => {
    const page = '<!doctype html>\n<html><head><title>Vite App</title></head><body></body></html>';
    const { port } = await serveApp((_, __, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(page));
    const { exitCode, stdout } = await send(`${port}`, '--text');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^200 {2}something else answered {2}\d+ ms {2}an HTML page with the title "Vite App" {2}.*\n {3}Another app answers here, with an HTML page\.\n {3}Its title is "Vite App"\.\n/,
    );
    expect(stdout).toContain(`as in ${port}/api/webhooks.\n`);
    const series = await send(`${port}`, '--text', '--count', '2');
    expect(series.stdout).toMatch(/^0 of 2 acknowledged .*\n {2}200 an HTML page {2}2 times\n/);
    expect((await cli.run(['doctor', `${port}`])).records).toMatchObject([
      { verdict: 'failed', diagnosis: 'web_page', evidence: 'answered 200 an HTML page with the title "Vite App"' },
      ...Array.from({ length: 30 }, () => ({ verdict: 'skipped' })),
      { kind: 'summary', failed: 1 },
    ]);
  });

  it('send explains a refusal of the receiver below its line', async () => {
    const app = express().use(express.json());
    app.post('/webhooks', webhookHandler({ secret: SECRET, logger: false, on: { '*': () => {} } }));
    const { port } = await serveListener(app);
    expect((await send(`${port}`, '--text')).stdout).toMatch(
      /^500 {2}not acknowledged .*body_already_parsed.*\n {3}A body parser ran first.*\n {3}Pass the raw body: /,
    );
  });
});
