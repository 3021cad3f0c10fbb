import { exists, findCapture, lastCapture, readHttpFile } from '../../captures.js';
import { Failure } from '../../failure.js';
import type { HttpMessage } from '../../http/http-message.js';
import type { Session } from '../../session.js';
import { filteredLetters, findLetters } from '../queue/letter-selection.js';
import { letterMessage } from '../queue/listed-letter.js';
import { namesQueue, withQueue } from '../queue/queue-options.js';

/** Where deliveries come from: captures, or the queue that the options name. */
interface Source {
  last?: true | undefined;
  captures: string;
  headerPrefix: string;
}

/** A delivery to send, from a captured file or with the id of a dead letter. */
export interface ReplayedDelivery {
  file?: string;
  letter?: string;
  message: HttpMessage;
}

/** Reads the named deliveries, one by one. @throws Failure */
export async function* deliveriesOf(
  session: Session,
  names: readonly string[],
  options: Source,
): AsyncGenerator<ReplayedDelivery> {
  if (namesQueue(options)) {
    const letters = await withQueue(session, options, (queue) =>
      findLetters(filteredLetters(session, queue, {}), names),
    );
    for (const letter of letters) yield { letter: letter.id, message: letterMessage(letter, options.headerPrefix) };
    return;
  }
  const files = options.last ? [await lastCapture(options.captures)] : [];
  for (const name of names) files.push((await exists(name)) ? name : await findCapture(options.captures, name));
  for (const file of files) yield { file, message: await readHttpFile(session.read, file) };
}

/** Splits the words into deliveries and an address. @throws Failure where no delivery is named */
export async function splitWords(
  words: readonly string[],
  options: Source,
): Promise<{ names: readonly string[]; url?: string }> {
  const end = words.at(-1);
  const fromQueue = namesQueue(options);
  if (options.last) {
    if (fromQueue) throw new Failure('usage', '--last is a captured delivery: name a dead letter by its id.');
    if (words.length > 1) throw new Failure('usage', '--last is one delivery: name no other.');
    return end === undefined ? { names: [] } : { names: [], url: end };
  }
  if (end === undefined && fromQueue) throw new Failure('usage', 'name a dead letter by its id, or that of its event.');
  if (end === undefined) throw new Failure('usage', 'name a captured delivery, or pass --last.');
  const isName = words.length === 1 || (fromQueue ? isLetterName(end) : isCaptureName(end) || (await exists(end)));
  return isName ? { names: words } : { names: words.slice(0, -1), url: end };
}

/** What has neither a port nor a path nor a scheme: behind ids of dead letters, a number is a port. */
function isLetterName(word: string): boolean {
  return word.startsWith('evt_') || !/^\d+$|[:/]|^localhost$/.test(word);
}

/** Returns whether a word is an id or its beginning, and not a port. */
function isCaptureName(word: string): boolean {
  return word.startsWith('evt_') || /^[0-9a-f]{8}$/.test(word) || /^(?=.*[a-f])[0-9a-f]{4,8}$/.test(word);
}
