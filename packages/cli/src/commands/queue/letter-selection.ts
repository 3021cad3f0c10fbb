import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { nearestName } from 'service-webhooks/option-checks';
import type { DeadLetter } from 'service-webhooks/queue';
import { Failure } from '../../failure.js';
import { duration, instant, repeatable } from '../../options.js';
import { shortened } from '../../output.js';
import type { Session } from '../../session.js';
import { type JobState, type ListedLetter, listedLetter } from './listed-letter.js';
import type { OpenedQueue, ReadJobs } from './queue-engine.js';

/** Which letters are meant; each part that is there has to hold. */
export interface LetterFilter {
  state?: JobState | undefined;
  type?: readonly string[] | undefined;
  event?: readonly string[] | undefined;
  tenant?: readonly string[] | undefined;
  since?: number | undefined;
}

/** Adds the options of a {@link LetterFilter} but the state. */
export function withFilterOptions<Taken extends CommandUnknownOpts>(command: Taken, { now }: Session): Taken {
  const type = new Option('--type <types>', 'of these event types alone').argParser(types);
  type.argChoices = [...WEBHOOK_EVENT_TYPES];
  command.addOption(type);
  command.option('--event <id>', 'of the event with this id alone (repeatable)', repeatable);
  command.option('--tenant <name>', 'of this tenant alone (repeatable)', repeatable);
  command.option(
    '--since <time>',
    'dead, or in the queue, since this time or later: 2026-07-11T12:00:00Z, or 30m for so long ago',
    since,
  );
  return command;

  function since(text: string): number {
    return /^\d+(\.\d+)?(ms|s|m)$/.test(text) ? now() - duration(text) : instant(text);
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
  { queue, jobs, hasNoPages }: OpenedQueue,
  { state = 'dead', type, event, tenant, since }: LetterFilter,
): AsyncGenerator<ListedLetter> {
  const deadLetters: ReadJobs = (page) => queue.deadLetters(page);
  const filter = { since, eventType: only(type), eventId: only(event) };
  const readers = state === 'dead' ? [deadLetters] : (jobs?.(state, filter) ?? []);
  for (const read of readers) {
    for await (const stored of letterPages(read, { hasNoPages })) {
      session.signal.throwIfAborted();
      const letter = listedLetter(stored);
      const isMeant =
        (type?.includes(letter.type ?? '') ?? true) &&
        (event?.includes(letter.eventId ?? '') ?? true) &&
        (tenant?.includes(letter.tenant ?? '') ?? true) &&
        (since === undefined || (letter.at ?? Number.NEGATIVE_INFINITY) >= since);
      if (isMeant) yield letter;
    }
  }
}

function only(words: readonly string[] = []): string | undefined {
  return words.length === 1 ? words[0] : undefined;
}

type ReadPage<Letter> = (page: { limit: number; offset: number }) => Promise<readonly Letter[]>;

/** Small enough that the largest bodies fit into memory, and large enough to limit the number of calls. */
const [FIRST_PAGE, LARGEST_PAGE, PAGE_BYTES] = [20, 250, 8 * 1024 * 1024];
const EVERYTHING = 1_000_000;

/** Reads letters page by page, each once. Pages are as large as the bodies of the last one allow. */
export async function* letterPages<Letter extends DeadLetter>(
  read: ReadPage<Letter>,
  { hasNoPages = false }: { hasNoPages?: boolean | undefined } = {},
): AsyncGenerator<Letter> {
  if (hasNoPages) return yield* await read({ limit: EVERYTHING, offset: 0 });
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

/** So many ids are compared with a misspelt one. */
const COMPARED = 1_000;

/**
 * Finds the dead letters with these ids, or of the events with these ids, in the order in which they are named.
 *
 * @throws Failure with the nearest id where there is none
 */
export async function findLetters(
  letters: AsyncIterable<ListedLetter>,
  words: readonly string[],
): Promise<ListedLetter[]> {
  const found = new Map<string, ListedLetter[]>();
  const ids: string[] = [];
  let count = 0;
  for await (const letter of letters) {
    count += 1;
    for (const id of [letter.id, letter.eventId]) {
      if (id === undefined) continue;
      if (ids.length < COMPARED) ids.push(id);
      if (words.includes(id)) found.set(id, [...(found.get(id) ?? []), letter]);
    }
    const hasAll = words.every((word) => found.get(word)?.some(({ id }) => id === word));
    if (hasAll) break; // an event may have several letters, an id has one
  }
  const missing = words.find((word) => !found.has(word));
  if (missing === undefined) return [...new Set(words.flatMap((word) => found.get(word) ?? []))];
  const nearest = nearestName(missing, ids);
  const advice =
    nearest === undefined ? "'npx service-webhooks-cli queue list' shows them." : `Did you mean '${nearest}'?`;
  const problem = `'${shortened(missing)}' is none of the ${count} dead letters, nor the id of one's event.`;
  throw new Failure('usage', `${problem} ${advice}`);
}
