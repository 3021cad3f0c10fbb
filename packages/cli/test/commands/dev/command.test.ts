import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createReceiver, verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createClient, ensureEndpoint } from 'service-webhooks/client';
import { webhookHandler } from 'service-webhooks/node';
import { FAULT_NAMES } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { type Got, serveApp, serveListener } from '../../../../../test/support/app.js';
import { later, SECRET } from '../../../../../test/support/deliveries.js';
import { SCENARIO_NAMES } from '../../../src/commands/dev/scenarios.js';
import { type CliOptions, useCli } from '../../support/cli.js';
import { hasSqlite, openQueueFile } from '../queue/sqlite-queue-file.js';
import { failed, serveSilence } from '../support.js';
import { runDev } from './run-dev.js';

const cli = useCli();
const dev = (args: readonly string[] = [], options?: CliOptions) => runDev(cli, args, options);
const withoutSecret = { env: { WEBHOOK_SECRET: undefined } };

describe('what dev prints', () => {
  it('the first record has the address of dev, the target, and the seed that repeats the run', async () => {
    expect((await dev(['3000', '--seed', '42', '--speed', '1.25x'])).developing).toEqual({
      kind: 'developing',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      deliversTo: 'http://localhost:3000/webhooks',
      endpoint: expect.stringMatching(/^\w+$/),
      ...{ speed: 1.25, seed: '42' },
    });
  });

  it('the text for people has the addresses, each attempt, and their number at the end', async () => {
    const cameAgain = later();
    const app = await serveApp((_, __, res) => {
      res.writeHead(500).end();
      if (app.got.length === 3) cameAgain.resolve(); // so two attempts are over
    });
    const args = ['dev', app.url, '--text', '--port', '0', '--emit', 'stt.failed', '--speed', '2000x'];
    const { signal, ended } = cli.start(args);
    await cameAgain.promise;
    signal('SIGINT');
    const [deliveries, api, ...attempts] = (await ended).stdout.split('\n').slice(0, -1);
    expect(deliveries).toMatch(new RegExp(`^Deliveries: http://127.0.0.1:\\d+/  sent to ${app.url}/$`));
    expect(api).toMatch(/^API: http:\/\/127.0.0.1:\d+ {2}key acct_development$/);
    expect(attempts[0]).toMatch(/ {2}500 {2}not acknowledged {2}\d+ ms {2}stt\.failed {2}.+ {2}attempt 1 {2}/);
    expect(attempts.slice(1, 3)).toEqual(['   The app failed.', '   Look at the log of the app.']);
    expect(attempts.at(-1)).toMatch(/^\d+ attempts$/);
  });

  it('a record is printed when an endpoint is paused', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(500).end());
    const types = WEBHOOK_EVENT_TYPES.join(',');
    const { next } = await dev([app.url, '--speed', '1000000x', '--emit', types, '--emit', types]);
    expect(await next('paused')).toMatchObject({ url: `${app.url}/` });
  });

  it('the signing secret is neither printed nor on the page', async () => {
    const app = await serveApp();
    const { browser, next, stop } = await dev([app.url, '--emit', 'stt.failed']);
    const { deliveryId } = await next('attempt');
    const shown = await browser.open(`/page/deliveries/${deliveryId}`);
    expect(shown.status).toBe(200);
    const { stdout, stderr } = await stop();
    expect(stdout + stderr + shown.text).not.toContain(SECRET);
  });

  it('Ctrl+C ends dev also before anything was delivered', async () => {
    const { url } = await serveSilence();
    const { stop } = await dev([url, '--emit', 'stt.failed,stt.completed']);
    expect(await stop()).toMatchObject({ exitCode: 0 });
  });
});

