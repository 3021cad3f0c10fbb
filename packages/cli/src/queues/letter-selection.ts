import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { nearestName } from 'service-webhooks/option-checks';
import type { DeadLetter } from 'service-webhooks/queue';
import { Failure } from '../failure.js';
import { instant, repeatable, timeSpan } from '../options.js';
import { shortened } from '../output.js';
import type { Session } from '../session.js';
import { type JobState, type ListedLetter, listedLetter } from './listed-letter.js';
import type { OpenedQueue, ReadJobs } from './queue-engine.js';
import { isShortOf } from './short-ids.js';

/** Which letters are meant; each part that is there has to hold. */
export interface LetterFilter {
  state?: JobState | undefined;
  type?: readonly string[] | undefined;
  event?: readonly string[] | undefined;
  tenant?: readonly string[] | undefined;
  since?: number | undefined;
  /** A part of the reason or of the stack, which has the causes, in any case. */
  reason?: string | undefined;
}

/** The options of a {@link LetterFilter} but the state. */
export const FILTER_OPTIONS = ['type', 'event', 'tenant', 'since', 'reason'] as const;

/** Adds the {@link FILTER_OPTIONS}. */
export function withFilterOptions<Taken extends CommandUnknownOpts>(command: Taken, { now }: Session): Taken {
  const type = new Option('--type <types>', 'of these event types alone').argParser(types);
  type.argChoices = [...WEBHOOK_EVENT_TYPES];
  command.addOption(type);
  command.option('--event <id>', 'of the event with this id alone (repeatable)', repeatable);
  command.option('--tenant <name>', 'of this tenant alone (repeatable)', repeatable);
  command.option(
    '--since <time>',
    'dead, or in the queue, since this time or later: 2026-07-11T12:00:00Z, or 30m, 2h, 7d for so long ago',
    since,
  );
  command.option('--reason <text>', 'with this text in the reason or in the stack, in upper or lower case');
  return command;

  function since(text: string): number {
    const ago = timeSpan(text);
    if (ago !== undefined) return Math.max(0, now() - ago);
    try {
      return instant(text);
    } catch {
      throw new InvalidArgumentError('It takes a time: 2026-07-11T12:00:00Z, Unix seconds, or 30m, 2h, 7d ago.');
    }
  }
}

/** Types that this version does not know are allowed; one that is nearly a known one is a typing error. */
function types(text: string, others: readonly string[] = []): readonly string[] {
  const all = text.split(',').map((word) => word.trim());
  for (const word of all) {
    const isKnown = (WEBHOOK_EVENT_TYPES as readonly string[]).includes(word);
    const nearest = isKnown ? undefined : nearestName(word, WEBHOOK_EVENT_TYPES);
    if (nearest !== undefined) throw new InvalidArgumentError(`Did you mean ${nearest}?`);
  }
  return [...others, ...all];
}

/** Reads the letters that a filter lets through, the oldest first. @throws Failure */
export async function* filteredLetters(
  session: Session,
  { queue, jobs, hasNoPages, redact }: OpenedQueue,
  letterFilter: LetterFilter,
): AsyncGenerator<ListedLetter> {
  const { state = 'dead', type, event, since } = letterFilter;
  const deadLetters: ReadJobs = (page) => queue.deadLetters(page);
  const filter = { since, eventType: only(type), eventId: only(event) };
  const readers = state === 'dead' ? [deadLetters] : (jobs?.(state, filter) ?? []);
  for (const read of readers) {
    for await (const stored of letterPages(read, { hasNoPages })) {
      session.signal.throwIfAborted();
      const letter = listedLetter(stored, { redact });
      if (isMeant(letter, letterFilter)) yield letter;
    }
  }
}

/** Whether a filter lets a letter through, but for its state. */
export function isMeant(letter: ListedLetter, { type, event, tenant, since, reason }: LetterFilter): boolean {
  return (
    (type?.includes(letter.type ?? '') ?? true) &&
    (event?.includes(letter.eventId ?? '') ?? true) &&
    (tenant?.includes(letter.tenant ?? '') ?? true) &&
    (since === undefined || (letter.at ?? Number.NEGATIVE_INFINITY) >= since) &&
    (reason === undefined || says(letter, reason))
  );
}

function says({ reason = '', stack = '' }: ListedLetter, text: string): boolean {
  const errors = stack.split('\n').filter((line) => !/^\s*at /.test(line)); // a frame names timers and files
  return [reason, ...errors].join('\n').toLowerCase().includes(text.toLowerCase());
}

function only(words: readonly string[] = []): string | undefined {
  return words.length === 1 ? words[0] : undefined;
}

type ReadPage<Letter> = (page: { limit: number; offset: number }) => Promise<readonly Letter[]>;

/** Small enough that the largest bodies fit into memory, and large enough to limit the number of calls. */
const [FIRST_PAGE, LARGEST_PAGE, PAGE_BYTES] = [20, 250, 8 * 1024 * 1024];
export interface PagesOptions {
  hasNoPages?: boolean | undefined;
  /** So many letters are read at most. */
  most?: number;
}

