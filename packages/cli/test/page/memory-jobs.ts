import { type DedupeStore, memoryStore } from 'service-webhooks';
import { createJobs, type ExpectOptions } from 'service-webhooks/jobs';
import type { PlacedStore } from '../../src/job-stores/job-store-options.js';

export const T0 = Date.UTC(2026, 6, 11, 12);
export const MINUTE = 60_000;

/** A store in memory with jobs, on a clock that a test moves, and what is called of it. */
export interface MemoryJobs {
  placed: PlacedStore;
  now: () => number;
  advance(ms: number): void;
  expect(jobId: string, options: ExpectOptions): Promise<unknown>;
  /** Every call fails with it. */
  problem: Error | undefined;
  /** Awaited by each call. */
  gate: Promise<unknown>;
  /** The calls that were made: `open`, `list`, `count`, `close`. */
  calls: string[];
}

export function memoryJobs(): MemoryJobs {
  let time = T0;
  const store = memoryStore({ now: () => time });
  const { jobs: records } = store;
  if (records === undefined) throw new Error('the memory store keeps jobs');
  const jobs = createJobs({ store });
  const memory: MemoryJobs = {
    problem: undefined,
    gate: Promise.resolve(),
    calls: [],
    now: () => time,
    advance(ms) {
      time += ms;
    },
    expect: (jobId, options) => jobs.expect(jobId, options),
    placed: {
      where: 'memory at 127.0.0.1',
      async open() {
        await called('open');
        return { store: watched, ask: (call) => call(), close: async () => void memory.calls.push('close') };
      },
    },
  };

  async function called(name: string): Promise<void> {
    memory.calls.push(name);
    await memory.gate;
    if (memory.problem) throw memory.problem;
  }

  const watched: DedupeStore = {
    ...store,
    jobs: {
      ...records,
      init: async () => called('init'),
      async list(page) {
        await called('list');
        return records.list(page);
      },
      async count() {
        await called('count');
        return records.count();
      },
      write: () => Promise.reject(new Error('a view writes nothing')),
    },
  };
  return memory;
}
