import { WebhookError } from 'service-webhooks';
import { createEmulator, type Emulator, type Faults } from 'service-webhooks-emulator';
import { printInto } from './console.js';
import type { SimulationReport } from './contract.js';
import { findWrongHealth } from './health.js';
import { createNetwork, type Server } from './network.js';
import { seedMathRandom } from './random.js';
import { type BrokenWorldRule, findBrokenRule } from './rules.js';
import { isSetUpError, type RunningProcesses, runProcesses, type StartReceiver } from './running-processes.js';
import { createSentEvents, type SentEvents } from './sent-events.js';
import { createStory } from './story.js';
import { catchUncaught } from './uncaught.js';
import { startVirtualTime, type VirtualTime } from './virtual-time.js';
import { createWorld, type WorldOptions, type WorldParts } from './world.js';

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
/** The reports of dead processes, and every pause and slow call, have ended after this time without faults. */
const QUIET_MS = 11 * MINUTE_MS;
/** How long after the last fault an expected job may be handled. */
const LATEST_RECONCILIATION_MS = 12 * 60 * MINUTE_MS;

/** Plays the world of one seed to its end. Rejects where the simulation was set up in a wrong way. */
export async function runSeed<State>(
  start: StartReceiver<State>,
  options: WorldOptions<State>,
  seed: number,
): Promise<EndedSeed> {
  const time = startVirtualTime();
  const story = createStory(time.elapsed);
  const restoreConsole = printInto(story);
  const restoreRandom = seedMathRandom(seed);
  const uncaught = catchUncaught();
  try {
    const world = createWorld(seed, options, { time, story });
    const emulator = createEmulator({ clock: 'real', seed, fetch: (request) => network(request) });
    const events = createSentEvents({ emulator, time, world, events: options.events, tenants: options.tenants });
    const { secrets } = events;
    const processes = runProcesses({ start, options, world, time, secrets });
    const network = createNetwork({ ...world, time, servers: processes.servers as readonly Server[] });
    const running = { options, world, time, emulator, events, processes };
    const found = await play(running).catch((error: unknown) => {
      if (isSetUpError(error)) throw error;
      return { rule: 'uncaught', what: inWords(error), error } as const;
    });
    const broken = uncaught.first && found?.rule !== 'uncaught' ? uncaughtRule(uncaught.first.error) : found;
    world.counts.elapsedMs = time.elapsed();
    world.counts.attempts = emulator.totals.attempts;
    await emulator.close();
    return { broken, story: story.lines, counts: world.counts };
  } finally {
    uncaught.restore();
    restoreConsole();
    restoreRandom();
    time.end();
  }
}

interface RunningWorld<State> {
  options: WorldOptions<State>;
  world: WorldParts;
  time: VirtualTime;
  emulator: Emulator;
  events: SentEvents;
  processes: RunningProcesses;
}

/** Lets the world run until it is at rest, and returns the first rule that it has broken. */
async function play<State>(running: RunningWorld<State>): Promise<BrokenWorldRule | undefined> {
  const { options, world, time, emulator, events, processes } = running;
  const { random, faults, record, engine, service, story } = world;
  const hasWorkers = options.worker !== undefined;
  const calmAt = random.between(MINUTE_MS, LATEST_CALM_MS);
  story.tell('the world', `has a ${world.model} store`);
  emulator.setFaults(faultsOfSender(world));
  events.start();
  time.after(calmAt, () => {
    story.tell('the world', 'has no more faults');
    faults.calm();
    emulator.setFaults({});
  });

  const isReconciled = () =>
    time.elapsed() > calmAt + LATEST_RECONCILIATION_MS ||
    [...service.jobs.values()].every((job) => !job.isExpected || record.isHandled(job.subject));
  const isAtRest = () => faults.isCalm && events.isIdle && (!hasWorkers || engine.isIdle) && isReconciled();
  if (!(await time.runUntil(isAtRest))) {
    const what = time.hasTimers
      ? 'too many timers have run: use intervals of a second or more'
      : 'something waits that no timer will ever wake';
    return { rule: 'rest', what };
  }
  if (!hasWorkers && !engine.isIdle) throw withoutWorker();
  await time.pass(QUIET_MS);

  return (
    world.brokenRule ??
    findBrokenRule({ ...world, events, struck: faults.struck, calmAt }) ??
    (await findWrongHealth([...processes.receivers], { time, record })) ??
    (await checkedByUser(running))
  );
}

async function checkedByUser<State>({ options, world, time, events }: RunningWorld<State>) {
  const acknowledged = events.sent.filter(events.isAcknowledged).map(({ event }) => event);
  const unacknowledged = events.sent.filter((one) => !events.isAcknowledged(one)).map(({ event }) => event);
  try {
    const ended = { state: world.state as State, acknowledged, unacknowledged };
    await time.resultOf((async () => options.check?.(ended))());
    return undefined;
  } catch (error) {
    return { rule: 'yours', what: inWords(error), error } as const;
  }
}

function uncaughtRule(error: unknown): BrokenWorldRule {
  return { rule: 'uncaught', what: `A promise was rejected, and nothing handles it: ${inWords(error)}`, error };
}

function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
