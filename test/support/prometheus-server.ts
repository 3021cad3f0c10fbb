import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endServer, freePort, untilAnswers } from './server-process.js';

export interface PrometheusServer {
  url: string;
  /** Resolves to the series of an expression at this moment: their labels and values. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  /** Resolves to the names of the alerts that fire, each once. */
  firing(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts a Prometheus that scrapes an app and evaluates rules twice a second. */
export async function startPrometheus(program: string, target: string, rules: string): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'app', static_configs: [{ targets: [target] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const close = async () => {
    await endServer(server);
    rmSync(folder, { recursive: true });
  };
  const get = async (path: string) => {
    const answer = (await (await fetch(`${url}${path}`)).json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(answer.error);
    return answer.data;
  };
  try {
    await untilAnswers(server, () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  } catch (error) {
    await close();
    throw error;
  }

  return {
    url,
    close,
    async query(expression) {
      const found = await get(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return (found as { result: Awaited<ReturnType<PrometheusServer['query']>> }).result;
    },
    async firing() {
      const { alerts } = (await get('/api/v1/alerts')) as {
        alerts: { state: string; labels: { alertname: string } }[];
      };
      const firing = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
      return [...new Set(firing)].toSorted();
    },
  };
}
