import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { breakOff, hangUp, json, refusal, serveApi, text } from '../../../../../test/client/serve-api.js';
import { serveApp } from '../../../../../test/support/app.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { freePort } from '../../../../../test/support/server-process.js';
import { type CliOptions, inside, useCli } from '../../support/cli.js';
import { withoutKeyLine } from '../../support/key-line.js';

const cli = useCli();
const URL_1 = 'https://app.example/webhooks';

let emulator: Emulator;
let env: Record<string, string>;
beforeEach(async () => {
  emulator = createEmulator({ allowLoopback: true });
  onTestFinished(() => emulator.close());
  env = { SERVICE_API_KEY: emulator.apiKey, SERVICE_URL: (await emulator.listen()).url };
});

const run = async (args: readonly string[], options?: CliOptions) => {
  const ended = await cli.run(args, { env, ...options });
  const stderr = withoutKeyLine(ended.stderr);
  expect(ended.stdout + ended.stderr).not.toContain(emulator.apiKey);
  expect(stderr).toMatch(/^(service-webhooks: [^\n]+\n)?$/);
  return { ...ended, stderr };
};

describe('endpoints', () => {
  it('list prints each, and never a secret', async () => {
    const { id, signingSecret } = emulator.endpoints.create({ url: URL_1, events: ['stt.failed'] });
    const { exitCode, records, stdout } = await run(['endpoints', 'list']);
    expect(exitCode).toBe(0);
    expect(records).toEqual([{ kind: 'endpoint', id, url: URL_1, events: ['stt.failed'] }]);
    expect(stdout).not.toContain(signingSecret);
  });

  it('list says on a terminal that there is none, and otherwise which', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['endpoints', 'list', '--text'], { env });
    expect([exitCode, stdout, withoutKeyLine(stderr)]).toEqual([0, '', 'There is no endpoint.\n']);
    const { id } = emulator.endpoints.create({ url: URL_1, events: ['stt.failed'] });
    const listed = await run(['endpoints', 'list', '--text']);
    expect(listed).toMatchObject({ exitCode: 0, stdout: `${id}  ${URL_1}  stt.failed\n`, stderr: '' });
  });

  it('ensure makes one and puts its secret into a new file, for its owner alone', async () => {
    const args = ['endpoints', 'ensure', URL_1, '--save-secret', 'secret.txt'];
    const { exitCode, records, stdout } = await run(args);
    const [made] = emulator.endpoints.list();
    expect(exitCode).toBe(0);
    expect(made).toMatchObject({ url: URL_1, events: WEBHOOK_EVENT_TYPES });
    expect(records).toMatchObject([{ kind: 'endpoint', action: 'created', id: made?.id, secretFile: 'secret.txt' }]);
    const file = join(cli.cwd, 'secret.txt');
    expect(readFileSync(file, 'utf8')).toMatch(/^whsec_[\w-]+\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain(readFileSync(file, 'utf8').trim());

    const again = await run(args);
    expect(again.records).toEqual([
      { kind: 'endpoint', action: 'unchanged', id: made?.id, url: URL_1, events: WEBHOOK_EVENT_TYPES },
    ]);
    const changed = await run(['endpoints', 'ensure', URL_1, '--events', 'stt.failed']);
    expect(changed.records).toMatchObject([{ action: 'updated', id: made?.id, events: ['stt.failed'] }]);
    expect(emulator.endpoints.list()).toMatchObject([{ id: made?.id, events: ['stt.failed'] }]);
  });

  it('the secret that ensure keeps is the one that deliveries are signed with', async () => {
    const app = await serveApp();
    await run(['endpoints', 'ensure', app.url, '--save-secret', 'secret.txt']);
    await emulator.emit('stt.completed');
    await emulator.settled();
    const [got] = app.got;
    writeFileSync(join(cli.cwd, 'body'), got?.body ?? '');
    const headers = Object.entries(got?.headers ?? {}).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const { exitCode } = await run(['verify', 'body', '--secret', 'file:secret.txt', '--at', 'signed', ...headers]);
    expect(exitCode).toBe(0);
  });

  it('ensure makes none where its secret would be lost', async () => {
    expect(await run(['endpoints', 'ensure', URL_1])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('say where to keep it, --save-secret FILE'),
    });
    writeFileSync(join(cli.cwd, 'secret.txt'), 'of another endpoint');
    expect(await run(['endpoints', 'ensure', URL_1, '--save-secret', 'secret.txt'])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('there is a file in its place; choose another name'),
    });
    expect(readFileSync(join(cli.cwd, 'secret.txt'), 'utf8')).toBe('of another endpoint');
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('ensure leaves no file behind where the service refuses', async () => {
    const args = ['endpoints', 'ensure', 'https://127.0.0.1.nip.example', '--save-secret', 'secret.txt'];
    emulator.script({ method: 'POST', path: '/api/v1/account/webhooks', error: 'insufficient_scope' });
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^service-webhooks: the service says no: insufficient_scope: .+ \(req_\w+\)\n$/);
    expect(() => statSync(join(cli.cwd, 'secret.txt'))).toThrow('ENOENT');
  });

  it.skipIf(inside)('ensure takes an endpoint back whose secret could not be kept', async () => {
    const ensure = `service-webhooks endpoints ensure ${URL_1} --save-secret secret.txt`;
    const { exitCode, stderr } = await cli.shell(`ulimit -f 0; ${ensure}`, { env });
    expect(exitCode).toBe(3);
    expect(withoutKeyLine(stderr)).toMatch(/^service-webhooks: secret\.txt: .*file too large.*\n$/);
    expect(emulator.totals.endpoints).toBe(1);
    expect(() => statSync(join(cli.cwd, 'secret.txt'))).toThrow('ENOENT');
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('update changes the URL, the events or both', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    const events = ['stt.failed', 'stt.completed'];
    expect(await run(['endpoints', 'update', id, '--events', events.join()])).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'endpoint', action: 'updated', id, events }],
    });
    expect((await run(['endpoints', 'update', id, '--url', 'https://other.example/'])).records).toEqual([
      { kind: 'endpoint', action: 'updated', id, url: 'https://other.example/' },
    ]);
    expect(emulator.endpoints.get(id)).toMatchObject({
      url: 'https://other.example/',
      events: ['stt.failed', 'stt.completed'],
    });
    expect(await run(['endpoints', 'update', id])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('url or events must be given'),
    });
  });

  it('delete deletes one', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    expect(await run(['endpoints', 'delete', id, '--yes'])).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'endpoint', action: 'deleted', id }],
    });
    expect(emulator.endpoints.list()).toEqual([]);
    expect(await run(['endpoints', 'delete', id, '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('not_found'),
    });
  });

  it('complete their commands and options', async () => {
    expect((await run(['complete', '--', 'endpoints', ''])).stdout.split('\n')).toEqual([
      'list',
      'ensure',
      'update',
      'test',
      'rotate',
      'delete',
      'help',
      '',
    ]);
    expect((await run(['complete', '--', 'endpoints', 'ensure', '--sa'])).stdout).toBe('--save-secret\n');
    expect((await run(['complete', '--', 'endpoints', 'update', 'wh_1', '--events', 'stt.c'])).stdout).toBe(
      'stt.completed\n',
    );
  });
});

