import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { Failure } from '../../failure.js';
import { duration, wholeNumber } from '../../options.js';
import {
  FILTER_OPTIONS,
  filteredLetters,
  findLetters,
  type LetterFilter,
  withFilterOptions,
} from '../../queues/letter-selection.js';
import { withQueue, withShownQueueOptions } from '../../queues/queue-options.js';
import { NEEDS_OVERFLOW } from '../../queues/unopened-letter.js';
import type { Session } from '../../session.js';
import { changeLetters, type LetterChange } from './change-letters.js';
import { MOST_HELD } from './summaries.js';

const WAIT_MS = 5 * 60_000;

export function retryCommand(session: Session) {
  return changeCommand(session, 'retry')
    .summary('run dead letters again, with all their attempts')
    .option('--over <time>', 'spread them over so long: 10m, 2h. Ctrl+C leaves the rest where they are', duration, 0)
    .addOption(
      new Option('--wait [time]', 'wait so long for the end of each, and say how it ended (5m)').argParser(wait),
    )
    .action((ids, options) => {
      const waitMs = options.wait === true ? WAIT_MS : (options.wait as number | undefined);
      return change(session, ids, options, {
        done: 'retried',
        run: ({ queue }, id) => (waitMs === undefined ? queue.retry(id) : retryAndFollow(queue, id)),
        overMs: options.over,
        waitMs,
      });
    });
}

function wait(text: string): number {
  try {
    return duration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message} Ids stand in front of --wait.`);
  }
}

async function retryAndFollow(queue: Parameters<LetterChange['run']>[0]['queue'], id: string) {
  if (queue.retryAndFollow) return queue.retryAndFollow(id);
  throw new Failure('usage', 'this queue cannot tell how a retried job ends: leave --wait out.');
}

export function discardCommand(session: Session) {
  return changeCommand(session, 'discard')
    .summary('delete dead letters for good')
    .option('--yes', 'delete without asking')
    .action((ids, { yes, ...options }) =>
      change(session, ids, options, {
        done: 'discarded',
        run: ({ queue }, id) => queue.discard(id),
        overMs: 0,
        asks: ids.length === 0 && yes !== true,
        refuses: ({ notShown }) => (notShown === NEEDS_OVERFLOW ? notShown : undefined),
      }),
    );
}

/** A command that changes dead letters, with its common options. */
function changeCommand(session: Session, name: string) {
  const command = new Command(name)
    .argument('[ids...]', 'ids of dead letters, also as list shows them, or of their events; none where options select')
    .option('--all', 'all dead letters that there are, or those that options select')
    .option('--limit <number>', `so many at most (${LIMIT}; with --all or ids all)`, wholeNumber(1, MOST_HELD))
    .option('--dry-run', 'say which ones, and change nothing');
  return withFilterOptions(withShownQueueOptions(command), session);
}

/** Where options select letters, and do not say how many. */
const LIMIT = 100;

type ChangeOptions = LetterFilter & { all?: true | undefined; dryRun?: true | undefined; limit?: number | undefined };

/** Changes the letters with these ids, or else those that the options select. */
function change(session: Session, ids: readonly string[], options: ChangeOptions, kind: LetterChange): Promise<void> {
  const { all = false, dryRun = false, limit } = options;
  checkSelection(ids, options);
  const isAll = (all || ids.length > 0) && limit === undefined;
  return withQueue(session, options, async (opened) => {
    const letters = filteredLetters(session, opened, options);
    const found = ids.length > 0 ? await findLetters(letters, ids) : letters;
    await changeLetters(session, opened, found, {
      ...{ ...kind, dryRun, isAll },
      limit: limit ?? (isAll ? MOST_HELD : LIMIT),
    });
  });
}

/** @throws Failure where neither ids nor options say which letters are meant, or both do */
function checkSelection(ids: readonly string[], options: ChangeOptions): void {
  const selecting = ['all' as const, ...FILTER_OPTIONS].filter((name) => options[name] !== undefined);
  if (ids.length > 0 && selecting.some((name) => name !== 'tenant'))
    throw new Failure('usage', 'name ids, or select with options: not both.');
  if (ids.length === 0 && selecting.length === 0) {
    const names = FILTER_OPTIONS.map((name) => `--${name}`);
    const select = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    throw new Failure('usage', `which ones? Name their ids, select with ${select}, or pass --all.`);
  }
}
