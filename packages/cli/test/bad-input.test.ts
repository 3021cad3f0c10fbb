import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { serveApp } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { type CliOptions, inside, useCli } from './support/cli.js';

const cli = useCli();
const JUNK = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919 + 13) % 256));

beforeEach(() => {
  mkdirSync(join(cli.cwd, 'directory'));
  mkdirSync(join(cli.cwd, '.webhooks'));
  writeFileSync(join(cli.cwd, 'junk'), JUNK);
  writeFileSync(join(cli.cwd, 'empty'), '');
  writeFileSync(join(cli.cwd, 'headers'), 'X-A: 1\nnot a header\n');
});

/** One line on stderr that says what it is, and nothing else. */
async function expectFailure(args: readonly string[], exitCode: number, says: RegExp | string, options?: CliOptions) {
  const ended = await cli.run(args, options);
  expect(ended).toMatchObject({ exitCode, stdout: '' });
  expect(ended.stderr).toMatch(/^service-webhooks: [^\n]+\n$/);
  expect(ended.stderr).toMatch(says);
  expect(ended.stderr).not.toMatch(/\n\s+at |node:internal|undefined|\[object/);
  expect(ended.stderr).not.toContain(SECRET);
}

describe('a file that a command cannot use', () => {
  it.each([
    [['verify', 'no-file'], 'no-file: there is no such file; check the path'],
    [['explain', 'no-file'], 'there is no such file'],
    [['sign', 'no-file'], 'there is no such file'],
    [['send', '--body', 'no-file'], 'there is no such file'],
    [['verify', 'directory'], 'directory: that is a directory; name a file in it'],
    [['sign', 'directory'], 'that is a directory'],
    [['replay', 'directory'], 'that is a directory'],
    [['verify', 'junk'], 'junk: no captured delivery, which begins with a line like POST'],
    [['explain', 'junk'], 'no captured delivery'],
    [['replay', 'junk'], 'no captured delivery'],
    [['verify', 'empty'], 'no captured delivery'],
    [['verify', 'junk', '--headers', 'headers'], '"not a header" is no header: Name: value'],
    [['verify', 'junk', '--header', 'nonsense'], '"nonsense" is no header'],
    [['verify', 'junk/inside'], 'a part of the path is a file'],
    [['verify', '/dev/zero'], 'over 64 MiB, which no delivery has'],
    [['sign', 'junk', '--secret', 'file:no-file'], 'no-file: there is no such file'],
    [['replay', 'evt_9'], 'evt_9 is no file and none of the 0 deliveries in .webhooks'],
    [['replay', 'evt_9', '--captures', 'nowhere'], 'evt_9 is no file, and nowhere: there is no such file'],
    [['listen', '--port', '0', '--capture=/proc/nowhere'], '/proc/nowhere: there is no such file'],
    [['listen', '--port', '0', '--capture=junk'], 'there is a file in its place; choose another name'],
  ])('the command %j exits with 3', (args, says) => expectFailure(args, 3, says));

  it.skipIf(inside || !existsSync('/dev/full'))('sign exits with 3 where the disk behind stdout is full', async () => {
    const { exitCode, stderr } = await cli.shell('service-webhooks sign empty > /dev/full');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: 'service-webhooks: stdout: the disk is full; make room, or choose another place\n',
    });
  });

  it('doctor prints its findings even if its report cannot be written', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(500).end());
    const { exitCode, records, stderr } = await cli.run(['doctor', app.url, '--junit', 'directory', '--only', 'good']);
    expect(exitCode).toBe(3);
    expect(records).toMatchObject([{ kind: 'probe', name: 'good', verdict: 'failed' }]);
    expect(stderr).toBe('service-webhooks: directory: that is a directory; name a file in it\n');
  });
});