describe('limits and usage', () => {
  it('limits says what the account has left', async () => {
    const { exitCode, records } = await run(['limits']);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      {
        kind: 'limits',
        plan: { type: 'PROFESSIONAL' },
        credits: {},
        limits: { rate_limit_per_minute: 100 },
        sandbox: false,
      },
    ]);
    const { stdout } = await run(['limits', '--text']);
    expect(stdout).toMatch(
      /^Professional {2}with API access\ncredits {2}\d+ of \d+ a month\nrequests {2}\d+ of 10000 left today\nrate {2}100 a minute\nkeys {2}5 at most\n$/,
    );
  });

  it('usage prints what the service says', async () => {
    const { exitCode, records } = await run(['usage']);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ kind: 'usage', data: { credits: expect.any(Object) } }]);
  });

  it('take the key from a file or stdin, and the address from an option', async () => {
    const [key, url] = [env['SERVICE_API_KEY'] ?? '', env['SERVICE_URL'] ?? ''];
    writeFileSync(join(cli.cwd, 'key'), `${key}\n`);
    expect((await run(['limits', '--key', 'file:key', '--base-url', url], { env: {} })).exitCode).toBe(0);
    expect((await run(['limits', '--key', '-', '--base-url', url], { env: {}, stdin: key })).exitCode).toBe(0);
  });
});

