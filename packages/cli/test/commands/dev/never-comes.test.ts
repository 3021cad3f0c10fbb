import { type Delivery, memoryStore } from 'service-webhooks';
import { createClient } from 'service-webhooks/client';
import { createJobs, type FoundEnd } from 'service-webhooks/jobs';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it } from 'vitest';
import { serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';
import { runDev } from './run-dev.js';

const cli = useCli();

/** An app that records what its handler gets, and waits for jobs. */
async function serveAppWithJobs() {
  const store = memoryStore();
  const jobs = createJobs({ store });
  const handled: Delivery[] = [];
  const on = { '*': (_: unknown, { delivery }: { delivery: Delivery }) => void handled.push(delivery) };
  const app = await serveListener(webhookHandler({ secret: SECRET, on, jobs, dedupe: { store }, logger: false }));
  const reconcileAt = (baseUrl: string, apiKey = 'acct_development') =>
    jobs.reconcile({
      client: createClient({ apiKey, baseUrl }),
      read: (answer) => (answer as { event?: FoundEnd }).event,
      on,
      logger: false,
    });
  return { app, jobs, handled, reconcileAt };
}

describe('the scenario never-comes of dev', () => {
  it('an app finds the job by a reconciliation, and a webhook that comes after all is a duplicate', async () => {
    const { app, jobs, handled, reconcileAt } = await serveAppWithJobs();
    const { url, next, browser, stop } = await runDev(cli, [app.url, '--scenario', 'never-comes,job-retried']);
    const lost = await next('lost');
    expect(lost).toMatchObject({ type: 'dubbing.completed', jobId: 'dub_scenario_1' });
    expect(await next('attempt')).toMatchObject({ type: 'generation.failed', acknowledged: true });
    handled.length = 0;

    const jobId = String(lost['jobId']);
    await jobs.expect(jobId, { types: ['dubbing.completed', 'dubbing.failed'], within: 1 });
    await expect.poll(async () => (await jobs.find(jobId))?.state).toBe('overdue');
    expect(await reconcileAt(url)).toMatchObject({ ended: 1, running: 0, failed: 0 });
    const dubbed = () => handled.filter(({ event }) => event.type === 'dubbing.completed');
    expect(dubbed()).toMatchObject([{ scheme: 'reconciled', event: { type: 'dubbing.completed', jobId } }]);
    expect(await jobs.find(jobId)).toMatchObject({ state: 'completed', reconciled: true });
    const { deliveryId } = lost;
    expect(await next('asked')).toMatchObject({ jobId, deliveryId, status: 200 });

    await browser.act('redeliver', { delivery: deliveryId as string });
    expect(await next('attempt')).toMatchObject({ deliveryId, acknowledged: true, state: 'delivered' });
    const { attempts } = await browser.read(`/page/deliveries/${deliveryId}`);
    expect(attempts).toMatchObject([{ status: 200, recognised: true }]);
    expect(dubbed()).toHaveLength(1);
    expect(await stop()).toMatchObject({ exitCode: 0 });
  });

  it('the terminal says how the job is found, and dev ends although nothing came of it', async () => {
    const app = await serveApp();
    const args = ['dev', app.url, '--text', '--port', '0', '--scenario', 'never-comes,duplicate', '--speed', '1000x'];
    const { signal, ended } = cli.start(args);
    await expect.poll(() => app.got.length).toBe(2);
    signal('SIGINT');
    const { stdout, exitCode } = await ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\S+Z {2}never comes {2}dubbing\.completed {2}evt_\w+ {2}job dub_scenario_1 {2}never$/m);
    expect(stdout).toContain(
      '\n   An app that expects this job finds it by jobs.reconcile(), which asks the API: GET /v1/dubbing/jobs/dub_scenario_1\n',
    );
  });

  it('the page says the same, and that the app has asked for the job', async () => {
    const { app, jobs, reconcileAt } = await serveAppWithJobs();
    const { url, next, browser } = await runDev(cli, [app.url, '--scenario', 'never-comes']);
    const { deliveryId, jobId } = await next('lost');
    const shown = () => browser.read(`/page/deliveries/${deliveryId}`);
    expect(await shown()).toMatchObject({
      delivery: { state: 'lost', cause: 'never comes', attempts: 0 },
      attempts: [],
      offers: ['redeliver'],
      lost: expect.stringMatching(/no attempt is made\. .+ GET \/v1\/dubbing\/jobs\/dub_scenario_1$/),
    });
    await jobs.expect(String(jobId), { types: ['dubbing.completed'], within: 1 });
    await expect.poll(async () => (await jobs.overdue()).length).toBe(1);
    await reconcileAt(url);
    expect(await shown()).toMatchObject({
      delivery: { state: 'lost', cause: 'the app asked for its job' },
      lost: expect.stringMatching(/The app has asked the API for its job\.$/),
    });
  });

  it('an app whose key the API refuses is said, and its job stays overdue', async () => {
    const { app, jobs, reconcileAt } = await serveAppWithJobs();
    const { url, next } = await runDev(cli, [app.url, '--scenario', 'never-comes']);
    const { jobId } = await next('lost');
    await jobs.expect(String(jobId), { types: ['dubbing.completed'], within: 1 });
    await expect.poll(async () => (await jobs.overdue()).length).toBe(1);
    expect(await reconcileAt(url, 'acct_other')).toMatchObject({ ended: 0, failed: 1 });
    expect(await next('asked')).toMatchObject({ jobId, status: 401 });
    expect(await jobs.overdue()).toHaveLength(1);
  });
});
