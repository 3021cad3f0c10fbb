import { type DedupeStore, type JobRecords, memoryStore } from 'service-webhooks';
import type { Call } from './calls.js';
import type { CallFault, WorldFaults } from './faults.js';
import type { SimulatedProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

/** The kinds of stores: what each guarantees is what the store of this name does, and others like it. */
export const STORE_MODELS = ['memory', 'sqlite', 'postgres', 'redis', 'dynamodb'] as const;

/** A model of what a kind of dedupe store guarantees. */
export type StoreModel = (typeof STORE_MODELS)[number];

/** Returns the store as a process sees it. */
export type StoreOfProcess = (process: SimulatedProcess) => DedupeStore;

export interface StoreParts {
  time: VirtualTime;
  faults: WorldFaults;
  random: Random;
  story: Story;
  call: Call;
  /** Called where the store has lost what was written in the last milliseconds. */
  lost(lastMs: number): void;
}

/** How far apart the clocks of processes may be where a store uses them, in milliseconds. */
export const CLOCK_SKEW_MS = 5_000;
/** How much later a replica has what the primary has confirmed, in milliseconds. */
const REPLICA_LAG_MS = 500;
const METHODS = ['claim', 'extend', 'complete', 'release', 'saveReport', 'loadReports'] as const;
const JOB_METHODS = ['read', 'write', 'remove', 'list', 'count', 'purgeExpired'] as const;

type Rows = Required<Pick<DedupeStore, (typeof METHODS)[number]>> & { readonly jobs: JobRecords };
type Operation = (...args: readonly unknown[]) => Promise<unknown>;
/** Returns one operation of rows. */
type Select = (rows: Rows) => Operation;

/** Creates the store of a world. */
export function createStoreModel(model: StoreModel, parts: StoreParts): StoreOfProcess {
  const { time, call } = parts;
  switch (model) {
    case 'memory': // each process has rows of its own, which end with it
      return () => memoryStore();
    case 'sqlite': {
      // A file of the host: a call may find it busy, and there is no network that could lose an answer.
      const rows = memoryRows(time.now);
      return () => overCalls('host', rows, call, ['refused call', 'slow call']);
    }
    case 'postgres': {
      const rows = memoryRows(time.now);
      return () => overCalls('shared', rows, call);
    }
    case 'redis': {
      const rows = replicatedRows(parts);
      return () => overCalls('shared', rows, call);
    }
    case 'dynamodb': {
      // The clock is that of the process that calls. An event is claimed again some seconds after its lease.
      let clock = 0;
      const rows = memoryRows(() => clock);
      return ({ skewMs }) => {
        const byOwnClock = mapRows((select) => (...args) => {
          clock = time.now() + skewMs;
          return select(rows)(...args.map(withLongerLease));
        });
        return overCalls('shared', byOwnClock, call);
      };
    }
  }
}

/** Returns rows with an operation in place of each one. `name` is how a story calls it. */
function mapRows(operationFor: (select: Select, name: string) => Operation): Rows {
  const methods = METHODS.map((method) => [
    method,
    operationFor((rows) => rows[method] as Operation, `store.${method}`),
  ]);
  const ofJobs = JOB_METHODS.map((method) => [
    method,
    operationFor(({ jobs }) => jobs[method] as unknown as Operation, `store.jobs.${method}`),
  ]);
  return { ...Object.fromEntries(methods), jobs: Object.fromEntries(ofJobs) } as Rows;
}

function withLongerLease(argument: unknown): unknown {
  const { leaseMs } = Object(argument) as { leaseMs?: number };
  return leaseMs === undefined ? argument : { ...Object(argument), leaseMs: leaseMs + CLOCK_SKEW_MS };
}

function memoryRows(now: () => number): Rows {
  return memoryStore({ now }) as Rows;
}

/** Rows on a primary with a replica that lags. A failover, once in a world, loses what the replica has not received. */
function replicatedRows({ time, faults, random, story, lost }: StoreParts): Rows {
  let timeOfOperation: number | undefined;
  const now = () => timeOfOperation ?? time.now();
  const replica = memoryRows(now);
  let primary = memoryRows(now);
  let lagging: (() => void)[] = [];
  const failOver = () => {
    if (primary === replica || faults.isCalm) return;
    story.tell('redis', `fails over and loses ${lagging.length} writes`);
    primary = replica;
    lagging = [];
    lost(REPLICA_LAG_MS);
  };

  return mapRows((select) => (...args) => {
    const at = time.now();
    const replicate = () => {
      timeOfOperation = at;
      void select(replica)(...args);
      timeOfOperation = undefined;
    };
    const answer = select(primary)(...args);
    if (primary !== replica) {
      if (faults.strikes('failover')) time.after(random.between(1, REPLICA_LAG_MS), failOver);
      lagging.push(replicate);
      time.after(REPLICA_LAG_MS, () => {
        if (lagging[0] === replicate) lagging.shift()?.();
      });
    }
    return answer;
  });
}

/** Returns the store as a client over a network sees its rows. */
function overCalls(scope: DedupeStore['scope'], rows: Rows, call: Call, possible?: readonly CallFault[]): DedupeStore {
  const methods = mapRows(
    (select, name) =>
      (...args) =>
        call(name, () => select(rows)(...args), possible),
  );
  return { scope, ...methods };
}
