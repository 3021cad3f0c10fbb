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

describe.skipIf(inside)('a command in a pipe', { timeout: 30_000 }, () => {
  it('dev prints text', async () => {
    const { url } = await serveApp();
    // The reader leaves after the first attempt, and dev ends with the next line that it cannot write.
    const { stdout } = await cli.shell(
      `service-webhooks dev ${url} --port 0 --emit stt.completed,stt.failed,dubbing.failed | sed '/acknowledged/q'`,
    );
    expect(stdout).toMatch(/^Deliveries: http:.*\n(.*\n)*\d\d:\d\d:\d\dZ {2}200 {2}acknowledged .*\n$/);
  });

  it('listen prints text', async () => {
    const port = await freePort();
    let isEnded = false;
    const ended = cli.shell(`service-webhooks listen --port ${port} | sed '/verified/q'`).finally(() => {
      isEnded = true;
    });
    const { signal } = new AbortController();
    const send = async () => {
      const delivery = signDelivery({ secret: SECRET, event: sampleEvent('stt.completed') });
      await deliverAsService(delivery, new URL(`http://127.0.0.1:${port}/webhooks`), { timeoutMs: 5_000, signal });
      return isEnded;
    };
    await expect.poll(send, { timeout: 20_000 }).toBe(true);
    expect((await ended).stdout).toMatch(/^Listening on .*\n(.*\n)*\d\d:\d\d:\d\dZ {2}verified v2 .*\n$/);
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
