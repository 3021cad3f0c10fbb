import type { DeadLetter, FollowedState, QueuedDelivery } from 'service-webhooks/queue';
import { aQueued } from '../../../../test/queue/queued.js';
import type { OtherState, StoredJob } from '../../src/queues/listed-letter.js';
import type { OpenedQueue } from '../../src/queues/queue-engine.js';
import type { PlacedQueue } from '../../src/queues/queue-options.js';

/** A queue in memory, whose retried letters end as a test says. */
export interface MemoryQueue {
  placed: PlacedQueue;
  letters: DeadLetter[];
  jobs: Record<'waiting' | 'running', StoredJob[]>;
  /** How a retried letter ends; while it says `pending`, the letter waits. */
  outcome: (letter: DeadLetter) => FollowedState;
  /** What a letter that dies again says. */
  reasonAgain: string;
  /** Every call fails with it. */
  problem: Error | undefined;
  /** Only the calls that begin so fail, such as `stats`. */
  failing: string;
  /** The calls that were made: `stats`, `deadLetters 0+20`, `retry 1`. */
  calls: string[];
  /** How many times the queue is opened, and closed. */
  opened: number;
  closed: number;
  /** Awaited by each retry and each discard. */
  gate: Promise<unknown>;
}

export const T0 = Date.UTC(2026, 6, 11, 12);

/** The nth dead letter. */
export function aLetter(n: number, changes: Partial<DeadLetter> & { delivery?: QueuedDelivery | undefined } = {}) {
  return {
    id: String(n),
    delivery: aQueued({ eventId: `evt_${n}` }),
    diedAt: T0 + n * 1_000,
    attempts: 10,
    reason: 'no clip',
    stack: 'Error: no clip\n    at handle (app.ts:1:1)',
    ...changes,
  };
}

export function memoryQueue(letters: DeadLetter[], engine: Partial<PlacedQueue['engine']> & Partial<OpenedQueue> = {}) {
  const { name = 'memory', unlisted = {}, ...opening } = engine;
  const memory: MemoryQueue = {
    letters,
    jobs: { waiting: [], running: [] },
    outcome: () => 'done',
    reasonAgain: 'still no clip',
    problem: undefined,
    failing: '',
    calls: [],
    opened: 0,
    closed: 0,
    gate: Promise.resolve(),
    placed: {
      engine: { name, unlisted },
      where: `${name} at 127.0.0.1`,
      open: async () => {
        memory.opened += 1;
        return opened;
      },
    },
  };

  function called(call: string): void {
    memory.calls.push(call);
    if (memory.problem && call.startsWith(memory.failing)) throw memory.problem;
  }

  async function remove(call: string, id: string): Promise<DeadLetter | undefined> {
    await memory.gate;
    called(`${call} ${id}`);
    const at = memory.letters.findIndex((letter) => letter.id === id);
    return at === -1 ? undefined : memory.letters.splice(at, 1)[0];
  }

  const opened: OpenedQueue = {
    queue: {
      name: 'clips',
      async stats() {
        called('stats');
        return { depth: memory.jobs.waiting.length, oldestMs: 90_000, dead: memory.letters.length };
      },
      async deadLetters({ limit = 100, offset = 0 } = {}) {
        called(`deadLetters ${offset}+${limit}`);
        return memory.letters.slice(offset, offset + limit);
      },
      retry: async (id) => (await remove('retry', id)) !== undefined,
      discard: async (id) => (await remove('discard', id)) !== undefined,
      async retryAndFollow(id) {
        const letter = await remove('retry', id);
        if (letter === undefined) return undefined;
        let isOver = false;
        return {
          async state() {
            called('state');
            const state = memory.outcome(letter);
            // As in an engine that gives a job another id when it dies.
            if (state === 'dead' && !isOver)
              memory.letters.push({ ...letter, id: `${id}+`, diedAt: Date.now(), reason: memory.reasonAgain });
            isOver = state !== 'pending';
            return state;
          },
          close: async () => {},
        };
      },
    },
    jobs: (state: OtherState) => [
      async ({ limit, offset }) => {
        called(`jobs ${state}`);
        return state === 'done' ? [] : memory.jobs[state].slice(offset, offset + limit);
      },
    ],
    async close() {
      memory.closed += 1;
    },
    ...opening,
  };
  return memory;
}
