import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { breakOff, hangUp, json, refusal, serveApi, text } from '../../../../../test/client/serve-api.js';
import { serveApp } from '../../../../../test/support/app.js';
import { later } from '../../../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { freePort } from '../../../../../test/support/server-process.js';
import { type CliOptions, inside, useCli } from '../../support/cli.js';
import { withoutKeyLine } from '../../support/key-line.js';
import { failed } from '../support.js';

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

/** An API that answers so. */
async function anApi(...replies: Awaited<ReturnType<typeof serveApi>>['replies']) {
  const api = await serveApi();
  onTestFinished(() => api.close());
  api.replies.push(...replies);
  return api;
}

describe('the command endpoints', () => {
  it('list prints each endpoint, without its secret', async () => {
    const { id, signingSecret } = emulator.endpoints.create({ url: URL_1, events: ['stt.failed'] });
    const { exitCode, records, stdout } = await run(['endpoints', 'list']);
    expect(exitCode).toBe(0);
    expect(records).toEqual([{ kind: 'endpoint', id, url: URL_1, events: ['stt.failed'] }]);
    expect(stdout).not.toContain(signingSecret);
  });

  it('list --text prints a line for each endpoint, or says that there is none', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['endpoints', 'list', '--text'], { env });
    expect([exitCode, stdout, withoutKeyLine(stderr)]).toEqual([0, '', 'There is no endpoint.\n']);
    const { id } = emulator.endpoints.create({ url: URL_1, events: ['stt.failed'] });
    const listed = await run(['endpoints', 'list', '--text']);
    expect(listed).toMatchObject({ exitCode: 0, stdout: `${id}  ${URL_1}  stt.failed\n`, stderr: '' });
  });

  it('ensure creates an endpoint, saves its secret for the owner alone, and updates the events', async () => {
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
    const unchanged = { kind: 'endpoint', action: 'unchanged', id: made?.id, url: URL_1, events: WEBHOOK_EVENT_TYPES };
    expect(again.records).toEqual([unchanged]);
    const changed = await run(['endpoints', 'ensure', URL_1, '--events', 'stt.failed']);
    expect(changed.records).toMatchObject([{ action: 'updated', id: made?.id, events: ['stt.failed'] }]);
    expect(emulator.endpoints.list()).toMatchObject([{ id: made?.id, events: ['stt.failed'] }]);
  });

  it('ensure saves the secret that deliveries are then signed with', async () => {
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

  it('ensure creates no endpoint where --save-secret is missing or names an existing file', async () => {
    const nowhere = 'say where to keep it, --save-secret FILE';
    expect(await run(['endpoints', 'ensure', URL_1])).toMatchObject(failed(2, nowhere));
    writeFileSync(join(cli.cwd, 'secret.txt'), 'of another endpoint');
    const taken = 'there is a file in its place; choose another name';
    expect(await run(['endpoints', 'ensure', URL_1, '--save-secret', 'secret.txt'])).toMatchObject(failed(3, taken));
    expect(readFileSync(join(cli.cwd, 'secret.txt'), 'utf8')).toBe('of another endpoint');
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('ensure leaves no secret file where the service refuses the endpoint', async () => {
    const args = ['endpoints', 'ensure', 'https://127.0.0.1.nip.example', '--save-secret', 'secret.txt'];
    emulator.script({ method: 'POST', path: '/api/v1/account/webhooks', error: 'insufficient_scope' });
    const says = /^service-webhooks: the service says no: insufficient_scope: .+ \(req_\w+\)\n$/;
    expect(await run(args)).toMatchObject(failed(1, says));
    expect(() => statSync(join(cli.cwd, 'secret.txt'))).toThrow('ENOENT');
  });

  it.skipIf(inside)('ensure deletes the new endpoint where its secret cannot be written', async () => {
    const ensure = `service-webhooks endpoints ensure ${URL_1} --save-secret secret.txt`;
    const { exitCode, stderr } = await cli.shell(`ulimit -f 0; ${ensure}`, { env });
    expect(exitCode).toBe(3);
    expect(withoutKeyLine(stderr)).toMatch(/^service-webhooks: secret\.txt: .*file too large.*\n$/);
    expect(emulator.totals.endpoints).toBe(1);
    expect(() => statSync(join(cli.cwd, 'secret.txt'))).toThrow('ENOENT');
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('update changes the URL or the events', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    const events = ['stt.failed', 'stt.completed'];
    expect(await run(['endpoints', 'update', id, '--events', events.join()])).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'endpoint', action: 'updated', id, events }],
    });
    expect((await run(['endpoints', 'update', id, '--url', 'https://other.example/'])).records).toEqual([
      { kind: 'endpoint', action: 'updated', id, url: 'https://other.example/' },
    ]);
    expect(emulator.endpoints.get(id)).toMatchObject({ url: 'https://other.example/', events });
    expect(await run(['endpoints', 'update', id])).toMatchObject(failed(2, 'url or events must be given'));
  });

  it('delete removes an endpoint, and fails where it is gone already', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    expect(await run(['endpoints', 'delete', id, '--yes'])).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'endpoint', action: 'deleted', id }],
    });
    expect(emulator.endpoints.list()).toEqual([]);
    expect(await run(['endpoints', 'delete', id, '--yes'])).toMatchObject(failed(1, 'not_found'));
  });

  it('delete takes a URL, and deletes each endpoint with it', async () => {
    const [one, two] = [emulator.endpoints.create({ url: URL_1 }), emulator.endpoints.create({ url: URL_1 })];
    const other = emulator.endpoints.create({ url: 'https://other.example/' });
    const { exitCode, records } = await run(['endpoints', 'delete', URL_1, '--yes', '--json']);
    expect([exitCode, records.map(({ id }) => id).toSorted()]).toEqual([0, [one.id, two.id].toSorted()]);
    expect(emulator.endpoints.list()).toMatchObject([{ id: other.id }]);
    const says = `there is no endpoint ${URL_1}: endpoints list shows all.`;
    expect(await run(['endpoints', 'delete', URL_1, '--yes'])).toMatchObject(failed(1, says));
  });

  it('the completion offers the subcommands, options and event types', async () => {
    const complete = async (...words: string[]) => (await run(['complete', '--', 'endpoints', ...words])).stdout;
    expect(await complete('')).toBe('list\nensure\nupdate\ntest\nrotate\ndelete\nhelp\n');
    expect(await complete('ensure', '--sa')).toBe('--save-secret\n');
    expect(await complete('update', 'wh_1', '--events', 'stt.c')).toBe('stt.completed\n');
  });
});

