import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createReceiver, verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createClient, ensureEndpoint } from 'service-webhooks/client';
import { webhookHandler } from 'service-webhooks/node';
import { FAULT_NAMES } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Got, serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { SCENARIO_NAMES } from '../../../src/commands/dev/scenarios.js';
import type { Snapshot } from '../../../src/page/page-source.js';
import { type CliOptions, useCli } from '../../support/cli.js';

const cli = useCli();

/** As a browser does it that has the page open. */
function browse(url: string) {
  const open = async (path: string, init?: RequestInit) => {
    const response = await fetch(new URL(path, url), init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    open,
    async act(name: string, input: object) {
      const token = /name="page-token" content="([\w-]+)"/.exec((await open('/')).text)?.[1] ?? '';
      const headers = { origin: new URL(url).origin, 'x-page-token': token, 'content-type': 'application/json' };
      return open(`/page/actions/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    },
    /** What a page that is opened now shows. */
    async snapshot(): Promise<Snapshot> {
      const stop = new AbortController();
      const { body } = await fetch(new URL('/page/stream', url), { signal: stop.signal });
      let text = '';
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('\n\n')) break;
      }
      stop.abort();
      return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? '{}');
    },
  };
}

async function dev(args: readonly string[] = [], options?: CliOptions) {
  const running = cli.start(['dev', '--port', '0', ...args], options);
  const { url, ...said } = await running.next('developing');
  return { ...running, ...said, url: String(url), browser: browse(String(url)) };
}

describe('dev', () => {
  it('delivers to the app what the page is told to send, signed with its secret', async () => {
    const app = await serveApp();
    const { browser, next, signal, ended } = await dev([`${app.url}/hook`]);
    expect(await browser.act('send', { type: 'stt.completed' })).toMatchObject({ status: 200 });
    const attempt = await next('attempt');
    expect(attempt).toMatchObject({
      type: 'stt.completed',
      attempt: 1,
      acknowledged: true,
      status: 200,
      state: 'delivered',
    });
    const [got] = app.got as [Got];
    expect(got.path).toBe('/hook');
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET }).event.id).toBe(attempt['eventId']);
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await ended).records.at(-1)).toEqual({ kind: 'ended', attempts: 1 });
  });

  it('dev says where it is, where it sends to, and what makes it happen again', async () => {
    const running = cli.start(['dev', '--port', '0', '3000', '--seed', '42', '--speed', '1.25x']);
    expect(await running.next('developing')).toEqual({
      kind: 'developing',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      deliversTo: 'http://localhost:3000/',
      endpoint: expect.stringMatching(/^\w+$/),
      speed: 1.25,
      seed: '42',
    });
  });

  it('dev says so in text for people, with each attempt, and at its end how many there were', async () => {
    let again = () => {};
    const cameAgain = new Promise<void>((resolve) => {
      again = resolve;
    });
    const app = await serveApp((_, __, res) => {
      res.writeHead(500).end();
      if (app.got.length === 2) again();
    });
    const args = ['dev', app.url, '--text', '--port', '0', '--emit', 'stt.failed', '--speed', '2000x'];
    const { signal, ended } = cli.start(args);
    await cameAgain;
    signal('SIGINT');
    const [deliveries, api, ...attempts] = (await ended).stdout.split('\n').slice(0, -1);
    expect(deliveries).toMatch(new RegExp(`^Deliveries: http://127.0.0.1:\\d+/  sent to ${app.url}/$`));
    expect(api).toMatch(/^API: http:\/\/127.0.0.1:\d+ {2}key acct_development$/);
    expect(attempts[0]).toMatch(/ {2}500 {2}stt\.failed {2}.+ {2}attempt 1 {2}/);
    expect(attempts.at(-1)).toBe(`${attempts.length - 1} attempts`);
  });

  it('dev needs neither an app nor a secret', async () => {
    const { signal, ended, browser } = await dev([], { env: { WEBHOOK_SECRET: undefined } });
    expect((await browser.open('/')).status).toBe(200);
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 0, records: [{}, { kind: 'ended', attempts: 0 }] });
  });

  it('dev sends nothing that it is not told to send', async () => {
    const { browser } = await dev(['http://127.0.0.1:1']);
    const { deliveries, overview } = await browser.snapshot();
    expect(deliveries).toEqual([]);
    expect(overview.endpoints).toMatchObject([{ url: 'http://127.0.0.1:1/' }]);
  });

  it('dev shows why an attempt does not verify, also of an endpoint that its API has made', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { url, next, browser } = await dev([app.url, '--fault', 'corrupt=1', '--seed', '42']);
    const client = createClient({ apiKey: 'acct_development', baseUrl: url });
    const other = await ensureEndpoint({ url: `${app.url}/other`, events: ['stt.failed'] }, client);
    await browser.act('send', { type: 'stt.failed' });
    const verdicts = new Map<boolean, string>(); // by whether the API has made the endpoint
    for (const { endpointId, deliveryId } of [await next('attempt'), await next('attempt')]) {
      const { attempts } = JSON.parse((await browser.open(`/page/deliveries/${deliveryId}`)).text);
      const { verdict } = JSON.parse((await browser.open(`/page/attempts/${attempts[0].id}`)).text);
      verdicts.set(endpointId === other.id, verdict.verdict);
    }
    expect(verdicts.get(false)).toBe('signature_mismatch');
    expect(verdicts.get(true)).toBe('signature_mismatch');
  });

  it('dev ends where Ctrl+C comes before anything was delivered', async () => {
    const { url } = await serveListener(() => {});
    const { signal, ended } = await dev([url, '--emit', 'stt.failed,stt.completed']);
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 0 });
  });

  it('dev sends the event types alone that the app is to get, in headers as they are named here', async () => {
    const app = await serveApp();
    const { browser, next } = await dev([app.url, '--events', 'stt.failed', '--header-prefix', 'x-vendor']);
    await browser.act('send', { type: 'stt.completed' });
    await browser.act('send', { type: 'stt.failed' });
    expect(await next('attempt')).toMatchObject({ type: 'stt.failed' });
    expect(app.got.map(({ headers }) => headers['x-vendor-attempt'])).toEqual(['1']);
  });

  it('tries again as the service does, as much faster as it is told', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length < 3 ? 500 : 200).end());
    const { next } = await dev([app.url, '--emit', 'dubbing.completed', '--speed', '2000x']);
    expect(await next('attempt')).toMatchObject({
      attempt: 1,
      status: 500,
      state: 'waiting',
      nextAt: expect.any(String),
    });
    expect(await next('attempt')).toMatchObject({ attempt: 2, status: 500 });
    expect(await next('attempt')).toMatchObject({ attempt: 3, status: 200, state: 'delivered' });
    expect(new Set(app.got.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(app.got.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
  });

  it('a delivery that nobody acknowledges dies after five retries', async () => {
    const { next } = await dev(['http://127.0.0.1:1', '--emit', 'stt.failed', '--speed', '1000000']);
    for (let attempt = 1; attempt < 6; attempt += 1)
      expect(await next('attempt')).toMatchObject({ attempt, state: 'waiting' });
    expect(await next('attempt')).toMatchObject({
      attempt: 6,
      state: 'dead',
      acknowledged: false,
      reason: 'connection_error',
    });
  });

  it('dev goes wrong as it is told, the same way for the same seed', async () => {
    const struck = async () => {
      const app = await serveApp();
      const { next, signal, ended } = await dev([
        app.url,
        '--fault',
        'corrupt=1',
        '--seed',
        '42',
        '--emit',
        'stt.failed',
      ]);
      const { faults, eventId } = await next('attempt');
      signal('SIGINT');
      await ended;
      return { faults, eventId, body: app.got[0]?.body.length };
    };
    const first = await struck();
    expect(first).toMatchObject({ faults: ['corrupt'] });
    expect(await struck()).toEqual(first);
  });

  it('dev answers the API on the same port, also to a deploy script that registers the app', async () => {
    const { url, next, browser } = await dev();
    const { url: appUrl } = await serveListener(
      webhookHandler(createReceiver({ secret: () => Promise.resolve([secret]), on: { '*': () => {} } })),
    );
    const client = createClient({ apiKey: 'acct_development', baseUrl: url });
    const made = await ensureEndpoint({ url: appUrl, events: ['stt.failed'] }, client);
    const secret = made.signingSecret?.reveal() ?? '';
    expect((await client.account.apiLimits()).data.plan.api_access).toBe(true);
    await browser.act('send', { type: 'stt.failed' });
    expect(await next('attempt')).toMatchObject({ endpointId: made.id, status: 200 });
    const wrongKey = createClient({ apiKey: 'acct_somebodyelse', baseUrl: url });
    await expect(wrongKey.usage()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('dev refuses what is wrong with a request to the API in the words of the service', async () => {
    const { url } = await dev();
    const post = (body: string) =>
      fetch(`${url}/api/v1/account/webhooks`, { method: 'POST', headers: { 'x-api-key': 'acct_development' }, body });
    expect(await (await post('{')).json()).toMatchObject({ error: { code: 'invalid_json', status: 400 } });
    expect(await (await post('x'.repeat(2_000_000))).json()).toMatchObject({ error: { code: expect.any(String) } });
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });

  it('dev shows the page, and neither that nor the API to another host', async () => {
    const { browser, url } = await dev();
    const page = await browser.open('/');
    expect(page.text).toContain('Deliveries to your app · service-webhooks dev');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await browser.open('/page/page.js')).text.length).toBeGreaterThan(1_000);
    const { request } = await import('node:http');
    for (const path of ['/', '/api/v1/usage']) {
      const req = request(new URL(path, url), { headers: { host: 'evil.example' } }).end();
      const [res] = await once(req, 'response');
      expect(res.statusCode).toBe(421);
    }
  });

  it.each<[args: readonly string[], exitCode: number, says: string]>([
    [['http://example.com/'], 2, 'url must begin with https://'],
    ...['fast', '0', 'x', '100xx', 'a1', '1.', '-1'].map((speed): [string[], number, string] => [
      [`--speed=${speed}`],
      2,
      'It takes a number above 0, as in 100x.',
    ]),
    ...['reset', '=0.1', 'reset=', 'reset=x', 'reset=1.5', 'a reset=1', 'reset=0.1x'].map(
      (fault): [string[], number, string] => [['--fault', fault], 2, 'It takes a fault and a share from 0 to 1, as in'],
    ),
    [['3000', '--fault', 'nonsense=1'], 2, `There are: ${FAULT_NAMES.join(', ')}.`],
    [['3000', '--scenario', 'nonsense'], 2, `There are: ${SCENARIO_NAMES.join(', ')}.`],
  ])('%j ends with %i', async (args, exitCode, says) => {
    const ended = await cli.run(['dev', '--port', '0', ...args]);
    expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) });
    expect(ended.stderr).toMatch(/^service-webhooks: [^\n]+\n$/);
  });

  it('names every fault and every scenario in its help', async () => {
    const { stdout } = await cli.run(['dev', '--help']);
    for (const name of [...FAULT_NAMES, ...SCENARIO_NAMES]) expect(stdout).toContain(name);
    const { stdout: found } = await cli.run(['complete', '--', 'dev', '--fault', 're']);
    expect(found).toBe('reorder\nreset\n');
  });

  it('dev takes several faults', async () => {
    const app = await serveApp();
    const faults = ['--fault', 'corrupt=1', '--fault', 'duplicate=1.00'];
    const { next } = await dev([app.url, ...faults, '--emit', 'stt.failed']);
    expect(new Set((await next('attempt'))['faults'] as string[])).toEqual(new Set(['corrupt', 'duplicate']));
  });

  it('dev takes a secret only that is text, as those of the service are', async () => {
    writeFileSync(join(cli.cwd, 'secret'), Buffer.from([0xff, 0xfe]));
    const { exitCode, stderr } = await cli.run(['dev', '3000', '--secret', 'file:secret']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'service-webhooks: the secret is no text, as those of the service are.\n',
    });
  });

  it('dev needs the secret that the app has', async () => {
    const { exitCode, stderr } = await cli.run(['dev', '3000'], { env: { WEBHOOK_SECRET: undefined } });
    expect({ exitCode, stderr: stderr.slice(0, 28) }).toEqual({ exitCode: 2, stderr: 'service-webhooks: no secret:' });
  });

  it('dev says that the port is in use', async () => {
    const { port } = await serveApp();
    const { exitCode, stderr } = await cli.run(['dev', '--port', `${port}`]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('is in use: end the other program, or choose another (0 takes a free one) with --port.');
  });

  it('dev never says the secret', async () => {
    const app = await serveApp();
    const { browser, next, signal, ended } = await dev([app.url, '--emit', 'stt.failed']);
    const { deliveryId } = await next('attempt');
    const shown = await browser.open(`/page/deliveries/${deliveryId}`);
    expect(shown.status).toBe(200);
    signal('SIGINT');
    const { stdout, stderr } = await ended;
    expect(stdout + stderr + shown.text).not.toContain(SECRET);
  });
});

