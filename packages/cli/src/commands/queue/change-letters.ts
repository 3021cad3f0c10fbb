import { setTimeout as sleep } from 'node:timers/promises';
import type { FollowedJob } from 'service-webhooks/queue';
import { confirmed } from '../../confirmed.js';
import { EXIT, Failure } from '../../failure.js';
import { counted } from '../../output.js';
import type { FollowOptions } from '../../queues/follow-jobs.js';
import type { ListedLetter } from '../../queues/listed-letter.js';
import type { OpenedQueue } from '../../queues/queue-engine.js';
import { shortIds } from '../../queues/short-ids.js';
import type { Session } from '../../session.js';
import { type ChangeResult, reportResult } from './change-result.js';
import { type ChosenLetter, chooseLetters, letterWords } from './chosen-letters.js';
import { followLetters } from './follow-letters.js';

/** What is done to dead letters. */
export interface LetterChange {
  /** In the words of a result: `retried`. */
  done: ChangeResult['done'];
  /** Resolves to false or undefined where the letter is gone, and to a job that is followed where there is one. */
  run(opened: OpenedQueue, id: string): Promise<FollowedJob | boolean | undefined>;
  /** How long the changes are spread over. */
  overMs: number;
  /** How long the command waits for the end of the jobs that it follows. */
  waitMs?: number | undefined;
  /** Between two looks at those jobs. For tests. */
  pause?: FollowOptions<ChosenLetter>['pause'];
  /** Whether the user is asked before the first change. */
  asks?: boolean;
  /** Returns why a letter cannot be changed, so that none is. */
  refuses?(letter: ChosenLetter): string | undefined;
}

interface Extent {
  limit: number;
  /** Whether all letters are meant, so that it is a failure where the limit leaves some out. */
  isAll: boolean;
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
  { limit, isAll, dryRun, ...change }: LetterChange & Extent,
): Promise<void> {
  const { out } = session;
  const { chosen, hasMore } = await chooseLetters(letters, limit);
  const refused = chosen.find((letter) => change.refuses?.(letter) !== undefined);
  if (refused)
    throw new Failure('usage', `dead letter ${refused.id}: ${change.refuses?.(refused)} Nothing is changed.`);
  if (change.asks && !dryRun && chosen.length > 0) {
    const question = `Discard ${counted(chosen.length, 'dead letter')} for good?`;
    if (!(await confirmed(session, question, 'pass --yes to discard them'))) {
      session.exitCode = EXIT.no;
      return;
    }
  }
  if (chosen.length === 0) out.note('There is no such dead letter.');
  const changes = dryRun ? sayOnly(session, chosen, change) : await changeChosen(session, opened, chosen, change);
  reportResult(session, limit, { done: change.done, dryRun, ...changes, hasMore });
  const { changed, gone, ends } = changes;
  const isDone = gone === 0 && (ends === undefined || ends.handled === changed) && !(isAll && hasMore);
  session.exitCode = isDone ? EXIT.ok : EXIT.no;
}

type Changes = Pick<ChangeResult, 'changed' | 'gone' | 'ends'>;

function sayOnly({ out }: Session, chosen: readonly ChosenLetter[], { done }: LetterChange): Changes {
  const shortOf = shortIds(chosen.map(({ id }) => id));
  for (const letter of chosen)
    out.record({ kind: done, dryRun: true, ...fieldsOf(letter) }, [
      ['good', `would be ${done}`],
      ...letterWords(letter, shortOf),
    ]);
  return { changed: chosen.length, gone: 0 };
}

async function changeChosen(
  session: Session,
  opened: OpenedQueue,
  chosen: readonly ChosenLetter[],
  { done, run, overMs, waitMs, pause }: LetterChange,
): Promise<Changes> {
  const { out } = session;
  const shortOf = shortIds(chosen.map(({ id }) => id));
  const stop = new AbortController();
  const signal = AbortSignal.any([session.signal, stop.signal]);
  const isFollowing = waitMs !== undefined && chosen.length > 0;
  const follower = isFollowing
    ? followLetters(session, opened, { shortOf, signal, limitMs: waitMs, pause })
    : undefined;
  if (overMs > 0 && chosen.length > 1)
    out.note(`${counted(chosen.length, 'dead letter')}, one every ${overMs / chosen.length / 1_000} s.`);

  /** Resolves to the number of letters that were changed. */
  async function changeEach(): Promise<number> {
    let changed = 0;
    for await (const letter of spread(chosen, { overMs, signal })) {
      const result = await run(opened, letter.id);
      const isChanged = result !== undefined && result !== false;
      if (isChanged) changed += 1;
      out.record({ kind: isChanged ? done : 'gone', dryRun: false, ...fieldsOf(letter) }, [
        isChanged ? ['good', done] : ['bad', 'gone: it was changed by another operator'],
        ...letterWords(letter, shortOf),
      ]);
      if (typeof result === 'object') follower?.add(letter, result);
    }
    return changed;
  }

  const changing = changeEach();
  const following = follower?.untilEnded(changing);
  try {
    const changed = await changing;
    return { changed, gone: chosen.length - changed, ends: await following };
  } finally {
    stop.abort();
    await following?.catch(() => {}); // what stopped it is thrown already
  }
}

function fieldsOf({ id, type, eventId, tenant }: ChosenLetter) {
  return { id, type, eventId, tenant };
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