describe('the command limits', () => {
  it('limits prints the plan, the credits and the requests that are left', async () => {
    const { exitCode, records } = await run(['limits']);
    expect(exitCode).toBe(0);
    const limits = { rate_limit_per_minute: 100 };
    expect(records).toMatchObject([
      { kind: 'limits', plan: { type: 'PROFESSIONAL' }, credits: {}, limits, sandbox: false },
    ]);
    const { stdout } = await run(['limits', '--text']);
    expect(stdout).toMatch(
      /^Professional {2}with API access\ncredits {2}\d+ of \d+ a month\nrequests {2}\d+ of 10000 left today\nrate {2}100 a minute\nkeys {2}5 at most\nusage {2}\{.+\}\n$/,
    );
  });

  it('limits prints the usage that the service states', async () => {
    const { records } = await run(['limits', '--json']);
    expect(records).toMatchObject([{ kind: 'limits', usage: { credits: expect.any(Object) } }]);
    expect((await run(['limits', '--text'])).stdout).toMatch(/^keys {2}5 at most\nusage {2}\{"credits":\{/m);
  });

  it('limits names the missing scope where the key may not read the usage', async () => {
    const keyWithout = emulator.keys.create({ scopes: ['webhooks:read'] });
    const more = { env: { ...env, SERVICE_API_KEY: keyWithout } };
    const says =
      'The usage was not read, for which the key needs analytics:read: the service says no: insufficient_scope: ';
    const usageProblem = expect.stringContaining(says);
    expect(await run(['limits', '--json'], more)).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'limits', plan: { type: 'PROFESSIONAL' }, usage: null, usageProblem }],
    });
    const { stdout } = await run(['limits', '--text'], more);
    expect(stdout).toMatch(new RegExp(`\nkeys  5 at most\nno usage  ${says}.+\n$`));
  });

  it('limits are printed also where the usage cannot be read', async () => {
    emulator.script({ method: 'GET', path: '/api/v1/usage', error: 'forbidden' });
    const [record] = (await run(['limits', '--json'])).records;
    expect(record).toMatchObject({ kind: 'limits', usage: null, usageProblem: expect.stringContaining('forbidden') });
  });

  it('the API key is read from a file or stdin, and the address of the API from --base-url', async () => {
    const [key, url] = [env['SERVICE_API_KEY'] ?? '', env['SERVICE_URL'] ?? ''];
    writeFileSync(join(cli.cwd, 'key'), `${key}\n`);
    expect((await run(['limits', '--key', 'file:key', '--base-url', url], { env: {} })).exitCode).toBe(0);
    expect((await run(['limits', '--key', '-', '--base-url', url], { env: {}, stdin: key })).exitCode).toBe(0);
  });
});

