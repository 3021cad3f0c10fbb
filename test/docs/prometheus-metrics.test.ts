import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'service-webhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { promtool } from '../integration/prometheus.js';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { aDelivery, now, SECRET } from '../support/deliveries.js';
import { startMonitoredApp } from '../support/monitored-app.js';
import { alerts, MONITORING, panelExpressions } from '../support/monitoring-files.js';
import { PATIENTLY } from '../support/patiently.js';
import { metricsOf, scrapedMetrics } from '../support/prom-ql.js';

const { newFile, open } = sqliteFiles();
const [library] = libraries;

/** The metrics of an app in which everything has happened once that the dashboard shows. */
async function scrape(): Promise<string> {
  const [, driver] = library ?? expect.fail('no library');
  const handler = vi.fn().mockRejectedValueOnce(new Error('no disk'));
  const app = await startMonitoredApp({
    secret: SECRET,
    now,
    db: clientOf(driver, open(driver, newFile(), 5_000)),
    queueNow: now,
    on: { '*': handler },
    onQueued: { 'stt.failed': () => Promise.reject(new PermanentError('no clip')), '*': () => {} },
  });
  onTestFinished(app.close);
  const post = async (path: string, parts: Parameters<typeof aDelivery>[0]) => {
    const { headers, body } = aDelivery(parts);
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: String(body) };
    return (await fetch(`${app.url}${path}`, init)).status;
  };
  expect(await post('/clips', {})).toBe(500);
  expect(await post('/clips', {})).toBe(200);
  expect(await post('/clips', { secret: 'a guess' })).toBe(401);
  const claim = vi.spyOn(app.store, 'claim').mockRejectedValue(new Error('away'));
  expect(await post('/clips', { event: { id: 'evt_2' } })).toBe(503);
  claim.mockRestore();
  expect(await post('/songs', { event: { id: 'evt_3' } })).toBe(202);
  expect(await post('/songs', { event: { id: 'evt_4', type: 'stt.failed' } })).toBe(202);
  await vi.waitUntil(async () => {
    const { depth, dead } = await app.queue.stats();
    return depth === 0 && dead === 1;
  }, PATIENTLY);
  return await (await fetch(`${app.url}/metrics`)).text();
}

const run = (args: string[], input?: string) =>
  spawnSync(promtool ?? '', args, { encoding: 'utf8', cwd: MONITORING, ...(input !== undefined && { input }) });

describe.runIf(library)('the metrics of an app with the Prometheus exporter of OpenTelemetry', () => {
  it('the dashboard and the alerts use only metrics and labels that are there', async () => {
    const found = scrapedMetrics(await scrape());
    const expressions = [
      ...panelExpressions,
      ...alerts.map(({ name, expression }): [string, string] => [name, expression]),
    ];
    for (const [where, expression] of expressions) {
      const uses = metricsOf(expression);
      expect(uses, where).not.toEqual([]);
      for (const { metric, labels } of uses) {
        const { labels: present } = found.get(metric) ?? expect.fail(`${where}: no metric ${metric}`);
        expect([...present], `${where}: ${metric}`).toEqual(expect.arrayContaining(labels));
      }
    }
  });

  it('the dashboard shows every metric of this library', async () => {
    const shown = panelExpressions.flatMap(([, expression]) => metricsOf(expression).map(({ metric }) => metric));
    const all = [...scrapedMetrics(await scrape())]
      .filter(([name, { type }]) => name.startsWith('webhook_') && (type !== 'histogram' || name.endsWith('_bucket')))
      .map(([name]) => name);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('nothing that a handler threw and no id of an event is in them', async () => {
    expect(await scrape()).not.toMatch(/no disk|no clip|away|evt_|a guess/);
  });

  it.runIf(promtool)('promtool finds no fault in them', async () => {
    const { status, stdout, stderr } = run(['check', 'metrics'], await scrape());
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });
});

describe.runIf(promtool)('promtool', () => {
  it('every expression of the dashboard is valid', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const rules = panelExpressions.map(([, expr], index) => ({ record: `panel_${index}`, expr }));
    const check = (extra: typeof rules) => {
      const file = join(folder, 'rules.json'); // JSON is YAML
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: [...rules, ...extra] }] }));
      return run(['check', 'rules', file]);
    };
    const { status, stdout, stderr } = check([]);
    expect(stderr).toBe('');
    expect(stdout).toContain(`${rules.length} rules found`);
    expect(status).toBe(0);
    expect(check([{ record: 'panel_wrong', expr: 'sum by (le (webhook_queue_depth)' }]).status).not.toBe(0);
  });

  it('the rules are valid', () => {
    const { status, stdout, stderr } = run(['check', 'rules', 'alerts.yml']);
    expect(stderr).toBe('');
    expect(stdout).toContain(`${alerts.length} rules found`);
    expect(status).toBe(0);
  });
});
