import { type Handler, PermanentError } from 'service-webhooks';
import { expect, vi } from 'vitest';
import type { DeadLetter, OperatedQueue, QueueStats } from '../../src/queue/dead-letters.js';
import { PATIENTLY } from '../support/patiently.js';
import { aQueued, type QueuedParts } from './queued.js';

/** One run of a handler. */
export interface Run {
  id: string;
  attempt: number;
  fence: number;
  signal: AbortSignal;
}

export type Recorded = ReturnType<typeof recorded>;

/** A handler that records its runs, each of which ends as `end` does. */
export function recorded(end: (run: Run) => unknown = () => {}) {
  const runs: Run[] = [];
  const handler: Handler = ({ id }, { attempt, fence, signal }) => {
    const run = { id, attempt, fence, signal };
    runs.push(run);
    return end(run) as undefined;
  };
  const attempts = (id?: string) => runs.filter((run) => id === undefined || run.id === id).map((run) => run.attempt);
  return {
    on: { '*': handler },
    runs,
    attempts,
    ids: () => runs.map(({ id }) => id),
    /** Waits until the handler has run with these attempts. */
    haveRun: (...expected: number[]) => vi.waitFor(() => expect(attempts()).toEqual(expected), PATIENTLY),
  };
}

export function failing(): never {
  throw new Error('no disk');
}

export function failingForGood(): never {
  throw new PermanentError('the clip is gone');
}

/** Waits until the stats are these; by default every job is done. */
export async function untilStats(
  queue: OperatedQueue,
  stats: Partial<QueueStats> = { depth: 0, dead: 0 },
): Promise<void> {
  await vi.waitFor(async () => expect(await queue.stats()).toMatchObject(stats), PATIENTLY);
}

export async function untilDeadLetter(queue: OperatedQueue): Promise<DeadLetter> {
  const [letter] = await vi.waitFor(async () => {
    const letters = await queue.deadLetters();
    expect(letters).toHaveLength(1);
    return letters;
  }, PATIENTLY);
  return letter as DeadLetter;
}

/** Puts deliveries, which differ in these parts, one after the other. */
export async function putAll(queue: Pick<OperatedQueue, 'put'>, ...parts: QueuedParts[]): Promise<void> {
  for (const part of parts) await queue.put(aQueued(part));
}
