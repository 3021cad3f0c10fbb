import { Command, Option } from '@commander-js/extra-typings';
import { EXIT } from '../../failure.js';
import { wholeNumber } from '../../options.js';
import { counted, type Piece, shortened } from '../../output.js';
import { groupLetters, type LetterGroup } from '../../queues/letter-groups.js';
import {
  FILTER_OPTIONS,
  filteredLetters,
  type LetterFilter,
  withFilterOptions,
} from '../../queues/letter-selection.js';
import { type ListedLetter, letterFields, letterPieces, typeWords } from '../../queues/listed-letter.js';
import { JOB_STATES, type OpenedQueue } from '../../queues/queue-engine.js';
import { withQueue, withShownQueueOptions } from '../../queues/queue-options.js';
import { shortIds } from '../../queues/short-ids.js';
import type { Session } from '../../session.js';
import { MOST_HELD, readSummaries, type Summary } from './summaries.js';

export function listCommand(session: Session) {
  const command = new Command('list')
    .summary('the dead letters by their reason, those of the most frequent one first')
    .addOption(
      new Option('--state <state>', 'jobs in this state, the oldest first').choices(JOB_STATES).default('dead'),
    )
    .option('--limit <number>', 'show so many at most', wholeNumber(1, MOST_HELD), 20);
  withFilterOptions(withShownQueueOptions(command), session);
  return command.action(async (options) => {
    const filter = options as LetterFilter & { limit: number };
    await withQueue(session, options, (opened) =>
      options.state === 'dead' ? listDead(session, opened, filter) : listOthers(session, opened, filter),
    );
    session.exitCode = EXIT.ok;
  });
}

/** A program gets the letters one by one, the oldest first: `queue stats --json` counts them by their reason. */
async function listDead(
  session: Session,
  opened: OpenedQueue,
  { limit, ...filter }: LetterFilter & { limit: number },
): Promise<void> {
  const { out } = session;
  const { letters, oldest, hasMore = false } = await readSummaries(session, opened, filter);
  const shown = Math.min(limit, letters.length);
  const isCut = hasMore || shown < letters.length || oldest !== undefined;
  const total = { kind: 'total', shown, dead: letters.length, oldest, hasMore: isCut };
  if (out.json) {
    for (const letter of letters.slice(0, shown)) out.record({ kind: 'job', ...letterFields(letter) });
    return out.record(total);
  }
  if (letters.length === 0) {
    const isFiltered = FILTER_OPTIONS.some((name) => filter[name] !== undefined);
    if (oldest !== undefined) return out.note(`None of the oldest ${oldest} dead letters is as the options say.`);
    return out.note(isFiltered ? 'No dead letter is as the options say.' : 'There is no dead letter.');
  }
  const groups = groupLetters(letters);
  const shares = sharesOf(groups, limit);
  const shortOf = shortIds(letters.map(({ id }) => id));
  const dead = `${hasMore ? 'More than ' : ''}${counted(letters.length, 'dead letter')}`;
  const among = oldest === undefined ? '' : ` among the oldest ${oldest}`;
  const lines = groups.slice(0, limit).flatMap((group, index) => groupLines(group, shares[index] ?? 0, shortOf));
  if (groups.length > limit) lines.push([`and ${counted(groups.length - limit, 'other reason')}: --limit shows them.`]);
  out.record(total, ...lines, [['strong', `${dead}${among}, ${counted(groups.length, 'reason')}.`], HOW_TO_SHOW]);
}

const HOW_TO_SHOW = "'queue show <id>' has the body and the stack of one.";

/** How many letters of each group are shown: as evenly as the groups allow, and so many in all. */
function sharesOf(groups: readonly LetterGroup[], limit: number): number[] {
  const shares = groups.map(() => 0);
  let left = Math.min(
    limit,
    groups.reduce((sum, { letters }) => sum + letters.length, 0),
  );
  for (let index = 0; left > 0; index = (index + 1) % groups.length) {
    if ((shares[index] ?? 0) === groups[index]?.letters.length) continue;
    shares[index] = (shares[index] ?? 0) + 1;
    left -= 1;
  }
  return shares;
}

const MAX_REASON = 200;

function groupLines({ reason, letters }: LetterGroup<Summary>, shown: number, shortOf: (id: string) => string) {
  const lines: Piece[][] = [
    [['strong', `${letters.length} ×`], ['bad', shortened(reason, MAX_REASON)], typesOf(letters)],
  ];
  for (const letter of letters.slice(0, shown))
    lines.push(['   ', ...letterPieces({ ...letter, id: shortOf(letter.id), reason: undefined })]);
  if (letters.length > shown) lines.push(['   ', `and ${letters.length - shown} more: --limit shows them.`]);
  return lines;
}

/** The types of events, where there are several. */
function typesOf(letters: readonly Summary[]): string | undefined {
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(typeWords(letter), (counts.get(typeWords(letter)) ?? 0) + 1);
  if (counts.size < 2) return undefined;
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([type, count]) => `${type} ${count}`).join(', ');
}

async function listOthers(
  session: Session,
  opened: OpenedQueue,
  { limit, ...filter }: LetterFilter & { limit: number },
): Promise<void> {
  const { out } = session;
  const listed: ListedLetter[] = [];
  let hasMore = false;
  for await (const letter of filteredLetters(session, opened, filter)) {
    hasMore = listed.length === limit;
    if (hasMore) break;
    listed.push(letter);
  }
  const shortOf = shortIds(listed.map(({ id }) => id));
  for (const letter of listed)
    out.record({ kind: 'job', ...letterFields(letter) }, letterPieces({ ...letter, id: shortOf(letter.id) }));
  out.record({ kind: 'total', shown: listed.length, hasMore });
  if (listed.length === 0) out.note(`There is no job that is ${filter.state}.`);
  if (hasMore) out.note('There are more: --limit shows them.');
}