describe('the deliveries of dev', () => {
  it('an event sent from the page reaches the app, signed with the secret of the app', async () => {
    const app = await serveApp();
    const { browser, next, stop } = await dev([`${app.url}/hook`]);
    expect(await browser.act('send', { type: 'stt.completed' })).toMatchObject({ status: 200 });
    const attempt = await next('attempt');
    expect(attempt).toMatchObject({
      ...{ type: 'stt.completed', attempt: 1, acknowledged: true, status: 200, state: 'delivered' },
    });
    const [got] = app.got as [Got];
    expect(got.path).toBe('/hook');
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET }).event.id).toBe(attempt['eventId']);
    const { exitCode, stderr, records } = await stop();
    expect([exitCode, stderr, records.at(-1)]).toEqual([0, '', { kind: 'ended', attempts: 1 }]);
  });

  it('without --emit and --scenario, no event is sent', async () => {
    const { deliveries, overview } = await (await dev(['http://127.0.0.1:1'])).browser.snapshot();
    expect(deliveries).toEqual([]);
    expect(overview.endpoints).toMatchObject([{ url: 'http://127.0.0.1:1/' }]);
  });

  it('--events limits the types that the app gets, and --header-prefix names the headers', async () => {
    const app = await serveApp();
    const { browser, next } = await dev([app.url, '--events', 'stt.failed', '--header-prefix', 'x-vendor']);
    await browser.act('send', { type: 'stt.completed' });
    await browser.act('send', { type: 'stt.failed' });
    expect(await next('attempt')).toMatchObject({ type: 'stt.failed' });
    expect(app.got.map(({ headers }) => headers['x-vendor-attempt'])).toEqual(['1']);
  });

  it('a refused delivery is retried on the schedule of the service, and --speed shortens the waits', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length < 3 ? 500 : 200).end());
    const { next } = await dev([app.url, '--emit', 'dubbing.completed', '--speed', '2000x']);
    const nextAt = expect.any(String);
    expect(await next('attempt')).toMatchObject({ attempt: 1, status: 500, state: 'waiting', nextAt });
    expect(await next('attempt')).toMatchObject({ attempt: 2, status: 500 });
    expect(await next('attempt')).toMatchObject({ attempt: 3, status: 200, state: 'delivered' });
    expect(new Set(app.got.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(app.got.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
  });

  it('a delivery that gets no answer is dead after five retries', async () => {
    const { next } = await dev(['http://127.0.0.1:1', '--emit', 'stt.failed', '--speed', '1000000']);
    for (const attempt of [1, 2, 3, 4, 5]) expect(await next('attempt')).toMatchObject({ attempt, state: 'waiting' });
    const dead = { state: 'dead', acknowledged: false, reason: 'connection_error' };
    expect(await next('attempt')).toMatchObject({ attempt: 6, ...dead });
  });

  it('two runs with the same --seed have the same faults and event ids', async () => {
    const struck = async () => {
      const app = await serveApp();
      const faults = ['--fault', 'corrupt=1', '--fault', 'duplicate=0.50', '--seed', '42'];
      const { next, stop } = await dev([app.url, ...faults, '--emit', 'stt.failed']);
      const attempt = await next('attempt');
      await stop();
      return { faults: attempt['faults'], eventId: attempt['eventId'], body: app.got[0]?.body.length };
    };
    const first = await struck();
    expect(first.faults).toContain('corrupt');
    expect(await struck()).toEqual(first);
  });

  it('--fault may be given several times', async () => {
    const app = await serveApp();
    const { next } = await dev([app.url, '--fault', 'corrupt=1', '--fault', 'duplicate=1.00', '--emit', 'stt.failed']);
    expect(((await next('attempt'))['faults'] as string[]).toSorted()).toEqual(['corrupt', 'duplicate']);
  });
});