describe('a call of the API that fails', () => {
  const failing = (more: Record<string, string | undefined>, ...args: string[]) =>
    run(['limits', ...args], { env: { ...env, ...more } });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no key', { SERVICE_API_KEY: undefined }, /the environment variable SERVICE_API_KEY is not set; export it\./],
    ['a key with a line break', { SERVICE_API_KEY: 'acct_1\nx' }, /apiKey has a line break: trim it/],
    ['no address', { SERVICE_URL: undefined }, /where is the API\? Set SERVICE_URL, give --base-url/],
    ['an address without a scheme', { SERVICE_URL: 'api.example' }, /baseUrl must begin with https:\/\//],
  ])('for %s ends with 2', async (_, more, says) => {
    expect(await failing(more)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(says) });
  });

  it('for a key on the command line ends with 2, and does not repeat it', async () => {
    expect(await run(['limits', '--key', emulator.apiKey])).toMatchObject({ exitCode: 2 });
  });

  it('since nobody is there ends with 4', async () => {
    const { exitCode, stderr } = await failing({ SERVICE_URL: 'http://127.0.0.1:1' });
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/failed: .+Check baseUrl.+\(no_connection\)/);
  });

  it.each([
    ['an HTML page', text('<html>', 200), 4, /is not JSON: .+\(not_json\)/],
    ['an unknown key', refusal('invalid_api_key', 401), 1, /the service says no: invalid_api_key: no/],
    [
      'too many requests',
      refusal('concurrency_limit_exceeded', 429, {}, { 'retry-after': '7' }),
      1,
      /Try again in 7 s\./,
    ],
    ['a redirect', text('', 302, { location: 'https://other.example/' }), 4, /\(redirected\)/],
    ['escapes of a terminal', refusal('forbidden', 403, { message: '\u001b[2J' }), 1, /forbidden: \\u001b\[2J/],
  ])('a call of the API that fails with %s says so', async (_, reply, exitCode, says) => {
    const api = await serveApi();
    onTestFinished(() => api.close());
    api.replies.push(reply);
    expect(await failing({ SERVICE_URL: api.url })).toMatchObject({ exitCode, stderr: expect.stringMatching(says) });
  });

  it.each([['limits'], ['usage'], ['endpoints', 'list']])('ends at once with Ctrl+C: %s %s', async (...args) => {
    const api = await serveApi();
    onTestFinished(() => api.close());
    let arrived = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    api.replies.push(() => arrived());
    const { signal, ended } = cli.start(args, { env: { ...env, SERVICE_URL: api.url } });
    await there;
    signal('SIGINT');
    const { exitCode, stderr } = await ended;
    expect([exitCode, withoutKeyLine(stderr)]).toEqual([130, 'service-webhooks: stopped before it was done.\n']);
  });
});

