import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../../../test/integration/program.js';
import { serveApp } from '../../../../../test/support/app.js';
import { inside, useCli } from '../../support/cli.js';
import { inTerminal } from '../../support/pseudo-terminal.js';

const cli = useCli();
const [TYPE] = WEBHOOK_EVENT_TYPES;

/** Words of one or several sentences, in lines of any width. */
const words = (text: string) => new RegExp(text.replaceAll(' ', '\\s+'));

async function devInTerminal(...args: string[]) {
  const dev = inTerminal(cli, ['dev', '--port', '0', ...args], { NO_COLOR: '1' });
  await dev.shows(/Keys: [\s\S]+ quits\./);
  return dev;
}

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script') && !inside)('the keys of dev', () => {
  it('dev lists its keys at the start, and q ends it with exit code 0', async () => {
    const app = await serveApp();
    const { type, shows, ended } = await devInTerminal(app.url);
    await shows(
      words(
        `Keys: n sends ${TYPE}, a advances the clock to the next attempt, r replays the last delivery, o opens the page, \\? lists the keys, q quits\\.`,
      ),
    );
    type('q');
    const { exitCode, shown } = await ended;
    expect([exitCode, shown]).toEqual([0, expect.stringMatching(/0 attempts\s*$/)]);
  });

  it('the key n sends an event to the app, of the first type of --events', async () => {
    const app = await serveApp();
    const { type, shows } = await devInTerminal(app.url, '--events', 'stt.failed,stt.completed');
    await shows(words('n sends stt\\.failed,'));
    type('n');
    await shows(words('stt\\.failed is on its way\\.'));
    await shows(words('200 acknowledged'));
    expect(app.got.map(({ body }) => JSON.parse(body.toString()).type)).toEqual(['stt.failed']);
  });

  it('the key n says that no endpoint gets the event where dev has no app', async () => {
    const { type, shows } = await devInTerminal();
    type('n');
    await shows(words(`No endpoint has subscribed to ${TYPE}\\.`));
  });

  it('the key a makes the next attempt come at once, and says by how much', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 1 ? 500 : 200).end());
    const { type, shows } = await devInTerminal(app.url);
    type('n');
    await shows(words('500 not acknowledged [^]+ attempt 1 next attempt in \\d'));
    type('a');
    await shows(words('The clock is advanced by [\\d.]+ (ms|s|min), to the next attempt\\.'));
    await shows(words('200 acknowledged [^]+ attempt 2'));
    expect(app.got.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
  });

  it('the key a says that no delivery waits where none does', async () => {
    const app = await serveApp();
    const { type, shows } = await devInTerminal(app.url);
    type('a');
    await shows(words('No delivery waits for its next attempt\\.'));
    expect(app.got).toEqual([]);
  });

  it('the key r replays the last delivery, and says where there is none', async () => {
    const app = await serveApp();
    const { type, shows } = await devInTerminal(app.url);
    type('r');
    await shows(words('There is no delivery yet\\.'));
    type('n');
    await shows(words('200 acknowledged'));
    type('r');
    await shows(words('was sent again: 200\\.'));
    const [first, second] = app.got.map(({ body }) => body.toString());
    expect(second).toBe(first);
  });

  it('the key r says why the app refuses the replay, and what to do', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 1 ? 200 : 413).end());
    const { type, shows } = await devInTerminal(app.url);
    type('n');
    await shows(words('200 acknowledged'));
    type('r');
    await shows(
      /was sent again: 413\.\r\n {3}The app takes no body of this size\.\r\n {3}Raise the body limit of the app\.\r\n/,
    );
  });
});
