import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { build } from 'esbuild';
import express, { type RequestHandler } from 'express';
import { sign } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import Stripe from 'stripe';
import { Webhook } from 'svix';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ROOT } from './support/markdown.js';
import { PATIENTLY } from './support/patiently.js';

const SECRET = `whsec_${Buffer.from('a secret of 24 characters').toString('base64')}`;
const HOUR = 3_600_000;

interface Receiver {
  /** The endpoint, as the documentation of the library shows it for Express or Node. */
  mount(handle: () => void, before: RequestHandler): RequestListener;
  /** The headers of a delivery with this body, signed at this time. */
  headers(body: string, at: number): Record<string, string>;
  /** What a user imports. */
  code: string;
}

const event = {
  id: 'evt_1',
  type: 'stt.completed',
  version: '2026-07-11',
  jobId: 'clip_1',
  data: {},
  timestamp: new Date().toISOString(),
};
// With the spaces that JSON.stringify removes.
const BODY = JSON.stringify(event, null, 1);
const hex = (content: string) => createHmac('sha256', SECRET).update(content).digest('hex');

/** An endpoint on Express whose own code verifies the raw body and calls the handler. */
function onExpress(before: RequestHandler, handle: () => void, verify: (body: Buffer, headers: Headers) => unknown) {
  const app = express();
  app.post('/webhooks', before, express.raw({ type: 'application/json' }), (req, res) => {
    try {
      verify(req.body, new Headers(req.headers as Record<string, string>));
    } catch (error) {
      res.status(400).send(`Webhook Error: ${(error as Error).message}`);
      return;
    }
    handle();
    res.json({ received: true });
  });
  return app;
}

