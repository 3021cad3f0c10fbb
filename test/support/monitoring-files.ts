import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.js';

/** The folder of the dashboard and of the rules. */
export const MONITORING = join(ROOT, 'docs/monitoring');

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { type: string; uid: string };
  gridPos: { h: number; w: number; x: number; y: number };
  fieldConfig?: { defaults: { unit: string } };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { type: string; uid: string } }[];
}

export interface Dashboard {
  title: string;
  uid: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown }[] };
}

export const dashboard: Dashboard = JSON.parse(readFileSync(join(MONITORING, 'dashboard.json'), 'utf8'));

/** Returns an expression of the dashboard as Grafana sends it. */
export function interpolated(expression: string, interval = '5m'): string {
  return expression.replaceAll('$job', '.*').replaceAll('$__rate_interval', interval);
}

/** The expressions of the dashboard, by the title of their panel. */
export const panelExpressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [title: string, expression: string] => [title, interpolated(expr)]),
);

export interface Alert {
  name: string;
  expression: string;
  severity: string;
  summary: string;
  action: string;
  runbook: string;
}

export const alertsText = readFileSync(join(MONITORING, 'alerts.yml'), 'utf8');

/** The alerts of the rules. promtool checks their form; here they are only read. */
export const alerts: Alert[] = alertsText
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((block) => {
    const field = (name: string) => new RegExp(`^ +${name}: (.+)$`, 'm').exec(block)?.[1] ?? '';
    const [, lines] = /^ +expr: \|\n((?: {10}.*\n)+)/m.exec(block) ?? [];
    return {
      name: /^\w+/.exec(block)?.[0] ?? '',
      expression: lines ?? field('expr'),
      severity: field('severity'),
      summary: field('summary'),
      action: field('action'),
      runbook: field('runbook'),
    };
  });
