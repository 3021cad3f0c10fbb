import { join } from 'node:path';
import { PermanentError } from 'service-webhooks';
import { createEmulator } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { prometheus } from '../integration/prometheus.js';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { SECRET } from '../support/deliveries.js';
import { startMonitoredApp } from '../support/monitored-app.js';
import { interpolated, MONITORING, panelExpressions } from '../support/monitoring-files.js';
import { PATIENTLY } from '../support/patiently.js';
import { startPrometheus } from '../support/prometheus-server.js';

const { newFile, open } = sqliteFiles();
const [library] = libraries;
/** Prometheus scrapes and evaluates twice a second; on a machine with other work to do it takes longer. */
const PROMETHEUS = { ...PATIENTLY, interval: 100 };

describe.runIf(library && prometheus)('a Prometheus that scrapes an app', () => {
  it('a paused endpoint, an old queue and a dead letter fire, and a healthy app does not', async () => {
    const [, driver] = library ?? expect.fail('no library');
    const emulator = createEmulator({ allowLoopback: true });
    onTestFinished(() => emulator.close());
    let isBroken = false;
    let later = 0;
    const app = await startMonitoredApp({
      secret: SECRET,
      now: emulator.now,
      db: clientOf(driver, open(driver, newFile(), 5_000)),
      queueNow: () => Date.now() + later,
      on: {
        '*': () => {
          if (isBroken) throw new Error('no disk');
        },
      },
      onQueued: { 'stt.failed': () => Promise.reject(new PermanentError('no clip')), '*': () => {} },
    });
    onTestFinished(app.close);
    const rules = join(MONITORING, 'alerts.yml');
    const server = await startPrometheus(prometheus ?? '', app.host, rules);
    onTestFinished(server.close);
    const clips = emulator.endpoints.create({
      url: `${app.url}/clips`,
      signingSecret: SECRET,
      events: ['stt.completed'],
    });
    emulator.endpoints.create({
      url: `${app.url}/songs`,
      signingSecret: SECRET,
      events: ['stt.failed', 'generation.completed'],
    });
    const counted = async (expression: string) => Number((await server.query(expression))[0]?.value[1]);

    await emulator.emit('stt.completed');
    await emulator.emit('generation.completed');
    await emulator.settled();
    await vi.waitUntil(async () => (await counted('sum(webhook_worker_duration_count)')) === 1, PROMETHEUS);
    await vi.waitUntil(async () => (await counted('webhook_queue_depth')) === 0, PROMETHEUS);
    expect(await server.firing()).toEqual([]);

    await emulator.emit('stt.failed');
    await emulator.settled();
    await vi.waitUntil(async () => (await app.queue.stats()).dead === 1, PROMETHEUS);
    await app.worker.stop();
    await emulator.emit('generation.completed');
    await emulator.settled();
    later = 11 * 60_000;
    isBroken = true;
    for (let event = 0; event < 20; event += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.endpoints.get(clips.id)).toMatchObject({ state: 'paused' });

    const fired = ['WebhookDeadLetter', 'WebhookEndpointMayPause', 'WebhookQueueOld'];
    await vi.waitFor(async () => expect(await server.firing()).toEqual(fired), PROMETHEUS);

    // Nothing was refused here, and no notice was given.
    const shown = panelExpressions.filter(([title]) => !['Refusals by code', 'Notices'].includes(title));
    for (const [title, expression] of shown) {
      const hasSeries = async () => expect(await server.query(interpolated(expression)), title).not.toEqual([]);
      await vi.waitFor(hasSeries, PROMETHEUS); // a rate needs two samples
    }
  });
});
