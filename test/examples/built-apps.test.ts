import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Health } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../integration/file-of.js';
import { ROOT } from '../support/markdown.js';
import { filesOf } from '../support/page-files.js';
import { PATIENTLY } from '../support/patiently.js';
import { type BuiltApp, buildApp, type StartedApp } from './built-app.js';
import { aDelivery, SECRET } from './queues/event.js';

const examples: [name: string, paths: string[], behindAnswer?: string][] = [
  ['sveltekit', ['/webhooks']],
  ['astro', ['/webhooks']],
  // The App Router and the Pages Router.
  ['next', ['/webhooks', '/api/webhooks'], 'reported evt_/webhooks'],
];
/** What each example has from its page, letter for letter. */
const checks: [example: string, file: string, inPage: string][] = [
  ['sveltekit', 'src/hooks.server.js', 'src/hooks.server.ts'],
  ['astro', 'check-environment.mjs', 'check-environment.mjs'],
  ['next', 'instrumentation.js', 'instrumentation.ts'],
  ['next', 'instrumentation-node.js', 'instrumentation-node.ts'],
];
const installed = examples.filter(([name]) => isInstalled(`examples/${name}`));

describe.each(installed)('examples/%s, built as its README says', (name, paths, behindAnswer) => {
  let built: BuiltApp;
  let app: StartedApp;

  beforeAll(async () => {
    built = buildApp(name);
    app = await built.start(`WEBHOOK_SECRET=${SECRET}\n`);
  });

  afterAll(async () => {
    await app?.stop();
    built?.remove();
  });

  it.each(paths)('an event sent twice to %s is handled once, and a forgery is answered with 401', async (path) => {
    const id = `evt_${path}`;
    const post = async (...[body, headers]: ReturnType<typeof aDelivery>) =>
      (await fetch(app.url + path, { method: 'POST', headers, body })).status;
    expect(await post(...aDelivery(id, 'a guess'))).toBe(401);
    expect([await post(...aDelivery(id)), await post(...aDelivery(id))], app.lines.join('\n')).toEqual([200, 200]);
    await vi.waitFor(() => expect(app.lines).toContain(`done ${id}`), PATIENTLY);
    expect(app.lines.filter((line) => line === `done ${id}`)).toHaveLength(1);
  });

  it.runIf(behindAnswer)('work that the route puts off is done after the answer', async () => {
    await vi.waitFor(() => expect(app.lines).toContain(behindAnswer), PATIENTLY);
  });

  it('GET /webhooks returns the health report, with the refused forgery and the accepted delivery', async () => {
    const health = (await (await fetch(`${app.url}/webhooks`)).json()) as Health;
    expect(health).toMatchObject({ receivers: 1, lastRefused: { code: 'signature_mismatch' }, refusalsInARow: 0 });
    expect(health.lastAcceptedAt).toBeGreaterThan(0);
  });

  it.each([
    [
      'misses',
      '',
      'secret is empty. Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set for this process.',
    ],
    ['has in quotes that belong to it', `WEBHOOK_SECRET='"${SECRET}"'`, 'secret is in quotes. Remove the quotes.'],
  ])('the app exits with 1 and the cause when it starts with a secret that .env %s', (_, dotenv, cause) => {
    const { status, output } = built.startInVain(dotenv);
    expect(output).toContain(`${cause} (invalid_secret)`);
    expect(status).toBe(1);
  });

  it('the build prints no warning', () => {
    expect(built.output).toMatch(/\S/);
    expect(built.output).not.toMatch(/warning|not supported/i);
  });
});

it.each(checks)('examples/%s has the %s of its page', (example, file, inPage) => {
  const [, code] = filesOf(example).find(([path]) => path === inPage) ?? [];
  expect(readFileSync(join(ROOT, 'examples', example, file), 'utf8')).toBe(code);
});
