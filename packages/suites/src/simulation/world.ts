import { type Call, createCall } from './calls.js';
import type { SimulationOptions, SimulationReport, World } from './contract.js';
import { createDatabase } from './database.js';
import { createDisturbances, type Disturbances } from './disturbances.js';
import { drawFaults, type WorldFaults } from './faults.js';
import { createInboxRecord, type InboxRecord } from './inbox-record.js';
import { createJobEngine, type JobEngine } from './job-engine.js';
import type { SimulatedProcess } from './processes.js';
import { createQueueModel, type QueueModel } from './queue-model.js';
import { createRandom, type Random } from './random.js';
import { createRecord, type WorldRecord } from './record.js';
import type { BrokenWorldRule } from './rules.js';
import { createService, type ServiceModel } from './service.js';
import { createStoreModel, STORE_MODELS, type StoreModel } from './store-models.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

/** Options of a simulation, with their defaults. */
export type WorldOptions<State> = Omit<SimulationOptions<State>, 'receivers' | 'workers' | 'events' | 'tenants'> & {
  receivers: number;
  workers: number;
  events: number;
  tenants: number;
};

/** What a simulated world consists of, apart from its processes and the service. */
export interface WorldParts {
  readonly random: Random;
  readonly faults: WorldFaults;
  readonly disturbances: Disturbances;
  readonly record: WorldRecord;
  readonly inboxes: InboxRecord;
  readonly engine: JobEngine;
  readonly queue: QueueModel;
  readonly service: ServiceModel;
  readonly model: StoreModel;
  readonly story: Story;
  readonly counts: Omit<SimulationReport, 'seeds'>;
  /** The result of the option `state`. */
  readonly state: unknown;
  /** The first rule that was broken on the way. */
  readonly brokenRule: BrokenWorldRule | undefined;
  /** Returns the world as a process sees it. */
  seenBy(process: SimulatedProcess, secrets: World['secrets']): World<never>;
}

/** Draws the world of a seed. */
export function createWorld<State>(
  seed: number,
  options: WorldOptions<State>,
  { time, story }: { time: VirtualTime; story: Story },
): WorldParts {
  const random = createRandom(seed);
  const faults = drawFaults(random, options.without ?? []);
  const counts = { events: 0, attempts: 0, calls: 0, kills: 0, pauses: 0, elapsedMs: 0 };
  const disturbances = createDisturbances({ time, random, faults, story, counts });
  const call = createCall({ time, random, faults, story, disturbances, counts });
  const state = options.state?.();
  let brokenRule: BrokenWorldRule | undefined;
  const settledByAnother = (worker: string) => {
    brokenRule ??= { rule: 'owner', what: `${worker} settled a job that it no longer owned` };
  };
  const engine = createJobEngine({ time, random, settledByAnother });
  const queue = createQueueModel(engine, call, random.chance(0.5));
  const model = options.store ?? random.pick(STORE_MODELS);
  const { elapsed } = time;
  const service = createService({ elapsed, random, story, call, forgetsJobs: model === 'memory' });
  const record = createRecord({ elapsed, story, service });
  const lost = service.forgetExpectations;
  const storeOf = createStoreModel(model, { time, faults, random, story, call, lost });
  const inboxes = createInboxRecord();
  const database = createDatabase({ time, call, record, inboxes });
  return {
    random,
    faults,
    disturbances,
    record,
    inboxes,
    engine,
    queue,
    service,
    model,
    story,
    counts,
    state,
    get brokenRule() {
      return brokenRule;
    },
    seenBy: (process, secrets) => ({
      secret: Object.values(secrets)[0] as string,
      secrets,
      store: storeOf(process),
      queue: queue.queueOfProcess(),
      jobs: queue.jobs,
      payloads: queue.payloads,
      database,
      service: service.seenBy(process),
      state: state as never,
      handlers: record.handlers,
      work: ({ event, tenant }, run) => record.work(event, { fence: 0, tenant }, run),
      call,
      connect: (what, client) => connected(what, client, call),
    }),
  };
}

/** Returns an object whose methods are calls of another system. */
function connected<Client extends object>(what: string, client: Client, call: Call): Client {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
      if (isObject) return connected(`${what}.${String(name)}`, member, call);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => call(`${what}.${String(name)}`, () => Reflect.apply(member, target, args));
    },
  });
}
