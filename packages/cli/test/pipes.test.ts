import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { webhookHandler } from 'service-webhooks/node';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { serveApp, serveListener } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { freePort } from '../../../test/support/server-process.js';
import { deliverAsService } from '../src/http/deliver.js';
import { inside, useCli } from './support/cli.js';

const cli = useCli();

/** Runs a line of a shell, and sends to its command until it ends: only a write shows a command that its reader has left. */
async function sendingTo(line: string, send: () => Promise<unknown>) {
  let isEnded = false;
  const ended = cli.shell(line).finally(() => {
    isEnded = true;
  });
  const hasEnded = async () => {
    if (!isEnded) await send();
    return isEnded;
  };
  await expect.poll(hasEnded).toBe(true);
  return ended;
}

describe.skipIf(inside)('a command in a pipe', () => {
  it('dev prints text', async () => {
    const { url } = await serveApp();
    const port = await freePort();
    const { stdout } = await sendingTo(`service-webhooks dev ${url} --port ${port} | sed '/acknowledged/q'`, () =>
      cli.run(['send', 'stt.completed', `--dev=http://127.0.0.1:${port}`]),
    );
    expect(stdout).toMatch(/^Deliveries: http:.*\n(.*\n)*\d\d:\d\d:\d\dZ {2}200 {2}acknowledged .*\n$/);
  });

  it('listen prints text', async () => {
    const port = await freePort();
    const { signal } = new AbortController();
    const { stdout } = await sendingTo(`service-webhooks listen --port ${port} | sed '/verified/q'`, () => {
      const delivery = signDelivery({ secret: SECRET, event: sampleEvent('stt.completed') });
      return deliverAsService(delivery, new URL(`http://127.0.0.1:${port}/webhooks`), { timeoutMs: 5_000, signal });
    });
    expect(stdout).toMatch(/^Listening on .*\n(.*\n)*\d\d:\d\d:\d\dZ {2}verified v2 .*\n$/);
  });

  it.runIf(hasProgram('curl'))('sign gives curl the headers that a receiver accepts', async () => {
    const { url } = await serveListener(webhookHandler({ secret: SECRET, on: { '*': () => {} }, logger: false }));
    writeFileSync(join(cli.cwd, 'body.json'), JSON.stringify(sampleEvent('stt.completed')));
    const { stdout } = await cli.shell(
      `service-webhooks sign body.json | curl -s -w ' %{http_code}' -H @- --data-binary @body.json ${url}`,
    );
    expect(stdout).toMatch(/ 200$/);
  });
});
