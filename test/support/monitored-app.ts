import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type Handlers, memoryStore, type Receiver } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { webhookHandler } from 'service-webhooks/node';
import { createReceiver, observeJobs, observeQueue, workerTelemetry } from 'service-webhooks/otel';
import { type SqliteDatabase, sqliteQueue } from 'service-webhooks/queue/sqlite';

export interface MonitoredAppOptions {
  /** The secret of both endpoints, and the clock by which signatures are verified. */
  secret: string;
  now: () => number;
  /** A database of the queue, and the clock of the queue. */
  db: { betterSqlite3: SqliteDatabase } | { nodeSqlite: SqliteDatabase };
  queueNow: () => number;
  /** The handlers of the endpoint `clips`, and those of the worker of `songs`. */
  on: Handlers;
  onQueued: Handlers;
}

/**
 * An app as `docs/monitoring.md` sets it up: `/clips` has handlers, which end jobs, `/songs` a queue with a worker, `/metrics`
 * their metrics.
 */
export async function startMonitoredApp(options: MonitoredAppOptions) {
  const { secret, now, db, queueNow, on, onQueued } = options;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const store = memoryStore();
  const jobs = createJobs({ store });
  const queue = sqliteQueue(db as { betterSqlite3: SqliteDatabase }, { name: 'songs', now: queueNow, pollMs: 10 });
  const common = { secret, now, logger: false } as const;
  const receivers: Record<string, Receiver> = {
    '/clips': createReceiver({ ...common, on, jobs, dedupe: { store, name: 'clips' } }, { meterProvider }),
    '/songs': createReceiver({ ...common, queue }, { meterProvider }),
  };
  const endpoints = Object.fromEntries(
    Object.entries(receivers).map(([path, receiver]) => [path, webhookHandler(receiver)]),
  );
  const worker = queue.work({ on: onQueued, logger: false, telemetry: workerTelemetry({ meterProvider }) });
  const stopObserving = [observeQueue(queue, { meterProvider }), observeJobs(jobs, { meterProvider, name: 'clips' })];
  const server = createServer((request, response) => {
    if (request.url === '/metrics') exporter.getMetricsRequestHandler(request, response);
    else endpoints[request.url ?? '']?.(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    host,
    url: `http://${host}`,
    store,
    jobs,
    queue,
    worker,
    async close() {
      for (const stop of stopObserving) stop();
      await worker.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await meterProvider.shutdown();
      context.disable();
    },
  };
}
