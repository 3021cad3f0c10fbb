import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Api, serveApi } from '../../../test/client/serve-api.js';
import { hasProgram } from '../../../test/integration/program.js';
import { inside, useCli } from './support/cli.js';
import { inTerminal } from './support/pseudo-terminal.js';

const cli = useCli();
const KEY = 'acct_of_the_user';
const fromEnvironment = { SERVICE_API_KEY: KEY };

/** The host that a project folder names. */
let api: Api;
beforeEach(async () => {
  api = await serveApi();
  onTestFinished(() => api.close());
});

const write = (name: string, text: string) => writeFileSync(join(cli.cwd, name), text);
const nameInSettings = () => write('service-webhooks.json', JSON.stringify({ baseUrl: api.url }));
const nameInDotEnv = (more = '') => write('.env', `SERVICE_URL=${api.url}\n${more}`);
const keysSeen = () => api.seen.map(({ headers }) => headers.authorization ?? headers['x-api-key']);

describe('a host named by a file of the folder', () => {
  it.each([
    'limits',
    'endpoints list',
    'endpoints ensure https://app.example/ --save-secret secret.txt',
    'endpoints update wh_1 --events stt.failed',
    'endpoints test wh_1',
    'endpoints rotate wh_1 --yes',
    'endpoints delete wh_1 --yes',
    'listen --port 0 --url https://app.example/',
  ])('the command %s does not send it the API key of the environment', async (line) => {
    nameInSettings();
    const { exitCode, stdout, stderr } = await cli.run(line.split(' '), { env: fromEnvironment });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'service-webhooks: stdin is not a terminal: the API key comes from the environment variable SERVICE_API_KEY, ' +
        `but its host, ${api.url}, from baseUrl in service-webhooks.json. If you trust it, set SERVICE_URL=${api.url} in the environment.\n`,
    });
    expect(api.seen).toEqual([]);
  });

  it.each([
    ['env:MY_KEY', 'the environment variable MY_KEY'],
    ['file:key.txt', 'the file key.txt'],
    ['-', 'stdin'],
  ])('the API key from %s is not sent to the host in .env', async (source, says) => {
    nameInDotEnv();
    write('key.txt', KEY);
    const ended = await cli.run(['limits', '--key', source], { env: { MY_KEY: KEY }, stdin: KEY });
    expect(ended).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        `the API key comes from ${says}, but its host, ${api.url}, from SERVICE_URL in .env`,
      ),
    });
    expect(api.seen).toEqual([]);
  });

  it.each(['.env.local', '.dev.vars'])('the API key of the environment is not sent to the host in %s', async (file) => {
    write('service-webhooks.json', '{ "secretVariable": "SERVICE_URL" }');
    write(file, `SERVICE_URL=${api.url}\n`);
    const { exitCode, stderr } = await cli.run(['limits'], { env: fromEnvironment });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`from SERVICE_URL in ${file}`)]);
    expect(api.seen).toEqual([]);
  });

  it('the key in .env is sent to the host in .env', async () => {
    nameInDotEnv(`SERVICE_API_KEY=${KEY}\n`);
    const { stderr } = await cli.run(['limits']);
    expect(stderr).toContain(`The API key (SERVICE_API_KEY in .env) is sent to ${api.url} (SERVICE_URL in .env).\n`);
    expect(keysSeen()).toHaveLength(1);
  });

  it('the key in .env is not sent to the host in service-webhooks.json', async () => {
    nameInSettings();
    write('.env', `SERVICE_API_KEY=${KEY}\n`);
    const { exitCode, stderr } = await cli.run(['limits']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the API key comes from SERVICE_API_KEY in .env')]);
    expect(api.seen).toEqual([]);
  });

  it('the key of the environment is not sent where .env has the same name', async () => {
    nameInDotEnv('SERVICE_API_KEY=acct_of_the_folder\n');
    expect((await cli.run(['limits'], { env: fromEnvironment })).exitCode).toBe(2);
    expect(api.seen).toEqual([]);
  });

  it('the environment and the command line override the host of a file', async () => {
    write('service-webhooks.json', JSON.stringify({ baseUrl: 'https://evil.test' }));
    const fromVariable = await cli.run(['limits'], { env: { ...fromEnvironment, SERVICE_URL: api.url } });
    expect(fromVariable.stderr).toContain(
      'The API key (the environment variable SERVICE_API_KEY) is sent to ' +
        `${api.url} (the environment variable SERVICE_URL).\n`,
    );
    const typed = await cli.run(['limits', '--base-url', `${api.url}/`], { env: fromEnvironment });
    expect(typed.stderr).toContain(`is sent to ${api.url} (--base-url).\n`);
    expect(keysSeen()).toHaveLength(2);
  });
});

describe('the notice about the host of the API key', () => {
  it('the host is printed on stderr, and only the result on stdout', async () => {
    api.replies.push((response) =>
      response.end('{"data":{"list":[{"id":"wh_1","url":"https://a.test/","events":[]}]}}'),
    );
    const ended = await cli.run(['--json', 'endpoints', 'list', '--base-url', api.url], { env: fromEnvironment });
    expect(ended).toMatchObject({ exitCode: 0, records: [{ kind: 'endpoint' }] });
    expect(ended.stderr).toBe(
      `The API key (the environment variable SERVICE_API_KEY) is sent to ${api.url} (--base-url).\n`,
    );
  });

  it('the host is printed also where the call fails', async () => {
    const { exitCode, stderr } = await cli.run(['limits', '--base-url', 'http://127.0.0.1:1'], {
      env: fromEnvironment,
    });
    expect([exitCode, stderr.split('\n')[0]]).toEqual([4, expect.stringContaining('is sent to http://127.0.0.1:1 (')]);
  });
});

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script') && !inside)('the question on a terminal before an API key is sent', () => {
  const ask = async () => {
    nameInSettings();
    const running = inTerminal(cli, ['endpoints', 'list'], fromEnvironment);
    await running.shows(/Send the key there\? \[y\/N\]/);
    expect(api.seen).toEqual([]);
    return running;
  };

  it('the answer yes sends the key to the host of the folder', async () => {
    const { type, ended } = await ask();
    type('y\r');
    const { exitCode, shown } = await ended;
    expect([exitCode, shown]).toEqual([0, expect.stringContaining(`is sent to ${api.url} (`)]);
    expect(keysSeen()).toHaveLength(1);
  });

  it('another answer sends nothing, and says how to name another host', async () => {
    const { type, ended } = await ask();
    type('\r');
    const { exitCode, shown } = await ended;
    expect([exitCode, shown]).toEqual([1, expect.stringContaining(`nothing was sent to ${api.url}`)]);
    expect(api.seen).toEqual([]);
  });

  it.each(['\u0003', '\u0004'])('Ctrl+C and Ctrl+D at the question send nothing and exit with 130: %j', async (key) => {
    const { type, ended } = await ask();
    type(key);
    expect((await ended).exitCode).toBe(130);
    expect(api.seen).toEqual([]);
  });

  it('the question shows the host without its control characters', async () => {
    write('.env', `SERVICE_URL="${api.url}/\u001b[2K\u202e"\n`);
    const { shows, type, ended } = inTerminal(cli, ['endpoints', 'list'], fromEnvironment);
    const [question] = await shows(/.*Send the key there\?/);
    type('\r');
    await ended;
    expect(question).toContain(api.url);
    for (const hostile of ['\u001b[2K', '\u202e']) expect(question).not.toContain(hostile);
  });
});
