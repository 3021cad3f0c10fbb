import { WebhookError } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { createEmulator, type Faults } from 'service-webhooks-emulator';
import { printInto } from './console.js';
import type { ReceiverProcess, SimulationReport, World } from './contract.js';
import { type CountedReceiver, countAnswers, findWrongHealth } from './health.js';
import { createNetwork, type Server } from './network.js';
import { nodeServer } from './node-server.js';
import { createProcess, type SimulatedProcess } from './processes.js';
import { seedMathRandom } from './random.js';
import { type BrokenWorldRule, findBrokenRule } from './rules.js';
import { createSentEvents } from './sent-events.js';
import { CLOCK_SKEW_MS } from './store-models.js';
import { createStory, type Story } from './story.js';
import { startVirtualTime, type VirtualTime } from './virtual-time.js';
import { startWorker } from './worker.js';
import { createWorld, type WorldOptions, type WorldParts } from './world.js';

/** Starts what a receiving process of the world runs. */
export type StartReceiver<State> = (world: World<State>) => ReceiverProcess;

/** How the world of a seed ended. */
export interface EndedSeed {
  /** The rule that was broken; undefined where all hold. */
  broken: BrokenWorldRule | undefined;
  story: readonly string[];
  counts: Omit<SimulationReport, 'seeds'>;
}

const MINUTE_MS = 60_000;
/** The last attempts of the service, an hour and more after the first one, meet no faults. */
const LATEST_CALM_MS = 14 * MINUTE_MS;
const LONGEST_DOWNTIME_MS = MINUTE_MS;
/** The reports of dead processes, and every pause and slow call, have ended after this time without faults. */
const QUIET_MS = 11 * MINUTE_MS;
/** How long after the last fault an expected job may be handled. */
const LATEST_RECONCILIATION_MS = 12 * 60 * MINUTE_MS;
/** More timers than a world needs that comes to rest. */
const MOST_STEPS = 100_000;

/** Plays the world of one seed to its end. Rejects with what code of the user throws while a process starts. */
export async function runSeed<State>(
  start: StartReceiver<State>,
  options: WorldOptions<State>,
  seed: number,
): Promise<EndedSeed> {
  const time = startVirtualTime();
  const story = createStory(time.elapsed);
  const printAgain = printInto(story);
  const drawAgain = seedMathRandom(seed);
  try {
    const world = createWorld(seed, options, { time, story });
    const broken = await play({ start, options, seed, time, story, world });
    world.counts.elapsedMs = time.elapsed();
    return { broken, story: story.lines, counts: world.counts };
  } finally {
    printAgain();
    drawAgain();
    time.end();
  }
}

interface Play<State> {
  start: StartReceiver<State>;
  options: WorldOptions<State>;
  seed: number;
  time: VirtualTime;
  story: Story;
  world: WorldParts;
}