describe('the API and the page of dev', () => {
  const connect = (baseUrl: string, apiKey = 'acct_development') => createClient({ apiKey, baseUrl });

  it('dev starts without an app and without a secret', async () => {
    const { browser, stop } = await dev([], withoutSecret);
    expect((await browser.open('/')).status).toBe(200);
    expect(await stop()).toMatchObject({ exitCode: 0, records: [{}, { kind: 'ended', attempts: 0 }] });
  });

  it('the command on the empty page leads to this dev', async () => {
    const app = await serveApp();
    const { url, browser } = await dev([app.url]);
    const command = `send generation.completed --dev=${url}`;
    expect(await browser.snapshot()).toMatchObject({ start: { command: `npx service-webhooks-cli ${command}` } });
    expect((await cli.run(command.split(' '))).records).toMatchObject([{ kind: 'emitted' }]);
    const other = await dev();
    const { port } = new URL(other.url);
    expect(await other.browser.snapshot()).toMatchObject({
      start: { command: `npx service-webhooks-cli dev 3000 --port ${port}` },
    });
  });

  it('a row of the page says in short why the app refuses', async () => {
    const app = await serveListener(webhookHandler({ secret: 'another secret', logger: false, on: { '*': () => {} } }));
    const { browser, next } = await dev([app.url]);
    await browser.act('send', { type: 'stt.failed' });
    expect(await next('attempt')).toMatchObject({ advice: { cause: 'other_secret' } });
    await expect.poll(async () => (await browser.snapshot()).deliveries[0]?.cause).toBe('another secret');
  });

  it('a deploy script registers an app through the API', async () => {
    const { url, next, browser } = await dev();
    let secret = '';
    const app = await serveListener(
      webhookHandler(createReceiver({ secret: async () => [secret], on: { '*': () => {} } })),
    );
    const client = connect(url);
    const made = await ensureEndpoint({ url: app.url, events: ['stt.failed'] }, client);
    secret = made.signingSecret?.reveal() ?? '';
    expect((await client.account.apiLimits()).data.plan.api_access).toBe(true);
    await browser.act('send', { type: 'stt.failed' });
    expect(await next('attempt')).toMatchObject({ endpointId: made.id, status: 200 });
    await expect(connect(url, 'acct_other').usage()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('an invalid request to the API gets an error with the code of the service', async () => {
    const { url } = await dev();
    const post = (body: string) =>
      fetch(`${url}/api/v1/account/webhooks`, { method: 'POST', headers: { 'x-api-key': 'acct_development' }, body });
    expect(await (await post('{')).json()).toMatchObject({ error: { code: 'invalid_json', status: 400 } });
    expect(await (await post('x'.repeat(2_000_000))).json()).toMatchObject({ error: { code: expect.any(String) } });
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });

  it('the page shows a signature mismatch, also for an endpoint created through the API', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { url, next, browser } = await dev([app.url, '--fault', 'corrupt=1', '--seed', '42']);
    const other = await ensureEndpoint({ url: `${app.url}/other`, events: ['stt.failed'] }, connect(url));
    await browser.act('send', { type: 'stt.failed' });
    const verdicts = new Map<boolean, string>(); // by whether the API has made the endpoint
    for (const { endpointId, deliveryId } of [await next('attempt'), await next('attempt')]) {
      const { attempts } = await browser.read(`/page/deliveries/${deliveryId}`);
      const { verdict } = await browser.read(`/page/attempts/${attempts[0].id}`);
      verdicts.set(endpointId === other.id, verdict.verdict);
    }
    expect([verdicts.get(false), verdicts.get(true)]).toEqual(['signature_mismatch', 'signature_mismatch']);
  });

  it('a request under another host name gets 421 from the page and from the API', async () => {
    const { browser, url } = await dev();
    const page = await browser.open('/');
    expect(page.text).toContain('Deliveries to your app · service-webhooks dev');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await browser.open('/page/page.js')).text.length).toBeGreaterThan(1_000);
    for (const path of ['/', '/api/v1/usage']) {
      const req = request(new URL(path, url), { headers: { host: 'evil.example' } }).end();
      const [res] = await once(req, 'response');
      expect(res.statusCode).toBe(421);
    }
  });
});

