import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express } from 'express';
import { webhookHandler } from 'service-webhooks/express';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { serveListener } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { useCli } from './support/cli.js';
import { inTerminal } from './support/pseudo-terminal.js';

const cli = useCli();
const terminal = (args: readonly string[]) => inTerminal(cli, args, { WEBHOOK_SECRET: '' });

/** The app of the story, before and after the fix. */
function anApp({ parsesFirst }: { parsesFirst: boolean }): Express {
  const app = express();
  if (parsesFirst) app.use(express.json());
  app.post('/webhooks', webhookHandler({ secret: SECRET, logger: false, on: { '*': () => {} } }));
  return app;
}

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script'))('the way from a broken receiver to a fixed one', () => {
  it('listen names the body parser, and the next delivery is acknowledged after the fix', async () => {
    writeFileSync(join(cli.cwd, '.env'), `WEBHOOK_SECRET=${SECRET}\n`);
    const app = { listener: anApp({ parsesFirst: true }) };
    const { port } = await serveListener((req, res) => app.listener(req, res));
    const steps: string[] = [];

    steps.push('listen');
    const listen = terminal(['listen', `${port}/`, '--port', '0']);
    const [, url = ''] = await listen.shows(/Listening on (http:\/\/[\w.:]+)\//);
    const send = (...more: string[]) => terminal(['send', 'stt.failed', ...more]).ended;

    expect((await send(url)).shown).toContain('404');
    await listen.shows(
      new RegExp(`no route for POST /\\.\\s+The receiver is not mounted there[\\s\\S]* as in ${port}/webhooks`),
    );
    expect((await send(`${url}/webhooks`)).shown).toContain('body_already_parsed');
    await listen.shows(/body_already_parsed[\s\S]*A body parser ran first/);

    steps.push('fix');
    app.listener = anApp({ parsesFirst: false });

    steps.push('deliver');
    expect((await send(`${url}/webhooks`)).shown).toContain('acknowledged');
    await listen.shows(/verified v2[^\n]*stt\.failed[^\n]*200[^\n]*acknowledged/);
    listen.type('\u0003');
    expect((await listen.ended).exitCode).toBe(0);
    expect(steps).toEqual(['listen', 'fix', 'deliver']);
  });

  it('doctor ends with the fix to make first, and has one line for all skipped probes', async () => {
    writeFileSync(join(cli.cwd, '.env'), `WEBHOOK_SECRET=${SECRET}\n`);
    const { port } = await serveListener(anApp({ parsesFirst: true }));
    const { exitCode, shown } = await terminal(['doctor', `${port}`]).ended;
    expect(exitCode).toBe(1);
    const lines = shown.trimEnd().split('\r\n');
    expect(lines).toHaveLength(7);
    expect(lines[4]).toMatch(/30 other probes were skipped/);
    expect(lines.at(-1)).toMatch(/Fix first:.*A body parser ran first/);
  });

  it('explain names the doctor command to run next for a capture that verifies', async () => {
    writeFileSync(join(cli.cwd, '.env'), `WEBHOOK_SECRET=${SECRET}\n`);
    const listen = terminal(['listen', '--port', '0', '--capture']);
    const [, url = ''] = await listen.shows(/Listening on (http:\/\/[\w.:]+)\//);
    await terminal(['send', 'stt.failed', `${url}/webhooks`]).ended;
    const [, id = ''] = await listen.shows(/handled.+? ms.+?\[2m([0-9a-f]{8})/);
    listen.type('\u0003');
    await listen.ended;
    const { exitCode, shown } = await terminal(['explain', id]).ended;
    expect([exitCode, shown]).toEqual([0, expect.stringContaining('npx service-webhooks-cli doctor 3000/webhooks')]);
  });
});
