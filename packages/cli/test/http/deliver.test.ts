import dns from 'node:dns';
import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { serveApp, serveListener } from '../../../../test/support/app.js';
import { answerBytes, STRANGE_STATUSES, serveBytes } from '../../../../test/support/hostile-app.js';
import { deliver, type Outgoing } from '../../src/http/deliver.js';

const outgoing = (url: string, changes: Partial<Outgoing> = {}): Outgoing => ({
  ...{ url: new URL(url), method: 'POST', headers: [['X-Own', 'Café']], body: Buffer.from('{}') },
  ...changes,
});
const wire = (timeoutMs = 5_000) => ({ timeoutMs, signal: new AbortController().signal });

describe('a request that the command line sends', () => {
  it('the headers of the delivery are sent, and those of the connection replaced', async () => {
    const app = await serveApp();
    const headers = [
      ...[
        'Host',
        'CONNECTION',
        'content-length',
        'Transfer-Encoding',
        'Expect',
        'Keep-Alive',
        'Upgrade',
        'Trailer',
      ].map((name): [string, string] => [name, 'x']),
      ...[['X-Own', 'Café'] as const, ['x-own', '2'] as const],
    ];
    expect(await deliver(outgoing(app.url, { headers }), wire())).toMatchObject({ status: 200, body: '' });
    const { host } = new URL(app.url);
    const own = ['Host', host, 'Content-Length', '2', 'X-Own', 'Café', 'x-own', '2'];
    expect(app.got[0]?.rawHeaders).toEqual([...own, 'Connection', 'close']);
  });

  it('no listener stays on the abort signal', async () => {
    const { url } = await serveApp();
    const options = wire();
    await deliver(outgoing(url), options);
    expect(getEventListeners(options.signal, 'abort')).toEqual([]);
  });

  it('the result has the duration of the request', async () => {
    const { url } = await serveApp();
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.advanceTimersByTime(1_000);
    expect(await deliver(outgoing(url), wire())).toMatchObject({ ms: 0 });
  });

  it('a body is sent in one piece, or in up to eight pieces if slow', async () => {
    let pieces = 0;
    const got: Buffer[] = [];
    const { url } = await serveListener((req, res) => {
      req.on('data', (piece) => {
        pieces += 1;
        got.push(piece);
      });
      req.on('end', () => res.end());
    });
    const body = Buffer.from('a body that has some more than a few bytes');
    expect(await deliver(outgoing(url, { body }), wire())).toMatchObject({ status: 200 });
    expect(pieces).toBe(1);
    got.length = 0;
    pieces = 0;
    expect(await deliver(outgoing(url, { body, slowMs: 40 }), wire())).toMatchObject({ status: 200 });
    expect(pieces).toBeLessThanOrEqual(8);
    expect(Buffer.concat(got)).toEqual(body);
    const empty = { body: Buffer.of(), slowMs: 40 };
    expect(await deliver(outgoing(url, empty), wire())).toMatchObject({ status: 200 });
  });

  it('an answer that does not end is returned with its status at the timeout', async () => {
    const { url } = await serveListener((_, res) => {
      res.writeHead(202).write('half');
    });
    expect(await deliver(outgoing(url), wire(100))).toMatchObject({ status: 202, body: 'half' });
  });
});

it('an answer before the end of the request is returned, even if the connection then breaks', async () => {
  let pieces = 0;
  const { url } = await serveListener((req, res) => {
    req.on('data', () => {
      pieces += 1;
      if (pieces === 1) res.writeHead(200, { 'content-length': '100' }).write('half');
      if (pieces === 4) req.socket.resetAndDestroy();
    });
    req.on('error', () => {});
  });
  const slow = { body: Buffer.from('12345678'), slowMs: 160 };
  expect(await deliver(outgoing(url, slow), wire())).toMatchObject({ status: 200, body: 'half' });
});

