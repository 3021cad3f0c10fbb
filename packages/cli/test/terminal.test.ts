import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { serveApp } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../test/support/raw-http.js';
import { useCli } from './support/cli.js';
import { inTerminal as startInTerminal } from './support/pseudo-terminal.js';

const cli = useCli();
const ESCAPE = '\u001b';
const COLOUR = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');

/** Everything in a text that could do more to a terminal than show a character, but for colours and line ends. */
const hostile = (text: string) =>
  text
    .replace(COLOUR, '')
    .replaceAll('\r\n', '')
    .match(/[\p{Cc}\p{Cf}]/gu) ?? [];

const inTerminal = (args: readonly string[], env?: Record<string, string>) => startInTerminal(cli, args, env);

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script'))('a command on a terminal', () => {
  it('listen prints a coloured line for each delivery, until Ctrl+C', async () => {
    const { shows, type, ended } = inTerminal(['listen', '--port', '0']);
    const [, url = ''] = await shows(/Listening on (http:[\w.:/]+)/);
    await cli.run(['send', 'stt.failed', url, '--set', 'id=evt_1']);
    await shows(/verified v2.*stt\.failed.*evt_1.*attempt 1.*200.*handled/);
    await cli.run(['send', 'stt.failed', url, '--fault', 'reserialised']);
    await shows(/signature_mismatch.*401[\s\S]*body_reserialised \(certain\): /);
    type('\u0003');
    const { exitCode, shown } = await ended;
    expect(exitCode).toBe(0);
    expect(shown).toMatch(COLOUR);
    expect(shown).toMatch(/2 requests\r\n$/);
    expect(shown).not.toContain('{"');
  });

  it('text from the network cannot move the cursor or change a colour or the title', async () => {
    const evil = `${ESCAPE}[2J${ESCAPE}]0;owned\u0007\u009b31m\u202e\r\nx`;
    const app = await serveApp((_, __, res) => {
      res.writeHead(302, { location: Buffer.from(`/\u009b2J`).toString('latin1') }).end(evil);
    });
    const { shows, type, ended } = inTerminal(['listen', '--port', '0', app.url]);
    const [, port] = await shows(/Listening on http:\S+?:(\d+)/);
    const body = JSON.stringify({ id: `evt_${evil}`, type: evil });
    const { headers } = signDelivery({ secret: SECRET, body });
    const request = {
      host: `127.0.0.1:${port}`,
      headers: [...Object.entries(headers), ['X-Service-Attempt', '\u009b2J']] as [string, string][],
      body: Buffer.from(body),
    };
    await exchange(Number(port), toBytes(request));
    await shows(/302/);
    type('\u0003');
    const { shown } = await ended;
    expect(shown).toContain('\\u001b[2J');
    expect(hostile(shown.replace('^C', ''))).toEqual([]);
  });

  it('a line of JSON has no control character either', async () => {
    writeFileSync(join(cli.cwd, 'body'), JSON.stringify({ id: `evt_\u009b2J\u202e`, type: `${ESCAPE}[2J` }));
    const app = await serveApp((_, __, res) => res.end(`${ESCAPE}[2J\u009b`));
    const { ended } = inTerminal(['send', '--json', '--body', 'body', app.url]);
    const { exitCode, shown } = await ended;
    expect(exitCode).toBe(0);
    expect(hostile(shown)).toEqual([]);
    expect(JSON.parse(shown)).toMatchObject({ answer: `${ESCAPE}[2J\u009b` });
  });

  it('an error message has no control character either', async () => {
    const { ended } = inTerminal(['verify', `${ESCAPE}[2J`]);
    const { exitCode, shown } = await ended;
    expect(exitCode).toBe(3);
    expect(shown).toBe('service-webhooks: \\u001b[2J: there is no such file; check the path\r\n');
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('the environment %j turns colours off', async (env) => {
    const app = await serveApp();
    const { ended } = inTerminal(['send', 'stt.failed', app.url], env as Record<string, string>);
    const { shown } = await ended;
    expect(shown).toMatch(/^200 {2}acknowledged {2}\d+ ms {2}stt\.failed {2}evt_\w+ {2}http:\S+\r\n$/);
  });

  it('Ctrl+C during send --count removes the bar, and says what was sent', async () => {
    const app = await serveApp((_, __, res) => {
      if (app.got.length < 3) res.end();
    });
    const { shows, type, ended } = inTerminal(['send', 'stt.failed', app.url, '--count', '9', '--concurrency', '1']);
    await shows(/1 of 9/);
    while (app.got.length < 3) await new Promise(setImmediate);
    type('\u0003');
    const { exitCode, shown } = await ended;
    expect(exitCode).toBe(130);
    expect(shown.replace(COLOUR, '')).toMatch(/2 of 2 acknowledged[\s\S]*stopped before it was done\.\r\n$/);
  });

  it.each([['verify'], ['explain'], ['sign']])('%s without a file does not wait for typed input', async (command) => {
    const { exitCode, shown } = await inTerminal([command]).ended;
    expect({ exitCode, shown }).toEqual({
      exitCode: 2,
      shown: 'service-webhooks: stdin is a terminal: name a file, or pipe something in.\r\n',
    });
  });
});