describe('a command whose call of the API fails', () => {
  const failing = (more: Record<string, string | undefined>, ...args: string[]) =>
    run(['limits', ...args], { env: { ...env, ...more } });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no key', { SERVICE_API_KEY: undefined }, /the environment variable SERVICE_API_KEY is not set; export it\./],
    ['a key with a line break', { SERVICE_API_KEY: 'acct_1\nx' }, /apiKey has a line break: trim it/],
    ['no address', { SERVICE_URL: undefined }, /where is the API\? Set SERVICE_URL to its address/],
    ['an address without a scheme', { SERVICE_URL: 'api.example' }, /baseUrl must begin with https:\/\//],
  ])('the exit code is 2 for %s', async (_, more, says) => {
    expect(await failing(more)).toMatchObject(failed(2, says));
  });

  it('a key on the command line is refused, and not repeated', async () => {
    expect(await run(['limits', '--key', emulator.apiKey])).toMatchObject({ exitCode: 2 });
  });

  it('the exit code is 4 where nothing answers', async () => {
    const ended = await failing({ SERVICE_URL: 'http://127.0.0.1:1' });
    expect(ended).toMatchObject(failed(4, /failed: .+Check baseUrl.+\(no_connection\)/));
  });

  const tooMany = refusal('concurrency_limit_exceeded', 429, {}, { 'retry-after': '7' });
  it.each([
    ['an HTML page', text('<html>', 200), 4, /is not JSON: .+\(not_json\)/],
    ['an unknown key', refusal('invalid_api_key', 401), 1, /the service says no: invalid_api_key: no/],
    ['too many requests', tooMany, 1, /Try again in 7 s\./],
    ['a redirect', text('', 302, { location: 'https://other.example/' }), 4, /\(redirected\)/],
    ['escapes of a terminal', refusal('forbidden', 403, { message: '\u001b[2J' }), 1, /forbidden: \\u001b\[2J/],
  ])('the error names the answer of the API: %s', async (_, reply, exitCode, says) => {
    const api = await anApi(reply);
    expect(await failing({ SERVICE_URL: api.url })).toMatchObject(failed(exitCode, says));
  });

  it.each([['limits'], ['endpoints', 'list']])('Ctrl+C ends the call at once: %s %s', async (...args) => {
    const arrived = later();
    const api = await anApi(() => arrived.resolve());
    const { signal, ended } = cli.start(args, { env: { ...env, SERVICE_URL: api.url } });
    await arrived.promise;
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

  it('a temporary endpoint delivers to listen, and is deleted when it ends', async () => {
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

  it.each(['SIGTERM', 'SIGHUP'] as const)('the temporary endpoint is deleted after %s', async (name) => {
    const { signal, ended } = await start();
    expect(emulator.endpoints.list()).toHaveLength(1);
    signal(name);
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it.skipIf(inside)('the temporary endpoint is deleted where the reader of the output has gone', async () => {
    const { stopReading, ended } = await start();
    stopReading();
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    await ended;
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('requests are accepted under the host of the URL, and under no other host', async () => {
    const { next } = cli.start(['listen', '--port', '0', '--url', URL_1], { env });
    const port = Number(new URL(String((await next('listening'))['url'])).port);
    const postTo = (host: string) => exchange(port, toBytes({ host, headers: [], body: Buffer.from('{}') }));
    expect((await postTo(new URL(URL_1).host)).status).toBe(401);
    expect((await postTo('evil.example')).status).toBe(421);
  });

  it('no endpoint is left where the port is in use', async () => {
    const { port, url } = await serveApp();
    expect(await run(['listen', '--port', `${port}`, '--url', url])).toMatchObject(failed(4, 'is in use'));
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('the error for an existing endpoint with the same URL names the command that deletes it', async () => {
    const { id } = emulator.endpoints.create({ url: URL_1 });
    const args = ['listen', '--port', '0', '--url', URL_1];
    const ended = await run(args);
    expect(ended).toMatchObject(failed(1, `there is an endpoint with this URL already (${id})`));
    const [, command = ''] = /delete it: npx service-webhooks-cli (.+)\n$/.exec(ended.stderr) ?? [];
    expect(emulator.endpoints.list()).toHaveLength(1);
    expect(await run([...command.split(' '), '--yes'])).toMatchObject({ exitCode: 0 });
    const { next, signal, ended: end } = cli.start(args, { env });
    await next('listening');
    expect(emulator.endpoints.list()).toMatchObject([{ url: URL_1, events: WEBHOOK_EVENT_TYPES }]);
    signal('SIGINT');
    await end;
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('the error names a temporary endpoint that could not be deleted', async () => {
    const { signal, ended } = await start();
    emulator.script({ method: 'DELETE', path: '/api/v1/account/webhooks/{id}', error: 'insufficient_scope' });
    signal('SIGINT');
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe(4);
    expect(withoutKeyLine(stderr)).toMatch(
      /^service-webhooks: the temporary endpoint is still there, since the service says no: insufficient_scope: .+ Delete it: npx service-webhooks-cli endpoints delete \S+\n$/,
    );
  });

  it.each([
    [['--cleanup'], 2, "unknown option '--cleanup'"],
    [['--key', 'file:key'], 2, "unknown option '--key'"],
    [['--url', URL_1, '--secret', 'env:HOME'], 2, '--url makes a secret of its own: leave --secret out.'],
    [['--url', 'nonsense'], 2, 'url must be a URL'],
    [['--url', 'http://app.example/'], 1, 'the service says no: validation_error'],
  ])('the options %j exit with %i: %s', async (args, exitCode, says) => {
    expect(await run(['listen', '--port', '0', ...args])).toMatchObject(failed(exitCode, says));
    expect(emulator.endpoints.list()).toEqual([]);
  });

  it('the creation of the endpoint is not retried where its answer is lost', async () => {
    for (const lost of [hangUp, breakOff]) {
      const api = await anApi(json({ list: [] }), lost);
      const more = { env: { ...env, SERVICE_URL: api.url } };
      expect((await run(['listen', '--port', '0', '--url', URL_1], more)).exitCode).toBe(4);
      expect(api.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
    }
  });
});
