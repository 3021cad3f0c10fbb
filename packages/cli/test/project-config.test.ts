import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Got, serveApp } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { useCli } from './support/cli.js';

const cli = useCli();
const write = (name: string, content: string | object) =>
  writeFileSync(join(cli.cwd, name), typeof content === 'string' ? content : JSON.stringify(content));
const unset = { env: { WEBHOOK_SECRET: undefined } };

describe('the settings of a project', () => {
  it('the secret is read from .env, and a variable of the environment wins', async () => {
    write('.env', `# local\nWEBHOOK_SECRET="${SECRET}"\n`);
    const app = await serveApp();
    expect((await cli.run(['send', 'stt.failed', app.url], unset)).exitCode).toBe(0);
    await cli.run(['send', 'stt.failed', app.url], { env: { WEBHOOK_SECRET: 'another' } });
    const [fromFile, fromEnvironment] = app.got as [Got, Got];
    const verified = async ({ headers, body }: Got) => {
      write('body.json', body.toString());
      const signature = `X-Service-Signature-V2: ${headers['x-service-signature-v2']}`;
      return (await cli.run(['verify', 'body.json', '--header', signature], unset)).exitCode;
    };
    expect([await verified(fromFile), await verified(fromEnvironment)]).toEqual([0, 1]);
  });

  it.each(['.dev.vars', '.env.local'])('of %s, the secret is read and nothing else', async (file) => {
    write(file, `WEBHOOK_SECRET=${SECRET}\nSERVICE_API_KEY=acct_1\n`);
    const { exitCode, stderr } = await cli.run(['sign', '-', '--verbose'], { ...unset, stdin: '{}' });
    expect([exitCode, stderr]).toEqual([0, `${file}: WEBHOOK_SECRET\n`]);
  });

  it('the prefix, the path and the name of the secret are read from service-webhooks.json', async () => {
    write('.env', `CLIPS_SECRET=${SECRET}\n`);
    write('service-webhooks.json', { headerPrefix: 'x-vendor', path: '/hooks/in', secretVariable: 'CLIPS_SECRET' });
    const app = await serveApp();
    expect((await cli.run(['send', 'stt.failed', `${app.port}`], unset)).exitCode).toBe(0);
    expect(app.got[0]).toMatchObject({ path: '/hooks/in' });
    expect(app.got[0]?.headers).toHaveProperty('x-vendor-signature-v2');
  });

  it('the command line wins over the file', async () => {
    write('service-webhooks.json', { headerPrefix: 'x-vendor', path: '/hooks' });
    const app = await serveApp();
    await cli.run(['send', 'stt.failed', `${app.url}/other`, '--header-prefix', 'x-own']);
    expect(app.got[0]).toMatchObject({ path: '/other' });
    expect(app.got[0]?.headers).toHaveProperty('x-own-signature-v2');
  });

  it('the base URL is read from service-webhooks.json', async () => {
    write('.env', 'SERVICE_API_KEY=acct_1\n');
    write('service-webhooks.json', { baseUrl: 'http://127.0.0.1:1' });
    const { exitCode, stderr } = await cli.run(['limits']);
    const says = 'http://127.0.0.1:1, from baseUrl in service-webhooks.json';
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it('--verbose names what was read, and never the value of a variable', async () => {
    write('.env', `WEBHOOK_SECRET=${SECRET}\nOTHER=word\n`);
    write('service-webhooks.json', { path: '/hooks' });
    const { stderr, stdout } = await cli.run(['sign', '-', '--verbose'], { ...unset, stdin: '{}' });
    expect(stderr).toMatch(
      /^service-webhooks\.json: path \/hooks\n\.env: (OTHER, WEBHOOK_SECRET|WEBHOOK_SECRET, OTHER)\n$/,
    );
    expect(stdout + stderr).not.toMatch(new RegExp(`${SECRET}|word`));
  });

  it.each([
    ['{', 'it is no JSON object'],
    ['[]', 'it is no JSON object'],
    [{ pth: '/a' }, 'unknown setting pth: did you mean path?'],
    [{ secret: SECRET }, 'the secret does not belong here: name its variable in secretVariable'],
    [{ path: 'a' }, 'path must be text like /webhooks'],
    [{ headerPrefix: 7 }, 'headerPrefix must be text like x-service'],
    [{ job: {} }, 'unknown setting job: did you mean jobs?'],
    [{ jobs: 'redis://localhost' }, 'jobs must be like { "engine": "sqlite", "at": "webhooks.db" }'],
    [{ jobs: { engine: 'redis', queue: 'clips' } }, 'jobs must be like { "engine": "sqlite", "at": "webhooks.db" }'],
  ])('a wrong file is refused, without its values: %j', async (content, says) => {
    write('service-webhooks.json', content);
    const { exitCode, stderr } = await cli.run(['sign', '-'], { stdin: '{}' });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(`service-webhooks.json: ${says}`)]);
    expect(stderr).not.toContain(SECRET);
  });

  it('a missing secret is answered with a line for .env that makes one up', async () => {
    const { exitCode, stderr } = await cli.run(['send', 'stt.failed', '1'], unset);
    expect(exitCode).toBe(2);
    const [line = ''] = /WEBHOOK_SECRET=whsec_[0-9a-f]{48}/.exec(stderr) ?? [];
    write('.env', `${line}\n`);
    expect((await cli.run(['send', 'stt.failed', '1'], unset)).exitCode).toBe(4); // nothing listens there
  });
});
