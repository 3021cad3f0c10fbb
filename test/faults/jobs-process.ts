import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handler, Outcome } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { webhookHandler } from 'service-webhooks/node';
import { SECRET } from '../support/deliveries.js';
import { openStore, type Place } from './places.js';

/** A receiver with jobs that also reconciles them, again and again. */
export interface Task {
  place: Place;
  /** The file with a line for each beginning of a handler and each end that was recorded. */
  log: string;
  leaseMs: number;
  /** The longest random pause in the handler and in the answer of the service. */
  jitterMs: number;
}

/** A line of the log. */
export interface Line {
  what: 'begun' | 'handled';
  jobId: string;
  eventId: string;
  scheme: string;
}

/** What the process says at first. */
export interface Said {
  port: number;
  pid: number;
}

const { place, log, leaseMs, jitterMs }: Task = JSON.parse(process.argv[2] ?? '{}');
const store = await openStore(place);
const jobs = createJobs({ store, leaseMs });

const write = (line: Line) => appendFileSync(log, `${JSON.stringify(line)}\n`);
const jitter = () => pause(Math.random() * jitterMs);

const handler: Handler = async (event, { delivery: { scheme } }) => {
  write({ what: 'begun', jobId: String(event.jobId), eventId: event.id, scheme });
  await jitter();
};

function observe({ kind, delivery }: Outcome): void {
  if (kind !== 'handled' || delivery === undefined) return;
  const { event, scheme } = delivery;
  write({ what: 'handled', jobId: String(event.jobId), eventId: event.id, scheme });
}

const common = { on: { '*': handler }, observe, logger: false } as const;
const dedupe = { store, name: 'faults', leaseMs };
const server = createServer(webhookHandler({ secret: SECRET, jobs, dedupe, ...common }));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  process.send?.({ port, pid: process.pid } satisfies Said);
});

process.once('disconnect', () => process.exit()); // the test has ended

/** The answer of the service: now and then, the job seems to run still. */
async function fetch() {
  await jitter();
  return Math.random() < 0.2 ? undefined : { type: 'stt.completed', data: {} };
}

for (;;) {
  await jobs.reconcile({ fetch, name: 'faults', fetchTimeoutMs: 20 * jitterMs, ...common }).catch(() => {});
  await pause(50);
}
