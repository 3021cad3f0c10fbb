import type { Emulator, Faults } from 'service-webhooks-emulator';

interface Scenario {
  /** What happens. */
  says: string;
  /** Resolves when it is over. `faults` are those that strike anyway. */
  run(emulator: Emulator, faults: Faults): Promise<void>;
}

const jobOf = (emulator: Emulator, kind = 'clip') => ({
  jobId: `${kind}_scenario_${emulator.totals.events + 1}`,
});

/** What happens to an app in production, by name; the table in `docs/cli.md`. */
export const SCENARIOS = {
  'job-retried': {
    says: 'a job fails, is started again, and completes: two events with one jobId',
    async run(emulator) {
      const { jobId } = jobOf(emulator);
      await emulator.emit('generation.failed', { jobId });
      await emulator.settled();
      await emulator.emit('generation.completed', { jobId, data: { clipId: jobId } });
    },
  },
  'out-of-order': {
    says: 'the completion of a job arrives before its earlier failure',
    async run(emulator) {
      const { jobId } = jobOf(emulator);
      const minuteAgo = new Date(emulator.now() - 60_000).toISOString();
      await emulator.emit('generation.completed', { jobId, data: { clipId: jobId } });
      await emulator.settled();
      await emulator.emit('generation.failed', { jobId, timestamp: minuteAgo });
    },
  },
  duplicate: {
    says: 'one event is delivered twice',
    run: (emulator, faults) => strike(emulator, faults, { duplicate: { rate: 1, times: 1 } }),
  },
  outage: {
    says: 'the connection is reset three times, and a retry delivers the event',
    run: (emulator, faults) => strike(emulator, faults, { reset: { rate: 1, times: 3, at: 'request' } }),
  },
  dead: {
    says: 'the connection is reset at every attempt, until the delivery is dead',
    run: (emulator, faults) => strike(emulator, faults, { reset: { rate: 1, at: 'request' } }),
  },
  'never-comes': {
    says: 'a dubbing job ends and its webhook never comes: the app has to ask for the job',
    async run(emulator, faults) {
      emulator.setFaults({ ...faults, never: 1 });
      const emitted = emulator.emit('dubbing.completed', jobOf(emulator, 'dub'));
      emulator.setFaults(faults); // what is lost is decided when the event is emitted
      await emitted;
    },
  },
  burst: {
    says: 'fifty events at once',
    async run(emulator) {
      for (let count = 0; count < 50; count += 1) await emulator.emit('stt.completed');
    },
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/**
 * One after the other, each when the requests of the one before are answered: some of them take the faults for themselves,
 * which would strike those too.
 */
export async function runScenarios(emulator: Emulator, names: readonly ScenarioName[], faults: Faults): Promise<void> {
  for (const name of names) {
    await SCENARIOS[name].run(emulator, faults);
    await emulator.settled();
  }
}

/** Emits an event, and lets a fault strike its attempts, until it is delivered or dead. */
async function strike(emulator: Emulator, faults: Faults, by: Faults): Promise<void> {
  emulator.setFaults({ ...faults, ...by });
  const { event, deliveries } = await emulator.emit('generation.completed');
  let running = deliveries.filter(({ state }) => state !== 'lost').length;
  for await (const { eventId, duplicate, state } of running === 0 ? [] : emulator.attempts) {
    const isOver = state === 'delivered' || state === 'dead';
    if (eventId === event.id && !duplicate && isOver) running -= 1;
    if (running === 0) break;
  }
  if (running === 0) emulator.setFaults(faults);
}
