import { WebhookError } from 'service-webhooks';
import {
  check,
  checkChoice,
  checkFunction,
  checkKnownOptions,
  checkObject,
  integers,
} from 'service-webhooks/option-checks';
import type { ReceiverProcess, SimulationOptions, SimulationReport, World } from './contract.js';
import { SIMULATED_FAULTS } from './faults.js';
import { type BrokenWorldRule, WORLD_RULES } from './rules.js';
import { STORE_MODELS } from './store-models.js';

const OPTIONS: readonly (keyof SimulationOptions)[] = [
  'seeds',
  'state',
  'worker',
  'receivers',
  'workers',
  'events',
  'tenants',
  'store',
  'without',
  'check',
];

/** The last lines of a story, which are in the message of the error. */
const LINES_IN_MESSAGE = 100;
const MOST_SEEDS = 1_000_000;

/** Thrown by {@link simulate} for the first seed whose world breaks a rule. */
export class SimulationError extends Error {
  /** `'SimulationError'`. */
  override readonly name = 'SimulationError';
  /** The seed. To play the same world again, keep the other options and pass `seeds: [seed]`. */
  readonly seed: number;
  /** The name of the broken rule. */
  readonly rule: keyof typeof WORLD_RULES;
  /** What happened in the world, line by line. It is not enumerable, because its end is in the message. */
  declare readonly story: readonly string[];

  constructor(seed: number, { rule, what, error }: BrokenWorldRule, story: readonly string[], hint: string) {
    const left = story.length - LINES_IN_MESSAGE;
    const first = left > 0 ? [`(${left} lines before are in error.story)`] : [];
    const lines = [...first, ...story.slice(-LINES_IN_MESSAGE)];
    const rerun = `To play it again, with the other options: seeds: [${seed}]`;
    const found = `Seed ${seed} broke the rule "${rule}": ${WORLD_RULES[rule]}.\n${what}.`;
    super([found, ...lines, hint, rerun].join('\n'), { cause: error });
    this.seed = seed;
    this.rule = rule;
    Object.defineProperty(this, 'story', { value: story });
  }
}

/**
 * Plays worlds in which processes are killed and paused, the network loses, repeats and cuts requests, and stores, queues and
 * your own calls fail or lose their answers. A world comes from one seed and runs in virtual time. A seed plays the same world
 * again where your code and the options are the same.
 *
 * When all is at rest, the rules are checked: an acknowledged event is handled or a dead letter, writes under an inbox took
 * effect exactly once, no two owners had one fence, `health()` agrees with the answers. `docs/testing.md` has more.
 *
 * While it runs, `Date` and the timers of this process belong to the world: run nothing else meanwhile.
 *
 * @param receiver Creates what a receiving process runs; called each time that one starts.
 * @throws SimulationError (as a rejection) with the story of the first seed that breaks a rule.
 *   WebhookError `invalid_option`; what `receiver` throws
 * @example
 * await simulate(
 *   ({ secret, store, handlers, call }) =>
 *     createReceiver({
 *       secret,
 *       dedupe: { store, name: 'clips' },
 *       on: handlers({ 'generation.completed': ({ data }) => call('save', () => saved.add(data.clipId)) }),
 *     }),
 *   { seeds: 1_000 },
 * );
 */
export async function simulate<State = undefined>(
  receiver: (world: World<State>) => ReceiverProcess,
  options: SimulationOptions<State> = {},
): Promise<SimulationReport> {
  checkReceiver(receiver);
  checkObject('options', options);
  checkKnownOptions('simulate', options, OPTIONS);
  const { seeds = 100, state, worker, check: ownCheck, store, without = [] } = options;
  for (const [name, value] of Object.entries({ state, worker, check: ownCheck })) checkFunction(name, value);
  if (store !== undefined) checkChoice('store', store, STORE_MODELS);
  for (const fault of without) checkChoice('without', fault, SIMULATED_FAULTS);
  const numbers = integers(options, { receivers: 2, workers: 2, events: 4, tenants: 1 });

  // Not before it is used: the suites for stores, queues and adapters also run where there are no modules of Node.
  const { runSeed } = await import('./run-seed.js');
  const report: SimulationReport = { seeds: 0, events: 0, attempts: 0, calls: 0, kills: 0, pauses: 0, elapsedMs: 0 };
  for (const seed of seedsOf(seeds)) {
    const ended = await runSeed(receiver, { ...options, ...numbers }, seed);
    if (ended.broken) {
      const again = await runSeed(receiver, { ...options, ...numbers }, seed);
      throw new SimulationError(seed, ended.broken, ended.story, hintOf(ended.story, again.story));
    }
    report.seeds += 1;
    for (const name of Object.keys(ended.counts) as (keyof typeof ended.counts)[]) report[name] += ended.counts[name];
  }
  return report;
}

/** @throws WebhookError `invalid_option` */
function checkReceiver(receiver: unknown): void {
  checkFunction('receiver', receiver);
  if (typeof receiver === 'function' && !('begin' in receiver)) return;
  throw new WebhookError('invalid_option', {
    message:
      'simulate() takes a function that creates a receiver, because a process that was killed starts with a new one.',
    hint: 'Pass simulate(({ secret, store, handlers }) => createReceiver({ secret, dedupe: { store, name: "clips" }, on: handlers({ … }) })).',
  });
}

function seedsOf(seeds: number | readonly number[]): readonly number[] {
  if (typeof seeds !== 'number') {
    check(Array.isArray(seeds) && seeds.length > 0 && seeds.every(isSeed), 'seeds must be a list of integers');
    return seeds;
  }
  const isCount = Number.isInteger(seeds) && seeds >= 1 && seeds <= MOST_SEEDS;
  check(isCount, `seeds must be a whole number from 1 to ${MOST_SEEDS}, or a list of integers`);
  return Array.from({ length: seeds }, (_, i) => i + 1);
}

function isSeed(seed: unknown): boolean {
  return Number.isInteger(seed) && Math.abs(Number(seed)) < 2 ** 31;
}

function hintOf(first: readonly string[], second: readonly string[]): string {
  const differs = second.findIndex((line, i) => line !== first[i]);
  if (differs < 0 && first.length === second.length) return 'The seed played the same world twice.';
  return `The seed played another world the second time, from line ${differs + 1} on: your code uses a real clock, random values or state that outlives a world. Pass the state as the option state.`;
}
