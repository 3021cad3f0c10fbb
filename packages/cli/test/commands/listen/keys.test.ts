import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasProgram } from '../../../../../test/integration/program.js';
import { serveApp } from '../../../../../test/support/app.js';
import { inside, useCli } from '../../support/cli.js';
import { inTerminal, lineInTerminal } from '../../support/pseudo-terminal.js';
import { runListen } from './run-listen.js';

const cli = useCli();
const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';

async function listenInTerminal(...args: string[]) {
  const listen = inTerminal(cli, ['listen', '--port', '0', ...args]);
  const [, url = ''] = await listen.shows(/Listening on (http:\/\/[\w.:]+)\//);
  await listen.shows(/Keys: /);
  const send = (...more: string[]) => cli.run(['send', 'stt.failed', url, '--set', 'id=evt_7', ...more]);
  return { ...listen, url, send };
}

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script') && !inside)('the keys of listen', () => {
  it('the key r replays the last delivery to the app, signed again', async () => {
    const app = await serveApp();
    const { type, shows, send } = await listenInTerminal(app.url);
    type('r');
    await shows(/There is no delivery yet\./);
    await send();
    type('r');
    await shows(/It was sent again: 200\./);
    expect(app.got.map(({ body }) => JSON.parse(body.toString()).id)).toEqual(['evt_7', 'evt_7']);
  });

  it('the key r sends a refused delivery as it came', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end());
    const { type, shows, send } = await listenInTerminal(app.url);
    await send('--fault', 'wrong-secret');
    await shows(/signature_mismatch/);
    type('r');
    await shows(/It was sent again: 401\.\r\n {3}This delivery does not verify, so the app is right to refuse it\./);
    const [first, second] = app.got.map(({ headers }) => headers['x-service-signature-v2']);
    expect(second).toBe(first);
  });

  it('the key o prints the address of the page, and opens it where there is a screen', async () => {
    const opened = join(cli.cwd, 'opened');
    const opener = join(cli.bin, 'xdg-open');
    writeFileSync(opener, `#!/bin/sh\necho "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`);
    chmodSync(opener, 0o755);
    onTestFinished(() => rmSync(opener));
    const listen = inTerminal(cli, ['listen', '--port', '0', '--ui=0'], { DISPLAY: ':0' });
    const [, page = ''] = await listen.shows(/Deliveries: (http:\/\/127\.0\.0\.1:\d+\/)/);
    await listen.shows(/Keys: /);
    listen.type('o');
    await listen.shows(new RegExp(`Keys: [\\s\\S]*Deliveries: ${page}`));
    expect((await fetch(page)).status).toBe(200);
    if (process.platform === 'linux') {
      await expect.poll(() => existsSync(opened)).toBe(true);
      expect(readFileSync(opened, 'utf8')).toBe(`${page}\n`);
    }
  });

  it('the key ? lists the keys, and q ends as Ctrl+C does', async () => {
    const { type, shows, ended } = await listenInTerminal();
    type('?');
    await shows(/Keys: [\s\S]*Keys: r replays .+, o opens .+, \? lists .+, q quits\./);
    type('q');
    const { exitCode, shown } = await ended;
    expect([exitCode, shown]).toEqual([0, expect.stringMatching(/0 requests\s*$/)]);
  });

  it('Ctrl+C waits for open requests, and a second Ctrl+C ends at once', async () => {
    const slow = await serveApp(() => new Promise(() => {}));
    const { type, ended, send } = await listenInTerminal(slow.url);
    const sending = send();
    await expect.poll(() => slow.got.length).toBe(1);
    type(CTRL_C);
    expect((await ended).exitCode).toBe(0);
    await sending;
    const other = await listenInTerminal(slow.url, '--delay', '60s');
    const hanging = other.send();
    await expect.poll(() => slow.got.length).toBe(2);
    other.type(CTRL_C + CTRL_C);
    expect((await other.ended).exitCode).toBe(130);
    await hanging;
  });
});

describe('listen without a terminal, or in the background of one', () => {
  it('stdin is not read where it is no terminal', async () => {
    const { url, next, stop } = await runListen(cli, [], { stdin: 'q' });
    expect((await cli.run(['send', 'stt.failed', url])).exitCode).toBe(0);
    await next('delivery');
    expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.runIf(hasProgram('script') && !inside)(
    'listen runs on in the background of a shell, since it reads nothing',
    async () => {
      const { shows } = lineInTerminal(cli, "bash --norc -c 'set -m; service-webhooks listen --port 0 & wait'");
      const [, url = ''] = await shows(/Listening on (http:\/\/[\w.:]+)\//);
      expect((await cli.run(['send', 'stt.failed', url])).exitCode).toBe(0);
      const [shown] = await shows(/[\s\S]*verified v2/);
      expect(shown).not.toContain('Keys');
    },
  );

  it.runIf(hasProgram('script') && !inside)('the keys work again after Ctrl+Z and fg', async () => {
    const { type, shows } = lineInTerminal(cli, "PS1='ready: ' exec bash --norc --noprofile -i");
    await shows(/ready: /);
    type('service-webhooks listen --port 0\r');
    await shows(/Keys: /);
    type(CTRL_Z);
    await shows(/Stopped/);
    type('fg\r');
    await shows(/Stopped[\s\S]*fg[\s\S]*service-webhooks listen/);
    // What is typed before the program reads again waits in the terminal.
    type('?');
    await shows(/Keys: [\s\S]*Stopped[\s\S]*Keys: /);
  });
});
