import { Command, Option } from '@commander-js/extra-typings';
import { EXIT, Failure } from '../../failure.js';
import { duration, wholeNumber } from '../../options.js';
import { shortened } from '../../output.js';
import type { Session } from '../../session.js';
import { changeLetters, type LetterChange } from './change-letters.js';
import { filteredLetters, findLetters, type LetterFilter, withFilterOptions } from './letter-selection.js';
import { isoTime, type ListedLetter, letterFields, letterPieces } from './listed-letter.js';
import { JOB_STATES } from './queue-engine.js';
import { withQueue, withQueueOptions } from './queue-options.js';
import { replayCommand } from './replay-command.js';

export function queueCommand(session: Session) {
  return new Command('queue')
    .description(
      'The dead letters of a queue: list and show them, run them again, send them to an app, or discard them.',
    )
    .addCommand(listCommand(session))
    .addCommand(showCommand(session))
    .addCommand(retryCommand(session))
    .addCommand(replayCommand(session))
    .addCommand(discardCommand(session))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks queue list --sqlite webhooks.db
  service-webhooks queue show 17 --sqlite webhooks.db
  service-webhooks queue retry 17 18 --sqlite webhooks.db
  service-webhooks queue retry --type stt.completed --since 90m --over 10m --bullmq --queue webhooks
  service-webhooks queue replay 17 3000 --sqlite webhooks.db
  service-webhooks queue discard --event evt_1 --dry-run --pg-boss --queue webhooks

The command uses the client library that your project has installed. A URL with a password is read from the environment:
REDIS_URL, DATABASE_URL, RABBITMQ_URL, NATS_URL, also in .env.`,
    );
}

const MOST = 100_000;

function listCommand(session: Session) {
  const command = new Command('list')
    .summary('the dead letters, the oldest first')
    .addOption(new Option('--state <state>', 'jobs in this state').choices(JOB_STATES).default('dead'))
    .option('--limit <number>', 'so many at most', wholeNumber(1, MOST), 20);
  withFilterOptions(withQueueOptions(command), session);
  return command.action((options) =>
    withQueue(session, options, async (opened) => {
      let shown = 0;
      let hasMore = false;
      for await (const letter of filteredLetters(session, opened, options as LetterFilter)) {
        hasMore = shown === options.limit;
        if (hasMore) break;
        session.out.record({ kind: 'job', ...letterFields(letter) }, letterPieces(letter));
        shown += 1;
      }
      const what = options.state === 'dead' ? 'dead letter' : `job that is ${options.state}`;
      if (shown === 0) session.out.note(`There is no such ${what}.`);
      if (hasMore) session.out.note('There are more: --limit shows them.');
      session.exitCode = EXIT.ok;
    }),
  );
}

function showCommand(session: Session) {
  const command = new Command('show')
    .summary('one dead letter, with its body')
    .argument('<id>', 'the id of the dead letter, or of its event');
  return withQueueOptions(command).action((id, options) =>
    withQueue(session, options, async (opened) => {
      for (const letter of await findLetters(filteredLetters(session, opened, {}), [id])) reportWhole(session, letter);
      session.exitCode = EXIT.ok;
    }),
  );
}

/** What a terminal is shown of a body; a program gets all of it. */
const SHOWN_BODY = 4_000;

function reportWhole({ out }: Session, letter: ListedLetter): void {
  const { key, scheme, signedAt, receivedAt, unsigned } = letter.delivery ?? {};
  const times = { receivedAt: isoTime(receivedAt), signedAt: isoTime(signedAt) };
  const body = letter.body?.toString();
  const headers = Object.entries(unsigned ?? {}).map(([name, value]) => `${name} ${value}`);
  out.record(
    { kind: 'job', ...letterFields(letter), key, scheme, ...times, unsigned, body },
    letterPieces({ ...letter, reason: undefined }),
    [letter.reason !== undefined && ['bad', letter.reason]],
    [['faint', 'key'], key ?? 'no delivery that this version can read', scheme],
    [['faint', 'received'], times.receivedAt, times.signedAt && ['faint', 'signed'], times.signedAt],
    [['faint', 'not signed'], headers.join(', ') || 'no headers'],
    [body !== undefined && shortened(body, SHOWN_BODY)],
  );
}

/** The options of what changes dead letters. */
function changeCommand(session: Session, name: string) {
  const command = new Command(name)
    .argument('[ids...]', 'ids of dead letters or of their events; none where options select them')
    .option('--all', 'all dead letters, up to the limit')
    .option('--limit <number>', 'so many at most', wholeNumber(1, MOST), 100)
    .option('--dry-run', 'say which ones, and change nothing');
  return withFilterOptions(withQueueOptions(command), session);
}

function retryCommand(session: Session) {
  return changeCommand(session, 'retry')
    .summary('run dead letters again, with all their attempts')
    .option('--over <time>', 'spread them over so long: 10m. Ctrl+C leaves the rest where they are', duration, 0)
    .action((ids, options) =>
      change(session, ids, options, {
        done: 'retried',
        run: ({ queue }, id) => queue.retry(id),
        overMs: options.over,
      }),
    );
}

function discardCommand(session: Session) {
  return changeCommand(session, 'discard')
    .summary('delete dead letters for good')
    .option('--yes', 'delete without asking')
    .action((ids, { yes, ...options }) =>
      change(session, ids, options, {
        done: 'discarded',
        run: ({ queue }, id) => queue.discard(id),
        overMs: 0,
        asks: ids.length === 0 && yes !== true,
      }),
    );
}

type ChangeOptions = LetterFilter & { all?: true | undefined; dryRun?: true | undefined; limit: number };

/** Changes the letters with these ids, or else those that the options select. */
function change(session: Session, ids: readonly string[], given: object, kind: LetterChange): Promise<void> {
  const { dryRun = false, limit, type, event, tenant, since, ...options } = given as ChangeOptions;
  checkSelection(ids, given as ChangeOptions);
  return withQueue(session, options, async (opened) => {
    const letters = filteredLetters(session, opened, { type, event, tenant, since });
    const found = ids.length > 0 ? await findLetters(letters, ids) : letters;
    await changeLetters(session, opened, found, { ...kind, dryRun, limit });
  });
}

/** @throws Failure where neither ids nor options say which letters are meant, or both do */
function checkSelection(ids: readonly string[], { type, event, tenant, since, all }: ChangeOptions): void {
  const isSelected = type !== undefined || event !== undefined || since !== undefined || all === true;
  if (ids.length > 0 && isSelected) throw new Failure('usage', 'name ids, or select with options: not both.');
  if (ids.length === 0 && !isSelected && tenant === undefined) {
    const how = 'Name their ids, select with --type, --event, --tenant or --since, or pass --all.';
    throw new Failure('usage', `which ones? ${how}`);
  }
}