const stripe = new Stripe('sk_test');
const receivers: Record<string, Receiver> = {
  'service-webhooks': {
    mount(handle, before) {
      const app = express();
      app.post('/webhooks', before, webhookHandler({ secret: SECRET, on: { '*': handle } }));
      return app;
    },
    headers: (body, at) => sign({ body, secret: SECRET, at }),
    code: `export { webhookHandler } from './adapters/express.ts'`,
  },
  stripe: {
    mount: (handle, before) =>
      onExpress(before, handle, (body, headers) =>
        stripe.webhooks.constructEvent(body, headers.get('stripe-signature') ?? '', SECRET),
      ),
    headers: (body, at) => {
      const t = Math.floor(at / 1000);
      return { 'stripe-signature': `t=${t},v1=${hex(`${t}.${body}`)}` };
    },
    code: `import Stripe from 'stripe'; export const { webhooks } = new Stripe('key')`,
  },
  octokit: {
    mount(handle, before) {
      const webhooks = new Webhooks({
        secret: SECRET,
        log: { debug() {}, info() {}, warn() {}, error: console.error },
      });
      webhooks.onAny(handle);
      return express().use(before, createNodeMiddleware(webhooks, { path: '/webhooks' }));
    },
    headers: (body) => ({
      'x-hub-signature-256': `sha256=${hex(body)}`,
      'x-github-event': 'ping',
      'x-github-delivery': event.id,
    }),
    code: `export { createNodeMiddleware, Webhooks } from '@octokit/webhooks'`,
  },
  svix: {
    mount: (handle, before) =>
      onExpress(before, handle, (body, headers) => new Webhook(SECRET).verify(body, Object.fromEntries(headers))),
    headers: (body, at) => ({
      'svix-id': event.id,
      'svix-timestamp': String(Math.floor(at / 1000)),
      'svix-signature': new Webhook(SECRET).sign(event.id, new Date(at), body),
    }),
    code: `export { Webhook } from 'svix'`,
  },
  'hand-written': {
    mount: (handle, before) =>
      onExpress(before, handle, (body, headers) => {
        const expected = Buffer.from(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
        const given = Buffer.from(headers.get('x-service-signature') ?? '');
        if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error('bad signature');
      }),
    headers: (body) => ({ 'x-service-signature': `sha256=${hex(body)}` }),
    code: '',
  },
};

const nothing: RequestHandler = (_req, _res, next) => next();

/** Starts an endpoint, and returns what posts a delivery to it. */
async function start({ mount, headers }: Receiver, handle: () => void, before = nothing) {
  const server = createServer(mount(handle, before)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await vi.waitFor(() => expect(server.listening).toBe(true), PATIENTLY);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  return async (body = BODY, at = Date.now()) => {
    const sent = { 'content-type': 'application/json', ...headers(body, at) };
    const response = await fetch(url, { method: 'POST', headers: sent, body });
    return { status: response.status, text: await response.text() };
  };
}

/** What the README says of each, measured. */
const rows: Record<string, (receiver: Receiver) => Promise<string>> = {
  async 'A handled event is sent again'(receiver) {
    const handle = vi.fn();
    const post = await start(receiver, handle);
    await post();
    expect(handle).toHaveBeenCalledTimes(1);
    await post();
    return handle.mock.calls.length === 1 ? 'does not run' : 'runs again';
  },
  async 'Five copies of an event arrive at once'(receiver) {
    const handle = vi.fn();
    const post = await start(receiver, handle);
    await Promise.all(Array.from({ length: 5 }, () => post()));
    const { length } = handle.mock.calls;
    return length === 1 ? 'runs once' : `runs ${length} times`;
  },
  async 'A delivery is replayed after an hour'(receiver) {
    const handle = vi.fn();
    const post = await start(receiver, handle);
    const { status } = await post(BODY, Date.now() - HOUR);
    return handle.mock.calls.length === 0 && status >= 400 ? 'refused' : 'runs';
  },
  async 'A delivery has 200 kB'(receiver) {
    const post = await start(receiver, () => {});
    const { status } = await post(JSON.stringify({ ...event, data: { text: 'x'.repeat(200_000) } }));
    return status === 200 ? 'accepted' : `${status}`;
  },
  async 'A signed body is no event'(receiver) {
    const handle = vi.fn();
    const post = await start(receiver, handle);
    const { status } = await post('[1]');
    return handle.mock.calls.length === 0 ? `${status}` : 'runs';
  },
};

describe('the comparison in README.md', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const said = (row: string) => {
    const line = readme.split('\n').find((text) => text.startsWith(`| ${row} |`)) ?? expect.fail(`no row: ${row}`);
    return line
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim());
  };

  it.each(Object.keys(rows))('the row "%s" says what the receivers do', async (row) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const measured = [];
    for (const receiver of Object.values(receivers)) measured.push(await rows[row]?.(receiver));
    expect(said(row)).toEqual(measured);
  });

  it('the row of sizes says what a bundle of each import has', async () => {
    const measured = [];
    for (const { code } of Object.values(receivers)) measured.push(await sizeOf(code));
    expect(said('Size of the import, minified and gzipped')).toEqual(measured);
  });

  it('the row of packages says how many each install has', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const counts = ['stripe', '@octokit/webhooks', 'svix'].map((name) => `${dependenciesOf(name, packages).size}`);
    expect(said('Packages that it brings')).toEqual(['0', ...counts, '0']);
  });
});

async function sizeOf(code: string): Promise<string> {
  if (code === '') return '0';
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: ROOT },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    alias: { 'service-webhooks': join(ROOT, 'src/index.ts') },
  });
  return `${Math.round(gzipSync(outputFiles[0]?.contents ?? '').length / 1000)} kB`;
}

/** The packages that npm installs with one, by the lock file. */
function dependenciesOf(name: string, packages: Record<string, { dependencies?: object }>, found = new Set<string>()) {
  for (const dependency of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {})) {
    if (found.has(dependency)) continue;
    found.add(dependency);
    dependenciesOf(dependency, packages, found);
  }
  return found;
}