describe('listen --url', () => {
  async function start(...args: string[]) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hook`;
    const running = cli.start(['listen', '--port', `${port}`, '--url', url, ...args], { env });
    const listening = await running.next('listening');
    return { ...running, url, listening };
  }

  it('listen --url has the service deliver here for as long as it runs, and leaves nothing behind after Ctrl+C', async () => {
    const { url, listening, next, signal, ended } = await start('--events', 'stt.completed');
    const [endpoint] = emulator.endpoints.list();
    expect(endpoint).toMatchObject({ url, events: ['stt.completed'] });
    expect(listening).toMatchObject({ verifies: true, endpoint: { id: endpoint?.id, url } });
    await emulator.emit('stt.completed', { id: 'evt_1' });
    expect(await next('delivery')).toMatchObject({ id: 'evt_1', verdict: 'verified', status: 200 });
    signal('SIGINT');
    const { exitCode, stderr } = await ended;
    expect([exitCode, withoutKeyLine(stderr)]).toEqual([0, '']);
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('leaves nothing behind after %s', async (name) => {
    const { signal, ended } = await start();
    expect(emulator.endpoints.list()).toHaveLength(1);
    signal(name);
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it.skipIf(inside)('listen --url leaves nothing behind where the reader of its output has gone', async () => {
    const { stopReading, ended } = await start();
    stopReading();
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    await ended;
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('listen --url takes requests under the host of its URL, and under no other name', async () => {
    const { next } = cli.start(['listen', '--port', '0', '--url', URL_1], { env });
    const port = Number(new URL(String((await next('listening'))['url'])).port);
    const postTo = (host: string) => exchange(port, toBytes({ host, headers: [], body: Buffer.from('{}') }));
    expect((await postTo(new URL(URL_1).host)).status).toBe(401);
    expect((await postTo('evil.example')).status).toBe(421);
  });

  it('listen --url leaves nothing behind where the port is in use', async () => {
    const { port, url } = await serveApp();
    const { exitCode, stderr } = await run(['listen', '--port', `${port}`, '--url', url]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('is in use');
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('listen --url leaves an endpoint alone that has its URL, unless --cleanup says that it may go', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    const { exitCode, stderr } = await run(['listen', '--port', '0', '--url', URL_1]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('there is an endpoint with this URL already');
    const { next, signal, ended } = cli.start(['listen', '--port', '0', '--url', URL_1, '--cleanup'], { env });
    await next('listening');
    const [made] = emulator.endpoints.list();
    expect(made?.id).not.toBe(id);
    expect(made).toMatchObject({ url: URL_1, events: WEBHOOK_EVENT_TYPES });
    signal('SIGINT');
    await ended;
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it.skipIf(inside)('--cleanup deletes what one left behind that was killed; without it, says so', async () => {
    const { url, signal, ended } = await start();
    signal('SIGKILL');
    await ended;
    const [left] = emulator.endpoints.list();
    const { exitCode, stderr } = await run(['listen', '--port', '0', '--url', url]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`there is an endpoint with this URL already (${left?.id}): --cleanup deletes it.`);
    const other = emulator.endpoints.create({ url: URL_1 });
    const again = cli.start(['listen', '--port', '0', '--url', url, '--cleanup'], { env });
    await again.next('listening');
    expect(emulator.endpoints.get(left?.id ?? '')).toBeUndefined();
    again.signal('SIGINT');
    await again.ended;
    expect(emulator.endpoints.list()).toMatchObject([{ id: other.id }]);
  });

  it('listen --url finds the endpoint by its URL where the answer to the creation does not show the id', async () => {
    const api = await serveApi();
    onTestFinished(() => api.close());
    const listed = json({
      list: [
        { id: 'wh_1', url: 'https://other.example', events: [] },
        { id: 'wh_2', url: URL_1, events: ['x'] },
      ],
    });
    api.replies.push(json({ list: [] }), json({ signing_secret: 'the secret of it' }), listed, json({}));
    const { next, signal, ended } = cli.start(['listen', '--port', '0', '--url', URL_1], {
      env: { ...env, SERVICE_URL: api.url },
    });
    await next('listening');
    signal('SIGINT');
    const { exitCode, stdout } = await ended;
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('the secret of it');
    expect(api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/v1/account/webhooks',
      'POST /api/v1/account/webhooks',
      'GET /api/v1/account/webhooks',
      'DELETE /api/v1/account/webhooks/wh_2',
    ]);
  });

  it('listen --url says that the endpoint is still there where it could not be deleted', async () => {
    const { signal, ended } = await start();
    emulator.script({ method: 'DELETE', path: '/api/v1/account/webhooks/{id}', error: 'insufficient_scope' });
    signal('SIGINT');
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe(4);
    expect(withoutKeyLine(stderr)).toMatch(
      /^service-webhooks: the temporary endpoint is still there, since the service says no: insufficient_scope: .+ Next time: --cleanup\.\n$/,
    );
  });

  it.each([
    [['--cleanup'], 2, '--cleanup is about the endpoint of --url: give both.'],
    [['--url', URL_1, '--secret', 'env:HOME'], 2, '--url makes a secret of its own: leave --secret out.'],
    [['--url', 'nonsense'], 2, 'url must be a URL'],
    [['--url', 'http://app.example/'], 1, 'the service says no: validation_error'],
  ])('%j ends with %i', async (args, exitCode, says) => {
    expect(await run(['listen', '--port', '0', ...args])).toMatchObject({
      exitCode,
      stdout: '',
      stderr: expect.stringContaining(says),
    });
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('listen --url makes no second endpoint where the answer to the creation is lost', async () => {
    const api = await serveApi();
    onTestFinished(() => api.close());
    for (const lost of [hangUp, breakOff]) {
      api.reset();
      api.replies.push(json({ list: [] }), lost);
      const { exitCode } = await run(['listen', '--port', '0', '--url', URL_1], {
        env: { ...env, SERVICE_URL: api.url },
      });
      expect(exitCode).toBe(4);
      expect(api.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    }
  });
});
