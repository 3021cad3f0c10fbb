import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { promtool } from '../integration/prometheus.js';
import { ROOT } from '../support/markdown.js';
import { alerts, alertsText, MONITORING } from '../support/monitoring-files.js';

/** Runs the unit tests of the rules, on these rules. */
function testRules(rules: string) {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'alerts.yml'), rules);
  copyFileSync(join(MONITORING, 'alerts.test.yml'), join(folder, 'alerts.test.yml'));
  return spawnSync(promtool ?? '', ['test', 'rules', 'alerts.test.yml'], { cwd: folder, encoding: 'utf8' });
}

describe('the alerts of docs/monitoring/alerts.yml', () => {
  it.runIf(promtool)('their unit tests pass', () => {
    const { status, stdout, stderr } = testRules(alertsText);
    expect(`${stdout}${stderr}`).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  it.runIf(promtool).each([
    ['never', 'vector(0) > 1'],
    ['always', 'vector(1)'],
  ])('the unit tests of each alert fail where it %s fires', (_, expression) => {
    const broken = alertsText
      .replace(/expr: (?:\|\n(?: {10}.*\n)+|.*\n)/g, `expr: ${expression}\n`)
      .replace(/^ +for: .*\n/gm, '');
    const { stdout, stderr } = testRules(broken);
    const failed = [...`${stdout}${stderr}`.matchAll(/alertname: (\w+), time/g)].map(([, name = '']) => name);
    expect([...new Set(failed)].toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });

  it('each alert has a summary, an action and a section of the page', () => {
    const page = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8');
    const headings = [...page.matchAll(/^### (Webhook\w+)$/gm)].map(([, name]) => name);
    expect(headings.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
    for (const { name, summary, action, runbook } of alerts) {
      expect([summary, action], name).toEqual([expect.stringMatching(/\.'?$/), expect.stringMatching(/\.$/)]);
      expect(runbook).toBe(`docs/monitoring.md#${name.toLowerCase()}`);
    }
  });

  it('refusals open a ticket, because any sender can cause them, and every other alert pages', () => {
    const tickets = alerts.filter(({ severity }) => severity !== 'page');
    expect(tickets).toMatchObject([{ name: 'WebhookRefusals', severity: 'ticket' }]);
    const pages = alerts.filter(({ severity }) => severity === 'page');
    expect(pages.map(({ expression }) => expression).join()).not.toMatch(/refusals|"rejected"\}\[10m\]\)\) >/);
  });
});
