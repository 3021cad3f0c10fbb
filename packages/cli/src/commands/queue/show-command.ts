import { Command } from '@commander-js/extra-typings';
import { EXIT } from '../../failure.js';
import { type Piece, shortened } from '../../output.js';
import { filteredLetters, findLetters } from '../../queues/letter-selection.js';
import { isoTime, type ListedLetter, letterFields, letterPieces } from '../../queues/listed-letter.js';
import { withQueue, withShownQueueOptions } from '../../queues/queue-options.js';
import type { Session } from '../../session.js';

export function showCommand(session: Session) {
  const command = new Command('show')
    .summary('one dead letter, with its reason, its stack and its body')
    .argument('<id>', 'the id of the dead letter, also as list shows it, or of its event');
  return withShownQueueOptions(command).action((id, options) =>
    withQueue(session, options, async (opened) => {
      for (const letter of await findLetters(filteredLetters(session, opened, {}), [id])) reportWhole(session, letter);
      session.exitCode = EXIT.ok;
    }),
  );
}

/** What a terminal is shown of a body; a program gets all of it. */
const SHOWN_BODY = 4_000;

function reportWhole({ out }: Session, letter: ListedLetter): void {
  const { reason, stack, key, notShown } = letter;
  const { scheme, signedAt, receivedAt, unsigned } = letter.delivery ?? {};
  const times = { receivedAt: isoTime(receivedAt), signedAt: isoTime(signedAt) };
  const body = letter.body?.toString();
  const headers = Object.entries(unsigned ?? {}).map(([name, value]) => `${name} ${value}`);
  out.record(
    { kind: 'job', ...letterFields(letter), stack, key, scheme, ...times, unsigned, body },
    letterPieces({ ...letter, reason: undefined }),
    [reason !== undefined && ['bad', reason]],
    ...stackLines(letter),
    [['faint', 'key'], key ?? 'no delivery that this version can read', scheme],
    [['faint', 'received'], times.receivedAt ?? 'not known', times.signedAt && ['faint', 'signed'], times.signedAt],
    [['faint', 'not signed'], headers.join(', ') || (letter.delivery === undefined ? 'not known' : 'no headers')],
    [notShown !== undefined && ['warn', notShown]],
    [body !== undefined && shortened(body, SHOWN_BODY)],
  );
}

/** Without the line that repeats the reason, and indented, so that no line of a message resembles one of ours. */
function stackLines({ reason, stack }: ListedLetter): Piece[][] {
  const lines = stack?.split('\n') ?? [];
  const isReason = reason !== undefined && lines[0]?.endsWith(reason);
  return lines.slice(isReason ? 1 : 0).map((line) => [['faint', `  ${line}`]]);
}
