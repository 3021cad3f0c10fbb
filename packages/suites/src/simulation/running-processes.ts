import { isWebhookError, type Receiver, WebhookError } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import type { ReceiverProcess, World } from './contract.js';
import { type CountedReceiver, countAnswers } from './health.js';
import type { Server } from './network.js';
import { nodeServer } from './node-server.js';
import { createProcess, type SimulatedProcess } from './processes.js';
import { CLOCK_SKEW_MS } from './store-models.js';
import type { VirtualTime } from './virtual-time.js';
import { startWorker } from './worker.js';
import type { WorldOptions, WorldParts } from './world.js';

/** Starts what a receiving process of the world runs. */
export type StartReceiver<State> = (world: World<State>) => ReceiverProcess;

/** The processes of a world, which are started again after they were killed. */
export interface RunningProcesses {
  /** The receiving processes behind the load balancer, also those that are dead. */
  readonly servers: readonly Server[];
  /** The receivers that run, and whose health can be asked for. */
  readonly receivers: ReadonlySet<CountedReceiver>;
}

export interface RunningProcessesParts<State> {
  start: StartReceiver<State>;
  options: WorldOptions<State>;
  world: WorldParts;
  time: VirtualTime;
  secrets: World['secrets'];
}

const LONGEST_DOWNTIME_MS = 60_000;

/** Starts the processes. @throws what code of the user throws, WebhookError `invalid_option` for what is no receiver */
export function runProcesses<State>(parts: RunningProcessesParts<State>): RunningProcesses {
  const { start, options, world, time, secrets } = parts;
  const { random, story, counts } = world;
  const servers: Server[] = [];
  const receivers = new Set<CountedReceiver>();
  const seenBy = (process: SimulatedProcess) => world.seenBy(process, secrets) as World<State>;

  function startReceiver(process: SimulatedProcess): Server['serve'] {
    const started = checked(start(seenBy(process)));
    if ('fetch' in started) return async (request) => started.fetch(request);
    if ('listener' in started) return nodeServer(started.listener, { process, time, random, story });
    const own = countAnswers(started, process);
    receivers.add(own);
    process.onKilled(() => receivers.delete(own));
    return webhookHandler(own.receiver);
  }

  function startJobs(process: SimulatedProcess): void {
    const seen = seenBy(process);
    const worker = options.worker?.(seen);
    if (worker) startWorker({ ...worker, ...world.queue.payloads }, seen.jobs);
  }

  /** Starts a process, and the next one in its place a while after it was killed. */
  function keepRunning(name: string, begin: (process: SimulatedProcess) => void, incarnation = 1): void {
    const process = createProcess({
      name: incarnation === 1 ? name : `${name}.${incarnation}`,
      skewMs: world.model === 'dynamodb' ? random.between(0, CLOCK_SKEW_MS / 2) : 0,
      later: (call) => time.after(0, call),
    });
    process.run(() => begin(process));
    world.disturbances.everyNowAndThen(process);
    process.onKilled(() => {
      counts.kills += 1;
      time.after(random.between(100, LONGEST_DOWNTIME_MS), () => keepRunning(name, begin, incarnation + 1));
    });
  }

  for (let i = 0; i < options.receivers; i += 1) {
    keepRunning(`receiver-${i + 1}`, (process) => {
      servers[i] = { process, serve: startReceiver(process) };
    });
  }
  const workers = options.worker === undefined ? 0 : options.workers;
  for (let i = 0; i < workers; i += 1) keepRunning(`worker-${i + 1}`, startJobs);
  return { servers, receivers };
}

/** @throws WebhookError `invalid_option` */
function checked(started: ReceiverProcess): ReceiverProcess {
  const { begin, fetch, listener } = Object(started) as Partial<Receiver & { fetch: unknown; listener: unknown }>;
  if ([begin, fetch, listener].some((method) => typeof method === 'function')) return started;
  throw new WebhookError('invalid_option', {
    message: 'The function that simulate() was given returned no receiver.',
    hint: 'Return a receiver from createReceiver(), { fetch } of an app such as Hono, or { listener: app } of Express and Node. It must not be async.',
  });
}

/** Returns whether an error says that the simulation was set up in a wrong way. */
export function isSetUpError(error: unknown): boolean {
  return isWebhookError(error) && (error.code === 'invalid_option' || error.code === 'invalid_secret');
}