/** Reads letters page by page, each once. Pages are as large as the bodies of the last one allow. */
export async function* letterPages<Letter extends DeadLetter>(
  read: ReadPage<Letter>,
  { hasNoPages = false, most = Number.POSITIVE_INFINITY }: PagesOptions = {},
): AsyncGenerator<Letter> {
  let count = 0;
  for await (const letter of hasNoPages ? growingReads(read, most) : movingPages(read)) {
    if (count === most) return;
    count += 1;
    yield letter;
  }
}

async function* movingPages<Letter extends DeadLetter>(read: ReadPage<Letter>): AsyncGenerator<Letter> {
  const seen = new Set<string>();
  let limit = FIRST_PAGE;
  for (let offset = 0; ; ) {
    const page = await read({ limit, offset });
    for (const letter of page) {
      if (seen.has(letter.id)) continue; // it moved while others came or went
      seen.add(letter.id);
      yield letter;
    }
    if (page.length < limit) return;
    offset += page.length;
    const bytes = page.reduce((sum, { delivery }) => sum + (delivery?.body.length ?? 0), 0);
    const fitting = Math.floor((PAGE_BYTES * page.length) / Math.max(bytes, 1));
    limit = Math.max(FIRST_PAGE, Math.min(fitting, 2 * limit, LARGEST_PAGE));
  }
}

/** An engine without pages is asked for its oldest letters, and for more only where those were not enough. */
const [FIRST_READ, READ_GROWTH] = [1_000, 10];

/** Each reading begins with the first letter, since what one reads may be in another order in the next. */
async function* growingReads<Letter extends DeadLetter>(read: ReadPage<Letter>, most: number): AsyncGenerator<Letter> {
  const yielded = new Map<string, number>();
  for (let limit = Math.min(FIRST_READ, most); ; limit = Math.min(READ_GROWTH * limit, most)) {
    const letters = await read({ limit, offset: 0 });
    const inThis = new Map<string, number>();
    for (const letter of letters) {
      const count = (inThis.get(letter.id) ?? 0) + 1; // jobs that another program has put there share the id ''
      inThis.set(letter.id, count);
      if (count <= (yielded.get(letter.id) ?? 0)) continue;
      yielded.set(letter.id, count);
      yield letter;
    }
    if (letters.length < limit || limit === most) return;
  }
}

/** So many ids are compared with a misspelt one. */
const COMPARED = 1_000;
/** So many of the ids that a word begins are named. */
const NAMED = 5;

/**
 * Finds the dead letters with these ids, or of the events with these ids, in the order in which they are named. A word may
 * be an id as `queue list` has shortened it.
 *
 * @throws Failure with the nearest id where there is none, and for a word that several ids begin with
 */
export async function findLetters(
  letters: AsyncIterable<ListedLetter>,
  words: readonly string[],
): Promise<ListedLetter[]> {
  const named = new Map<string, ListedLetter[]>(words.map((word) => [word, []]));
  const begun = new Map<string, ListedLetter[]>(words.map((word) => [word, []]));
  const addBegun = (all: ListedLetter[] | undefined, letter: ListedLetter) => {
    if (all && all.length <= NAMED) all.push(letter); // their bodies may be large
  };
  const ids: string[] = [];
  let count = 0;
  for await (const letter of letters) {
    const { id, eventId } = letter;
    count += 1;
    if (ids.length < COMPARED) ids.push(id, ...(eventId === undefined ? [] : [eventId]));
    for (const word of words) {
      if (word === id || word === eventId) named.get(word)?.push(letter);
      else if (isShortOf(word, id)) addBegun(begun.get(word), letter);
    }
    const hasAll = words.every((word) => named.get(word)?.some(({ id }) => id === word));
    if (hasAll) break; // an event may have several letters, an id has one
  }
  const found = words.flatMap((word) => {
    const exact = named.get(word) ?? [];
    if (exact.length > 0) return exact;
    const [only, ...others] = begun.get(word) ?? [];
    if (only === undefined) throw noSuchLetter(word, ids, count);
    if (others.length > 0) throw severalLetters(word, [only, ...others]);
    return [only];
  });
  return [...new Set(found)];
}

function noSuchLetter(word: string, ids: readonly string[], count: number): Failure {
  const nearest = nearestName(word, ids);
  const advice =
    nearest === undefined ? "'npx service-webhooks-cli queue list' shows them." : `Did you mean '${nearest}'?`;
  const problem = `'${shortened(word)}' is none of the ${count} dead letters, nor the id of one's event.`;
  return new Failure('usage', `${problem} ${advice}`);
}

function severalLetters(word: string, letters: readonly ListedLetter[]): Failure {
  const some = letters.slice(0, NAMED).map(({ id }) => id);
  const others = letters.length > NAMED ? ' and others' : '';
  return new Failure('usage', `'${shortened(word)}' is the beginning of several ids: ${some.join(', ')}${others}.`);
}