describe('the options of dev', () => {
  it.each(['fast', '0', 'x', '100xx', 'a1', '1.', '-1'])('--speed=%s is refused', async (speed) => {
    const says = /^service-webhooks: [^\n]+It takes a number above 0, as in 100x\.[^\n]*\n$/;
    expect(await cli.run(['dev', '--port', '0', `--speed=${speed}`])).toMatchObject(failed(2, says));
  });

  it.each(['reset', '=0.1', 'reset=', 'reset=x', 'reset=1.5', 'a reset=1', 'reset=0.1x'])(
    '--fault %s is refused',
    async (fault) => {
      const says = /^service-webhooks: [^\n]+It takes a fault and a share from 0 to 1, as in[^\n]+\n$/;
      expect(await cli.run(['dev', '--port', '0', '--fault', fault])).toMatchObject(failed(2, says));
    },
  );

  it.each<[args: string[], exitCode: number, says: string]>([
    [['http://example.com/'], 2, 'url must begin with https://'],
    [['3000', '--fault', 'nonsense=1'], 2, `There are: ${FAULT_NAMES.join(', ')}.`],
    [['3000', '--scenario', 'nonsense'], 2, `There are: ${SCENARIO_NAMES.join(', ')}.`],
    [['3000', '--secret', 'file:bytes'], 2, 'the secret is no text, as those of the service are.\n'],
  ])('the arguments %j end with exit code %i: %s', async (args, exitCode, says) => {
    writeFileSync(join(cli.cwd, 'bytes'), Buffer.from([0xff, 0xfe]));
    expect(await cli.run(['dev', '--port', '0', ...args])).toMatchObject(failed(exitCode, says));
  });

  it('an app without a secret exits with 2, and a port in use exits with 4', async () => {
    expect(await cli.run(['dev', '3000'], withoutSecret)).toMatchObject(failed(2, /^service-webhooks: no secret:/));
    const { port } = await serveApp();
    const says = 'is in use: end the other program, or choose another (0 takes a free one) with --port.';
    expect(await cli.run(['dev', '--port', `${port}`])).toMatchObject(failed(4, says));
  });

  it('the help and the completion name every fault and every scenario', async () => {
    const { stdout } = await cli.run(['dev', '--help']);
    for (const name of [...FAULT_NAMES, ...SCENARIO_NAMES]) expect(stdout).toContain(name);
    expect((await cli.run(['complete', '--', 'dev', '--fault', 're'])).stdout).toBe('reorder\nreset\n');
  });
});

describe('dev in a project whose settings name a queue', () => {
  it.runIf(hasSqlite)('the page shows the dead letters of the queue', async () => {
    const file = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    await file.bury('no clip', aQueued({ eventId: 'evt_a' }));
    file.handle.close();
    writeFileSync(join(cli.cwd, 'service-webhooks.json'), '{"queue": {"engine": "sqlite", "at": "webhooks.db"}}');
    const { browser } = await dev(['3000']);
    const state = JSON.parse((await browser.open('/page/queue/state')).text);
    expect(state).toMatchObject({ engine: 'sqlite', stats: { dead: 1 }, listing: { letters: 1 } });
  });

  it('a queue without an address is said, and dev runs without its view', async () => {
    writeFileSync(join(cli.cwd, 'service-webhooks.json'), '{"queue": {"engine": "bullmq"}}');
    const { promise: delivered, resolve } = later();
    const app = await serveApp((_, __, res) => {
      res.end();
      resolve();
    });
    const args = ['dev', app.url, '--text', '--port', '0', '--emit', 'stt.failed'];
    const { signal, ended } = cli.start(args, { env: { REDIS_URL: undefined } });
    await delivered;
    signal('SIGINT');
    const { stdout, stderr } = await ended;
    expect(stdout).toMatch(/^Deliveries: /);
    expect(stderr).toContain('The page does not show the queue of service-webhooks.json: there is no URL');
  });
});
