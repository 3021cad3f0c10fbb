import { setTimeout as sleep } from 'node:timers/promises';
import { confirmed } from '../../confirmed.js';
import { EXIT } from '../../failure.js';
import { counted } from '../../output.js';
import type { Session } from '../../session.js';
import type { ListedLetter } from './listed-letter.js';
import type { OpenedQueue } from './queue-engine.js';

/** What is done to dead letters. */
export interface LetterChange {
  /** In the words of a result: `retried`. */
  done: 'retried' | 'discarded';
  /** Resolves to false where the letter is gone. */
  run(opened: OpenedQueue, id: string): Promise<boolean>;
  /** How long the changes are spread over. */
  overMs: number;
  /** Whether the user is asked before the first change. */
  asks?: boolean;
}

interface Extent {
  limit: number;
  dryRun: boolean;
}

/**
 * Changes dead letters, one after the other. They are chosen before the first one is changed: a letter that is retried
 * may fail and become a new dead letter meanwhile, which is left alone.
 */
export async function changeLetters(
  session: Session,
  opened: OpenedQueue,
  letters: AsyncIterable<ListedLetter> | Iterable<ListedLetter>,
  { done, run, overMs, asks, limit, dryRun }: LetterChange & Extent,
): Promise<void> {
  const { out, signal } = session;
  const { chosen, hasMore } = await choose(letters, limit);
  if (asks && !dryRun && chosen.length > 0) {
    const question = `Discard ${counted(chosen.length, 'dead letter')} for good?`;
    if (!(await confirmed(session, question, 'pass --yes to discard them'))) {
      session.exitCode = EXIT.no;
      return;
    }
  }
  if (overMs > 0 && !dryRun && chosen.length > 1)
    out.note(`${counted(chosen.length, 'dead letter')}, one every ${overMs / chosen.length / 1_000} s.`);
  let changed = 0;
  for await (const { id, type, eventId, tenant } of spread(chosen, { overMs: dryRun ? 0 : overMs, signal })) {
    const isDone = dryRun || (await run(opened, id));
    if (isDone) changed += 1;
    const word = isDone ? (dryRun ? `would be ${done}` : done) : 'gone: it was changed by another operator';
    out.record({ kind: isDone ? done : 'gone', dryRun, id, type, eventId, tenant }, [
      [isDone ? 'good' : 'bad', word],
      ['strong', id],
      type ?? 'no event',
      eventId,
      tenant !== undefined && `of ${tenant}`,
    ]);
  }
  if (chosen.length === 0) out.note('There is no such dead letter.');
  if (hasMore) out.note(`There are more than ${limit}: run it again, or raise --limit.`);
  session.exitCode = changed === chosen.length ? EXIT.ok : EXIT.no;
}

/** Keeps no bodies, so that any number of letters may be chosen. */
async function choose(letters: AsyncIterable<ListedLetter> | Iterable<ListedLetter>, limit: number) {
  const chosen: Pick<ListedLetter, 'id' | 'type' | 'eventId' | 'tenant'>[] = [];
  for await (const { id, type, eventId, tenant } of letters) {
    if (chosen.length === limit) return { chosen, hasMore: true };
    chosen.push({ id, type, eventId, tenant });
  }
  return { chosen, hasMore: false };
}

interface Spread {
  /** The first one comes at once, and the others evenly until shortly before so many milliseconds are over. */
  overMs: number;
  /** Ends it by rejecting. */
  signal: AbortSignal;
  /** For tests. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  now?: () => number;
}

/** Yields items over a time. What takes long between two of them does not move the ones that follow. */
export async function* spread<Item>(
  items: readonly Item[],
  { overMs, signal, pause = (ms, signal) => sleep(ms, undefined, { signal }), now = () => performance.now() }: Spread,
): AsyncGenerator<Item> {
  const begun = now();
  for (const [index, item] of items.entries()) {
    const early = begun + (overMs * index) / items.length - now();
    if (early > 0) await pause(early, signal);
    signal.throwIfAborted();
    yield item;
  }
}
