import { Command } from '@commander-js/extra-typings';
import { filteredLetters, findLetters } from '../../queues/letter-selection.js';
import { letterMessage } from '../../queues/listed-letter.js';
import { withQueue, withQueueOptions } from '../../queues/queue-options.js';
import type { Replayed } from '../../send-again.js';
import { withSendOptions } from '../../send-options.js';
import type { Session } from '../../session.js';

export function replayCommand(session: Session) {
  const command = new Command('replay')
    .summary(
      'send dead letters to an app with their exact bodies, signed with the current time; they stay in the queue',
    )
    .argument(
      '<ids...>',
      'ids of dead letters or of their events; then a port, which means its path /webhooks, or a URL; where listen listens',
    );
  return withQueueOptions(withSendOptions(command)).action(async (words, options) => {
    const end = words.length > 1 ? words.at(-1) : undefined;
    const app = end !== undefined && isAddress(end) ? end : undefined;
    const names = app === undefined ? words : words.slice(0, -1);
    const { sendAgain } = await import('../../send-again.js'); // the sender takes a while to load
    await sendAgain(session, app, lettersOf(session, names, options), options);
  });
}

/** Whether a word behind an id is a port, or has a port, a path or a scheme. */
function isAddress(word: string): boolean {
  return !word.startsWith('evt_') && /^\d+$|[:/]|^localhost$/.test(word);
}

/** Finds all the named letters before it yields the first one. @throws Failure */
async function* lettersOf(
  session: Session,
  names: readonly string[],
  options: { headerPrefix: string },
): AsyncGenerator<Replayed> {
  const letters = await withQueue(
    session,
    options,
    (opened) => findLetters(filteredLetters(session, opened, {}), names),
    { isExact: true },
  );
  for (const letter of letters) yield { letter: letter.id, message: letterMessage(letter, options.headerPrefix) };
}
