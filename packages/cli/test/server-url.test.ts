import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli } from './support/cli.js';

const cli = useCli();

/** Makes the project one whose client fails with a message that shows all that it was given. */
function installTalkative(name: string, source: string): void {
  const folder = join(cli.cwd, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), source);
}
const SHOWS = 'new Error([url, decodeURIComponent(url), new URL(url).password, new URL(url).search].join(" "))';

const COMMANDS = [
  {
    args: ['migrations', 'status', '--postgres'],
    variable: 'DATABASE_URL',
    protocol: 'postgres',
    install: () =>
      installTalkative(
        'pg',
        `exports.Client = class { constructor({ connectionString: url }) { this.url = url }
           async connect() { const { url } = this; throw ${SHOWS} } }`,
      ),
  },
  {
    args: ['queue', 'list', '--queue', 'q', '--rabbitmq'],
    variable: 'RABBITMQ_URL',
    protocol: 'amqp',
    install: () => installTalkative('amqplib', `exports.connect = async (url) => { throw ${SHOWS} }`),
  },
];

describe.each(COMMANDS)('a server URL of $protocol for the command line', ({ args, variable, protocol, install }) => {
  const PASSWORD = 'hunter2!%/';
  const written = encodeURIComponent(PASSWORD);
  const url = `${protocol}://me:${written}@db.test/app?password=${written}`;

  it.each([`me:${written}@db.test/app`, `:${written}@db.test`, `me@db.test/app?password=${written}`])(
    'a password in the URL is refused on the command line: %s',
    async (rest) => {
      install();
      const { exitCode, stderr } = await cli.run([...args, `${protocol}://${rest}`]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining(
          `the URL has a password in it, which everyone on the machine sees: set ${variable}, also in .env`,
        ),
      });
      expect(stderr).not.toContain('hunter2');
    },
  );

  it('a URL without its slashes is refused, and not repeated', async () => {
    install();
    for (const rest of [`me:${written}@db.test/app`, `me:${written}@db.test/app?from=a://b`]) {
      const { exitCode, stderr } = await cli.run([...args, `${protocol}:${rest}`]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('takes a URL such as') });
      expect(stderr).not.toContain('hunter2');
    }
  });

  it.each([[[]], [['env:MINE']], [['file:url.txt']], [['-']]])(
    '%j is read, and an error of the client is printed without the password',
    async (value) => {
      install();
      writeFileSync(join(cli.cwd, 'url.txt'), `${url}\n`);
      const { exitCode, stderr } = await cli.run([...args, ...value], {
        env: { [variable]: url, MINE: url },
        stdin: `${url}\n`,
      });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 4,
        stderr: expect.stringContaining(`at db.test does not answer: ${protocol}://me:***@db.test/app?password=***`),
      });
      expect(stderr).not.toContain('hunter2');
    },
  );

  it('a password that is not percent-encoded is not printed in an error', async () => {
    install();
    const { exitCode, stderr } = await cli.run(args, {
      env: { [variable]: `${protocol}://me:hunter2 %!@db.test/app` },
    });
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('at db.test does not answer')]);
    expect(stderr).not.toContain('hunter2');
  });

  it('a missing or wrong kind of URL is refused with what to pass', async () => {
    const without = await cli.run(args);
    expect(without).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`or set ${variable}, also in .env`) });
    for (const wrong of ['hunter2', 'http://db.test', `${protocol}x://db.test`]) {
      const { exitCode, stderr } = await cli.run(args, { env: { [variable]: wrong } });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`takes a URL such as ${protocol}://`)]);
      expect(stderr).not.toContain(wrong);
    }
  });
});