describe('an endpoint of dev that is paused', () => {
  it('an endpoint of dev that is paused is named in the output', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(500).end());
    const types = WEBHOOK_EVENT_TYPES.join(',');
    const { next } = await dev([app.url, '--speed', '1000000x', '--emit', types, '--emit', types]);
    expect(await next('paused')).toMatchObject({ url: `${app.url}/` });
  });
});

describe('listen --ui', () => {
  async function listen(...args: string[]) {
    const running = cli.start(['listen', '--port', '0', '--ui=0', ...args]);
    const { url, page } = await running.next('listening');
    return { ...running, url: String(url), browser: browse(String(page)) };
  }

  it('listen --ui shows each delivery with its attempts, its verdict and why', async () => {
    const { url, browser, next } = await listen('--respond', '500');
    await cli.run(['send', 'stt.failed', url, '--set', 'id=evt_1']);
    await cli.run(['send', 'stt.failed', url, '--set', 'id=evt_1', '--attempt', '2', '--fault', 'reserialised']);
    await next('delivery');
    await next('delivery');
    const { deliveries } = await browser.snapshot();
    expect(deliveries).toMatchObject([{ id: 'evt_1', type: 'stt.failed', state: 'failed', attempts: 2, status: 500 }]);
    const { attempts } = JSON.parse((await browser.open('/page/deliveries/evt_1')).text);
    expect(attempts).toMatchObject([{ number: 1 }, { number: 2 }]);
    const details = [];
    for (const { id } of attempts) details.push(JSON.parse((await browser.open(`/page/attempts/${id}`)).text));
    expect(details).toMatchObject([
      { request: { url }, answer: { status: 500 }, verdict: { verdict: 'accepted' } },
      { verdict: { verdict: 'signature_mismatch', causes: [{ cause: 'body_reserialised', certainty: 'certain' }] } },
    ]);
  });

  it('listen --ui sends a sample here, and a delivery again to the app', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 1 ? 500 : 204).end());
    const { browser, next } = await listen(`${app.url}`);
    expect((await browser.act('send', { type: 'stt.completed' })).text).toContain('stt.completed was sent: 500.');
    const { id } = await next('delivery');
    expect((await browser.act('replay', { delivery: id, exact: false })).text).toContain('It was sent again: 204.');
    const { deliveries } = await browser.snapshot();
    expect(deliveries).toMatchObject([{ id, state: 'delivered', attempts: 1, replays: 1, status: 204 }]);
    const [first, second] = app.got as [Got, Got];
    expect(second.body).toEqual(first.body);
    expect(verify({ headers: second.headers, body: second.body, secret: SECRET }).event.id).toBe(id);
  });

  it('listen --ui is there until the end', async () => {
    const { browser, signal, ended } = await listen();
    expect((await browser.open('/')).status).toBe(200);
    signal('SIGINT');
    await ended;
    await expect(browser.open('/')).rejects.toThrow();
  });

  it('listen --ui has a port of its own where none is named', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await once(other.listen(4749, '127.0.0.1'), 'listening').catch(() => {}); // or somebody else has it
    const { exitCode, stderr } = await cli.run(['listen', '--port', '0', '--ui']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('port 4749 of 127.0.0.1 is in use');
  });

  it('listen --ui says that its port is in use', async () => {
    const { port } = await serveApp();
    const { exitCode, stderr } = await cli.run(['listen', '--port', '0', `--ui=${port}`]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('with --ui.');
  });

  it('the app keeps its port behind a bare --ui, and behind a bare --capture', async () => {
    const app = await serveApp();
    const running = cli.start(['listen', '--port', '0', '--capture', `${app.port}`]);
    expect(await running.next('listening')).toMatchObject({
      forwardsTo: `http://localhost:${app.port}/`,
      directory: '.webhooks',
    });
  });

  it('a request without an event has its request line, and its replay belongs to it', async () => {
    const app = await serveApp();
    const { url, browser, next } = await listen(app.url);
    await fetch(`${url}hook`, { method: 'POST', body: 'no event' });
    await next('delivery');
    const { deliveries } = await browser.snapshot();
    expect(deliveries).toMatchObject([{ type: 'POST /hook', eventId: '', url: `${app.url}/hook` }]);
    const id = deliveries[0]?.id;
    await browser.act('replay', { delivery: id, exact: true });
    const after = await browser.snapshot();
    expect(after.deliveries).toMatchObject([{ id, replays: 1 }]);
    const { attempts } = JSON.parse((await browser.open(`/page/deliveries/${id}`)).text);
    const { request } = JSON.parse((await browser.open(`/page/attempts/${attempts.at(-1).id}`)).text);
    expect(new Map(request.headers).get('host')).toBe(`127.0.0.1:${app.port}`);
  });

  it('a request that is refused before its body is read is on the page', async () => {
    const { url, browser, next } = await listen();
    await fetch(`${url}hook`, { method: 'PUT', body: 'x' });
    await next('problem');
    expect((await browser.snapshot()).deliveries).toMatchObject([
      { type: 'PUT /hook', verdict: 'method_not_allowed', status: 405 },
    ]);
  });
});