describe('an argument that a command refuses', () => {
  it.each([
    [['send', 'stt.complete'], 'stt.complete is no event type. Did you mean stt.completed?'],
    [['send', 'clip.done'], 'clip.done is no event type: generation.completed, '],
    [
      ['send', '3000/webhooks'],
      'the event type comes before the URL: send generation.completed 3000/webhooks. There are: ',
    ],
    [['send', 'http://localhost:3000'], 'comes before the URL: send generation.completed http://localhost:3000. '],
    [['send'], 'no event type: '],
    [['send', 'stt.failed', 'ftp://x'], 'ftp: cannot be sent to: http: or https:.'],
    [['send', 'stt.failed', 'http://'], 'http:// is no port and no URL: 3000, 3000/path, or http://host:3000/path.'],
    [['send', 'stt.failed', '99999'], '99999 is no port and no URL'],
    [['send', 'stt.failed', 'http://a:b@localhost'], 'the URL has a password in it'],
    [['send', 'stt.failed', '--set', 'data'], '--set data: it takes field=text or field:=json'],
    [['send', 'stt.failed', '--set', 'data:={'], 'what stands behind := is no JSON'],
    [['send', 'stt.failed', '--count', '0'], 'It takes a whole number from 1 to 1000000. See --help.'],
    [['send', 'stt.failed', '--timeout', '5'], 'It takes a time with its unit, of 1d at most: 500ms, 2s, 1m, 2h.'],
    [['send', 'stt.failed', '--set', 'id=x'], 'event must be an envelope'],
    [['send', 'stt.failed', '--header-prefix', 'a b'], 'headerPrefix must be'],
    [['listen', '--port', '70000'], 'It takes a whole number from 0 to 65535.'],
    [['listen', '--events', 'stt'], 'There are: generation.completed, '],
    [['listen', '--respond', '99'], 'It takes a whole number from 200 to 599.'],
    [['verify', 'junk', '--at', 'noon'], 'It takes now, signed, 2026-07-11T12:00:00Z, or Unix seconds.'],
    [['sign', 'junk', '--at', 'noon'], 'It takes a time'],
    [['verify', 'junk', '--header', 'A: b', '--at', 'signed'], 'there is no signed time in the headers; give a time'],
    [['doctor'], "missing required argument 'url'"],
    [['doctor', '3000', '--only', 'god'], 'There are: good, every-type,'],
  ])('the command %j exits with 2', (args, says) => expectFailure(args, 2, new RegExp(says)));
});

describe('the signing secret of a command', () => {
  it.each([['listen'], ['send', 'stt.failed'], ['sign', 'junk'], ['verify', 'junk']])(
    'a secret as an argument of %s is refused, and is not in the error',
    async (...args) => {
      await expectFailure(
        [...args, '--secret', SECRET],
        2,
        'seen by everyone on the machine: say where it is, env:NAME',
      );
      await expectFailure([...args, `--secret=${SECRET}`], 2, 'seen by everyone on the machine');
      await expectFailure([...args, `--secrets=${SECRET}`], 2, "unknown option '--secrets'");
    },
  );

  it.each([
    ['send', 'stt.failed'],
    ['sign', 'junk'],
    ['verify', 'junk'],
    ['doctor', '3000'],
    ['replay', 'junk'],
  ])('the command %s without a secret says how to set one', (...args) =>
    expectFailure(args, args[0] === 'replay' ? 3 : 2, /no secret: set WEBHOOK_SECRET, also in \.env|no captured/, {
      env: { WEBHOOK_SECRET: undefined },
    }),
  );

  it.each([
    ['', 'WEBHOOK_SECRET is empty: set WEBHOOK_SECRET, also in .env'],
    [' x', 'secret begins with a space. Trim it'],
    ['x\n', 'secret ends with a line feed. Trim it'],
    ['"x"', 'secret is in quotes. Remove the quotes'],
  ])('sign refuses the secret %j: %s', (WEBHOOK_SECRET, says) =>
    expectFailure(['sign', 'junk'], 2, says, {
      env: { WEBHOOK_SECRET },
    }),
  );

  it('the error names the environment variable that is not set', () =>
    expectFailure(['sign', 'junk', '--secret', 'env:NOWHERE'], 2, 'the environment variable NOWHERE is not set'));
});

describe('a command that cannot use the network', () => {
  it('listen on a port in use exits with 4', async () => {
    const { port } = await serveApp();
    await expectFailure(
      ['listen', '--port', `${port}`],
      4,
      `port ${port} of 127.0.0.1 is in use: end the other program, or`,
    );
  });

  it('listen on an address of another machine exits with 4', () =>
    expectFailure(['listen', '--port', '0', '--host', '192.0.2.1'], 4, 'is of no address of this machine'));

  it('doctor exits with 4 where nothing listens, after its report', async () => {
    const { exitCode, stderr, records } = await cli.run(['doctor', 'http://127.0.0.1:1', '--junit', 'report.xml']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('no answer to a good delivery: 127.0.0.1:1: nothing listens there');
    expect(records[0]).toMatchObject({ name: 'good', verdict: 'failed' });
    expect(readFileSync(join(cli.cwd, 'report.xml'), 'utf8')).toContain('failures="1"');
  });
});

it('sign takes an empty stdin as an empty body', async () => {
  expect((await cli.run(['sign'])).exitCode).toBe(0);
});
