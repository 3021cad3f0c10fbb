import type { Health } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../integration/file-of.js';
import { type BuiltApp, buildApp, type StartedApp } from './built-app.js';
import { aDelivery, SECRET } from './queues/event.js';

const PATIENTLY = { timeout: 60_000, interval: 50 };
vi.setConfig({ testTimeout: 60_000 });

const examples: [name: string, paths: string[], behindAnswer?: string][] = [
  ['sveltekit', ['/webhooks']],
  ['astro', ['/webhooks']],
  // The App Router and the Pages Router.
  ['next', ['/webhooks', '/api/webhooks'], 'reported evt_/webhooks'],
];
const installed = examples.filter(([name]) => isInstalled(`examples/${name}`));

describe.each(installed)('examples/%s, built as its README says', (name, paths, behindAnswer) => {
  let built: BuiltApp;
  let app: StartedApp;

  beforeAll(async () => {
    built = buildApp(name);
    app = await built.start({ WEBHOOK_SECRET: SECRET });
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

  it('the app exits with 1 and names WEBHOOK_SECRET when the secret is missing', () => {
    const { status, output } = built.startWithoutSecret();
    expect(output).toContain('WEBHOOK_SECRET is not set in this environment.');
    expect(status).toBe(1);
  });
});
