import { readdirSync } from 'node:fs';
import type { Health } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { aDelivery } from '../queues/event.js';
import { testSmallPrograms } from '../small-programs.js';
import { compileSources } from '../sources.js';
import { apps, folder, programOf } from './example-apps.js';
import { startApp } from './start-app.js';

let sources: ReturnType<typeof compileSources>;
beforeAll(() => {
  sources = compileSources();
});
afterAll(() => sources.remove());

const scripts = readdirSync(folder).filter((file) => /(?<!\.d)\.[jt]s$/.test(file));
const cannotRun = apps.filter(({ start }) => {
  const [program = '', tool] = start(0);
  const needs = tool === 'wrangler' ? 'workerd' : ['bun', 'deno'].find((name) => name === program);
  return needs !== undefined && programOf(needs) === undefined;
});

describe('examples/frameworks', () => {
  it('the README has the command that starts each app', () => {
    expect([...new Set(apps.map(({ script }) => script))].sort()).toEqual(scripts.sort());
  });

  testSmallPrograms(folder, scripts, { declarations: ['cloudflare.d.ts'], experimentalDecorators: true });

  for (const app of apps) {
    it.skipIf(cannotRun.includes(app))(
      `${app.name} handles a repeated event once, refuses a forgery and returns its health report`,
      async () => {
        const { url, lines, stop } = await startApp(app, sources.folder);
        const post = async (...[body, headers]: ReturnType<typeof aDelivery>) => {
          const response = await fetch(url, { method: 'POST', headers, body });
          await response.text();
          return response.status;
        };
        const done = (id: string) => lines.filter((line) => line.includes(`done ${id}`)).length;
        try {
          const forged = () => post(...aDelivery('evt_forged', 'a guess'));
          await vi.waitFor(async () => expect(await forged().catch(String), lines.join('\n')).toBe(401), PATIENTLY);
          const attempts = [await post(...aDelivery('evt_1')), await post(...aDelivery('evt_1'))];
          expect(attempts, lines.join('\n')).toEqual([200, 200]);
          await vi.waitFor(() => expect(done('evt_1'), lines.join('\n')).toBe(1), PATIENTLY);
          expect(await post(...aDelivery('evt_2'))).toBe(200);
          await vi.waitFor(() => expect(done('evt_2')).toBe(1), PATIENTLY); // and so the other has had its time
          expect([done('evt_1'), done('evt_forged')]).toEqual([1, 0]);
          const health = (await (await fetch(`${url}/health`)).json()) as Health;
          expect(health).toMatchObject({
            receivers: 1,
            lastRefused: { code: 'signature_mismatch' },
            refusalsInARow: 0,
          });
          expect(health.lastAcceptedAt).toBeGreaterThanOrEqual(health.lastRefused?.at ?? Number.NaN);
          const behindAnswer = app.script === 'workers.js' ? ['reported evt_1'] : [];
          await vi.waitFor(() => expect(lines).toEqual(expect.arrayContaining(behindAnswer)), PATIENTLY);
        } finally {
          await stop();
        }
      },
    );
  }
});
