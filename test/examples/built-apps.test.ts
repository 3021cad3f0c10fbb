import type { Health } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../integration/file-of.js';
import { type BuiltApp, buildApp, type StartedApp } from './built-app.js';
import { aDelivery, SECRET } from './queues/event.js';

const PATIENTLY = { timeout: 60_000, interval: 50 };
const examples = ['sveltekit', 'astro'].filter((name) => isInstalled(`examples/${name}`));

describe.each(examples)('examples/%s, built as its README says, but without the secret', (name) => {
  let built: BuiltApp;
  let app: StartedApp;

  beforeAll(async () => {
    built = buildApp(name);
    app = await built.start({ WEBHOOK_SECRET: SECRET });
  }, 240_000);

  afterAll(async () => {
    await app?.stop();
    built?.remove();
  });

  it('an event is done once, and a forgery is refused', { timeout: 60_000 }, async () => {
    const post = async (...[body, headers]: ReturnType<typeof aDelivery>) =>
      (await fetch(`${app.url}/webhooks`, { method: 'POST', headers, body })).status;
    expect(await post(...aDelivery('evt_1', 'a guess'))).toBe(401);
    expect([await post(...aDelivery('evt_1')), await post(...aDelivery('evt_1'))], app.lines.join('\n')).toEqual([
      200, 200,
    ]);
    await vi.waitFor(() => expect(app.lines).toContain('done evt_1'), PATIENTLY);
    expect(app.lines.filter((line) => line === 'done evt_1')).toHaveLength(1);
  });

  it('the app reports the health of its receiver', { timeout: 60_000 }, async () => {
    const health = (await (await fetch(`${app.url}/webhooks`)).json()) as Health;
    expect(health).toMatchObject({ receivers: 1, lastRefused: { code: 'signature_mismatch' }, refusalsInARow: 0 });
    expect(health.lastAcceptedAt).toBeGreaterThan(0);
  });

  it('the app does not start without the secret', { timeout: 60_000 }, () => {
    const { status, output } = built.startWithoutSecret();
    expect(output).toContain('WEBHOOK_SECRET is not set in this environment.');
    expect(status).toBe(1);
  });
});