describe('a request of the command line without an answer', () => {
  const READ_LOG = 'Look into the log of the app.';
  const CUT = ['the connection was closed without an answer', READ_LOG] as const;
  const NO_TLS = ['no TLS is spoken there', 'Is it http: and not https:?'] as const;
  const NAME_IT = 'Name its authority in NODE_EXTRA_CA_CERTS, or pass --insecure for an app of your own.';
  const NO_TRUST = (code: string) => [`the certificate is not trusted (${code})`, NAME_IT] as const;

  it.each([
    ['ECONNREFUSED', 'nothing listens there', 'Start the app, or correct the port.'],
    ['ECONNRESET', ...CUT],
    ['EPIPE', ...CUT],
    ['ENOTFOUND', 'there is no such host', 'Check the name.'],
    ['EAI_AGAIN', 'the name cannot be looked up at the moment', 'Check the network.'],
    ['EHOSTUNREACH', 'there is no way to that host', 'Check the network.'],
    ['ENETUNREACH', 'there is no way to that network', 'Check the address.'],
    ['ETIMEDOUT', 'no connection came about', 'Check the address and the firewall.'],
    ['EPROTO', ...NO_TLS],
    ['ERR_SSL_WRONG_VERSION_NUMBER', ...NO_TLS],
    ['CERT_HAS_EXPIRED', ...NO_TRUST('CERT_HAS_EXPIRED')],
    ['DEPTH_ZERO_SELF_SIGNED', ...NO_TRUST('DEPTH_ZERO_SELF_SIGNED')],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', ...NO_TRUST('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
    ['HPE_INVALID_CONSTANT', 'what came back is no HTTP', 'Check the port.'],
    ['EOTHER', 'as it was said', READ_LOG],
  ])('the network error %s is explained: %s', async (code, problem, fix) => {
    const failing = (_host: string, _options: object, done: (error: Error) => void) =>
      done(Object.assign(new Error('as it was said'), { code }));
    vi.spyOn(dns, 'lookup').mockImplementation(failing as never);
    expect(await deliver(outgoing('http://app.example:3000/'), wire())).toEqual({
      problem,
      fix,
      ms: expect.any(Number),
    });
  });

  it('a body of one byte with breakOff is sent as headers alone', async () => {
    const arrived = new Promise<string | undefined>((resolve) => {
      void serveListener((req) => resolve(req.headers['content-length'])).then(({ url }) =>
        deliver({ ...outgoing(url, { breakOff: true }), body: new Uint8Array(1) }, wire()),
      );
    });
    expect(await arrived).toBe('1');
  });

  it('a body cut off on purpose is reported as such, unless the connection failed first', async () => {
    const app = await serveApp();
    expect(await deliver(outgoing(app.url, { breakOff: true }), wire())).toEqual({
      problem: 'cut off on purpose, in the middle of the body',
      fix: 'Its log should show that it has handled nothing.',
      ms: expect.any(Number),
    });
    expect(await deliver(outgoing('http://127.0.0.1:1/', { breakOff: true }), wire())).toMatchObject({
      problem: 'nothing listens there',
    });
  });

  it.each(STRANGE_STATUSES)('the status %s counts as no answer', async (status) => {
    const { url } = await serveBytes(answerBytes(status));
    const sent = await deliver(outgoing(url), wire());
    expect(sent.status).toBeUndefined();
    expect(sent.problem).toMatch(/status \d+, which is no answer|is no HTTP|closed without an answer/);
  });

  it('an endless answer is read up to 64 KiB', async () => {
    const { url } = await serveListener((_, res) => {
      const write = () => {
        while (!res.destroyed && res.write(Buffer.alloc(64 * 1024, 'a')));
      };
      res.on('drain', write);
      write();
    });
    const { status, body } = (await deliver(outgoing(url), wire(60_000))) as { status: number; body: string };
    expect([status, body.length]).toEqual([200, 64 * 1024]);
  });
});