async function play<State>({ start, options, seed, time, story, world }: Play<State>) {
  const { random, faults, record, counts, engine, service } = world;
  const servers: Server[] = [];
  const counted = new Map<SimulatedProcess, CountedReceiver>();
  const fetch = createNetwork({ time, random, faults, story, servers });
  const emulator = createEmulator({ clock: 'real', seed, fetch });
  const events = createSentEvents({ emulator, time, world, events: options.events, tenants: options.tenants });
  const workers = options.worker === undefined ? 0 : options.workers;
  story.tell('the world', `has a ${world.model} store`);

  function startReceiver(process: SimulatedProcess, place: number): void {
    const started = start(world.seenBy(process, events.secrets) as World<State>);
    if ('fetch' in started) {
      servers[place] = { process, serve: async (request) => started.fetch(request) };
      return;
    }
    if ('listener' in started) {
      servers[place] = { process, serve: nodeServer(started.listener, { process, time, random, story }) };
      return;
    }
    const own = countAnswers(started, process);
    counted.set(process, own);
    process.onKilled(() => counted.delete(process));
    servers[place] = { process, serve: webhookHandler(own.receiver) };
  }

  function startJobs(process: SimulatedProcess): void {
    const seen = world.seenBy(process, events.secrets) as World<State>;
    const worker = options.worker?.(seen);
    if (worker) startWorker({ ...worker, ...world.queue.payloads }, seen.jobs);
  }

  /** Starts a process, and the next one in its place a while after it was killed. */
  function keepRunning(name: string, begin: (process: SimulatedProcess) => void, incarnation = 1): void {
    const skewMs = world.model === 'dynamodb' ? random.between(0, CLOCK_SKEW_MS / 2) : 0;
    const process = createProcess(incarnation === 1 ? name : `${name}.${incarnation}`, skewMs);
    process.run(() => begin(process));
    process.onKilled(() => {
      counts.kills += 1;
      time.after(random.between(100, LONGEST_DOWNTIME_MS), () => keepRunning(name, begin, incarnation + 1));
    });
  }

  for (let i = 0; i < options.receivers; i += 1) keepRunning(`receiver-${i + 1}`, (one) => startReceiver(one, i));
  for (let i = 0; i < workers; i += 1) keepRunning(`worker-${i + 1}`, startJobs);
  emulator.setFaults(faultsOfSender(world));
  events.start();
  const calmAt = random.between(MINUTE_MS, LATEST_CALM_MS);
  time.after(calmAt, () => {
    story.tell('the world', 'has no more faults');
    faults.calm();
    emulator.setFaults({});
  });

  const isReconciled = () =>
    time.elapsed() > calmAt + LATEST_RECONCILIATION_MS ||
    [...service.jobs.values()].every((job) => !job.isExpected || record.isHandled(job.subject));
  const isAtRest = () => faults.isCalm && events.isIdle && (workers === 0 || engine.isIdle) && isReconciled();
  const rests = await time.runUntil(isAtRest, MOST_STEPS);
  counts.attempts = emulator.totals.attempts;
  if (!rests) return { rule: 'rest', what: 'there is always something left to do' } as const;
  if (workers === 0 && !engine.isIdle) throw withoutWorker();
  await time.pass(QUIET_MS);

  const broken =
    world.brokenRule ??
    findBrokenRule({ ...world, events, struck: faults.struck, calmAt }) ??
    (await findWrongHealth([...counted.values()], { time, record }));
  if (broken) return broken;
  const acknowledged = events.sent.filter(events.isAcknowledged).map(({ event }) => event);
  const unacknowledged = events.sent.filter((one) => !events.isAcknowledged(one)).map(({ event }) => event);
  try {
    await options.check?.({ state: world.state as State, acknowledged, unacknowledged });
  } catch (error) {
    return { rule: 'yours', what: error instanceof Error ? error.message : String(error), error } as const;
  } finally {
    await emulator.close();
  }
  return undefined;
}

/** A delivery that never comes is for processes that look for its job. */
function faultsOfSender({ faults, random, service }: WorldParts): Faults {
  return {
    drop: faults.rateOf('drop'),
    delay: { rate: faults.rateOf('delay'), ms: random.between(100, 30_000) },
    duplicate: { rate: faults.rateOf('duplicate'), afterMs: random.between(0, 30_000) },
    reorder: { rate: faults.rateOf('reorder'), withinMs: random.between(100, 60_000) },
    slowBody: { rate: faults.rateOf('slow body'), ms: random.between(100, 15_000), pieces: 3 },
    reset: { rate: faults.rateOf('reset') / 2 },
    never: service.isUsed ? faults.rateOf('lost delivery') : 0,
  };
}

function withoutWorker(): WebhookError {
  return new WebhookError('invalid_option', {
    message: 'The receiver puts deliveries into world.queue, and no worker runs them.',
    hint: 'Pass the handlers to simulate() as worker: ({ handlers }) => ({ on: handlers({ … }) }).',
  });
}
