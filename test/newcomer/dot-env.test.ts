import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileSources } from '../examples/sources.js';
import { PATIENTLY } from '../support/patiently.js';

const LOADER = new URL('../examples/from-sources.mjs', import.meta.url).href;
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url)); // where the package is found
const SECRET = 'whsec_of_the_dot_env_file';
const START = 'start with `node --env-file=.env server.js`';

const withReceiver = (secret: string) => `
  import { createReceiver } from 'service-webhooks';
  createReceiver({ secret: ${secret}, on: {} });
  console.log('started');`;

let sources: ReturnType<typeof compileSources>;
let folder: string;

beforeAll(() => {
  sources = compileSources();
});
afterAll(() => sources.remove());

beforeEach(() => {
  mkdirSync(CACHE, { recursive: true });
  folder = mkdtempSync(join(CACHE, 'dot-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts `server.js` in the folder as its author does, and returns what it prints. */
function start(code: string, { flags = [], env = {} }: { flags?: string[]; env?: object } = {}): string {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'server.js'), code);
  const { PATH, HOME } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--import', LOADER, 'server.js'], {
    ...{ cwd: folder, encoding: 'utf8', ...PATIENTLY },
    env: { PATH, HOME, SOURCES: sources.folder, ...env },
  });
  expect(stdout + stderr).not.toContain(SECRET);
  return stdout + stderr;
}

const dotEnv = (text: string) => writeFileSync(join(folder, '.env'), text);

describe('a secret that only the .env of the working directory has', () => {
  it.each([
    ['undefined', 'process.env.WEBHOOK_SECRET'],
    ['empty', "process.env.WEBHOOK_SECRET ?? ''"],
    ["the text 'undefined'", 'String(process.env.WEBHOOK_SECRET)'],
    ['undefined in a list', '[process.env.WEBHOOK_SECRET]'],
    ['undefined for a tenant', '{ acme: process.env.WEBHOOK_SECRET }'],
  ])(
    'the error of a secret that is %s names the command that loads it, and that command starts the app',
    (_, secret) => {
      dotEnv(`PORT=3000\nexport WEBHOOK_SECRET="${SECRET}" # of the endpoint\n`);
      expect(start(withReceiver(secret))).toContain(
        `Node has not loaded WEBHOOK_SECRET, but \`.env\` has it: ${START}.`,
      );
      expect(start(withReceiver(secret), { flags: ['--env-file=.env'] })).toBe('started\n');
    },
  );

  it('the error names a variable that another app has for it', () => {
    dotEnv(`SESSION_SECRET=session\nACME_SIGNING_SECRET=${SECRET}`);
    expect(start(withReceiver("''"))).toContain('Node has not loaded ACME_SIGNING_SECRET');
  });

  it('the error of an empty variable, which Node does not replace, says to unset it', () => {
    dotEnv(`WEBHOOK_SECRET=${SECRET}`);
    const printed = start(withReceiver('process.env.WEBHOOK_SECRET'), {
      flags: ['--env-file=.env'],
      env: { WEBHOOK_SECRET: '' },
    });
    expect(printed).toContain('The environment has an empty WEBHOOK_SECRET, which overrides that of `.env`: unset it.');
  });

  it('verify says the same', () => {
    dotEnv(`WEBHOOK_SECRET=${SECRET}`);
    const code = `import { verify } from 'service-webhooks'; verify({ headers: {}, body: '{}', secret: '' });`;
    expect(start(code)).toContain(START);
  });
});

describe('a secret that .env cannot help with', () => {
  const USUAL = 'Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set for this process.';

  it.each<[string, () => void, object?]>([
    ['there is no .env', () => {}],
    ['.env has no secret', () => dotEnv('PORT=3000\nSESSION_SECRET=session')],
    ['the secret in .env is empty', () => dotEnv('WEBHOOK_SECRET=')],
    ['.env is no text', () => writeFileSync(join(folder, '.env'), new Uint8Array([0xff, 0, 0xfe]))],
    ['.env is a folder', () => mkdirSync(join(folder, '.env'))],
    ['.env is a pipe that no process writes to', () => void spawnSync('mkfifo', [join(folder, '.env')])],
    ['the variable is set already', () => dotEnv(`WEBHOOK_SECRET=${SECRET}`), { WEBHOOK_SECRET: SECRET }],
  ])('the error is the usual one where %s', (_, prepare, env = {}) => {
    prepare();
    const printed = start(withReceiver('process.env.NO_SUCH_VARIABLE'), { env });
    expect(printed).toContain(`secret is undefined. ${USUAL}`);
    expect(printed).not.toContain('--env-file');
  });

  it('the error of a secret with another fault does not speak of .env', () => {
    dotEnv(`WEBHOOK_SECRET=${SECRET}`);
    expect(start(withReceiver("'abc '"))).toContain('secret ends with a space. Trim it.');
  });
});
