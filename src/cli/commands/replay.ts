import { stat } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { deliver, type SendResult } from '../../wire/deliver.js';
import type { HttpMessage } from '../../wire/http-message.js';
import { resign } from '../../wire/resign.js';
import { DEFAULT_DIRECTORY, findCapture, lastCapture } from '../captures.js';
import { Failure } from '../failure.js';
import { parseHttp } from '../http-file.js';
import { wholeNumber } from '../option-values.js';
import { findLetters } from '../queue/find-letters.js';
import { filteredLetters } from '../queue/letter-filter.js';
import { letterMessage } from '../queue/letter-message.js';
import { namesQueue, withQueue, withQueueOptions } from '../queue/queue-options.js';
import { redactDelivery, redactOption } from '../redact-delivery.js';
import { readSecrets, secretOption } from '../secrets.js';
import { exitCodeOf, sendFields, sendPieces } from '../send-report.js';
import type { Session } from '../session.js';
import { parseApp, parseTarget, withPathOf } from '../target.js';
import { timeoutOption } from '../timeout-option.js';

export function replayCommand(session: Session) {
  const command = new Command('replay')
    .description('Sends a captured delivery or a dead letter again, signed again with the current time.')
    .argument(
      '[deliveries...]',
      'files, ids of captured deliveries or of their events, or how these begin; with a queue ids of dead letters or of their events; then a port or a URL, or where listen listens',
    )
    .option('--last', 'the newest captured delivery')
    .option('--insecure', 'accept any certificate, as a self-signed one')
    .addOption(secretOption())
    .option('--exact', 'the bytes and headers as they were captured; needs no secret')
    .option('--captures <directory>', 'the directory of the captures', DEFAULT_DIRECTORY)
    .option('--attempt <number>', 'which attempt of the delivery it is; as captured', wholeNumber(1, 1_000_000))
    .addOption(redactOption())
    .addOption(timeoutOption())
    .option('--header-prefix <prefix>', 'the prefix of the header names', 'x-service');
  return withQueueOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks replay 7f3a9c01 3000
  service-webhooks replay --last 3000
  service-webhooks replay 7f3a 02bd 3000/webhooks          several, by the beginning of their ids
  service-webhooks replay evt_1 http://localhost:3000/webhooks
  service-webhooks replay delivery.http 3000 --exact       a correct receiver refuses it as too old
  service-webhooks replay 17 3000 --sqlite webhooks.db     a dead letter, which stays in the queue`,
    )
    .action(async (words, { secret: sources, exact = false, insecure = false, ...options }) => {
      if (exact && options.redact) throw new Failure('usage', '--exact sends every byte: leave --redact out.');
      const { names, url } = await splitWords(words, options);
      const given = url === undefined ? parseTarget() : parseApp(session, url);
      if (exact && namesQueue(options))
        throw new Failure('usage', 'a queue does not keep the signature of a delivery: leave --exact out.');
      const all: SendResult[] = [];
      for await (const { file, letter, message: kept } of deliveriesOf(session, names, options)) {
        const message = options.redact
          ? await redacted(kept, file ?? letter ?? 'the delivery', { sources, ...options })
          : kept;
        const headers = exact ? message.headers : await signedNow(message, { sources, ...options });
        const target = withPathOf(given, message.path);
        const outgoing = { ...message, headers, url: target, insecure };
        const sent = await deliver(outgoing, { timeoutMs: options.timeout, signal: session.signal });
        all.push(sent);
        session.out.record({ kind: 'replayed', file, letter, exact, url: target.href, ...sendFields(sent) }, [
          ...sendPieces(sent, target),
          exact ? 'as captured' : 'signed again',
          file ?? letter,
          target.href,
        ]);
      }
      session.exitCode = exitCodeOf(all);
    });

  async function redacted(
    message: HttpMessage,
    source: string | undefined,
    { sources, headerPrefix, redact = [] }: Signing,
  ) {
    const [secret] = await readSecrets(session, sources);
    const found = redactDelivery(message, { fields: redact, secret }, { headerPrefix, at: session.now() });
    if (found === undefined)
      throw new Failure('file', `${source}: its body is not JSON, so that no field can be replaced.`);
    return found.message;
  }

  async function signedNow(message: HttpMessage, { sources, headerPrefix, attempt }: Signing) {
    const [secret] = await readSecrets(session, sources);
    return resign(message, { secret, at: session.now(), headerPrefix, attempt });
  }
}

interface Source {
  last?: true | undefined;
  captures: string;
  headerPrefix: string;
}

/** A delivery to send, from a captured file or with the id of a dead letter. */
interface Replayed {
  file?: string;
  letter?: string;
  message: HttpMessage;
}

async function* deliveriesOf(session: Session, names: readonly string[], options: Source): AsyncGenerator<Replayed> {
  if (namesQueue(options)) {
    const letters = await withQueue(session, options, (queue) =>
      findLetters(filteredLetters(session, queue, {}), names),
    );
    for (const letter of letters) yield { letter: letter.id, message: letterMessage(letter, options.headerPrefix) };
    return;
  }
  const files = options.last ? [await lastCapture(options.captures)] : [];
  for (const name of names) files.push((await isFile(name)) ? name : await findCapture(options.captures, name));
  for (const file of files) yield { file, message: parseHttp(await session.read(file), file) };
}

interface Signing {
  sources?: readonly string[] | undefined;
  headerPrefix: string;
  attempt?: number | undefined;
  redact?: readonly string[] | undefined;
}

/** Splits the words into deliveries and an address. @throws Failure where no delivery is named */
async function splitWords(
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
  const isName = words.length === 1 || (fromQueue ? isLetterName(end) : isCaptureName(end) || (await isFile(end)));
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

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
