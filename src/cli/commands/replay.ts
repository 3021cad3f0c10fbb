import { stat } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import type { Secret } from '../../verify/secret.js';
import { deliver, type SendResult } from '../../wire/deliver.js';
import type { HttpMessage } from '../../wire/http-message.js';
import { resign } from '../../wire/resign.js';
import { DEFAULT_DIRECTORY, findCapture, lastCapture } from '../captures.js';
import { Failure } from '../failure.js';
import { parseHttp } from '../http-file.js';
import { wholeNumber } from '../option-values.js';
import { redactDelivery, redactOption } from '../redact-delivery.js';
import { readSecrets, secretOption } from '../secrets.js';
import { exitCodeOf, sendFields, sendPieces } from '../send-report.js';
import type { Session } from '../session.js';
import { signUnverifiedOption, unverifiedFailure } from '../sign-unverified.js';
import { signatureFault } from '../signature-fault.js';
import { parseApp, parseTarget, withPathOf } from '../target.js';
import { timeoutOption } from '../timeout-option.js';
import { legacyOption } from '../verification-options.js';
import { filteredLetters, findLetters } from './queue/letter-selection.js';
import { letterMessage } from './queue/listed-letter.js';
import { namesQueue, withQueue, withQueueOptions } from './queue/queue-options.js';

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
    .addOption(signUnverifiedOption())
    .option('--captures <directory>', 'the directory of the captures', DEFAULT_DIRECTORY)
    .option('--attempt <number>', 'which attempt of the delivery it is; as captured', wholeNumber(1, 1_000_000))
    .addOption(redactOption())
    .addOption(timeoutOption())
    .addOption(legacyOption())
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
    .action(async (words, given) => {
      const { secret: sources, exact = false, insecure = false, redact, signUnverified = false, ...options } = given;
      if (exact && redact) throw new Failure('usage', '--exact sends every byte: leave --redact out.');
      const { names, url } = await splitWords(words, options);
      const app = url === undefined ? parseTarget() : parseApp(session, url);
      if (exact && namesQueue(options))
        throw new Failure('usage', 'a queue does not keep the signature of a delivery: leave --exact out.');
      if (signUnverified && exact) throw new Failure('usage', '--exact signs nothing: leave --sign-unverified out.');
      if (signUnverified && namesQueue(options))
        throw new Failure('usage', 'a queue has verified what it keeps: leave --sign-unverified out.');
      let secrets: Promise<readonly [Secret, ...Secret[]]> | undefined;
      const signing = async () => {
        secrets ??= readSecrets(session, sources);
        return { ...options, secrets: await secrets, now: session.now };
      };
      const all: SendResult[] = [];
      for await (const { file, letter, message: kept } of deliveriesOf(session, names, options)) {
        const name = file ?? letter ?? 'the delivery';
        // A dead letter has no signature: its receiver verified it before it was queued.
        if (!exact && !signUnverified && file !== undefined) checkGenuine(kept, file, await signing());
        const message = redact ? redacted(kept, name, redact, await signing()) : kept;
        const headers = exact ? message.headers : signedNow(message, await signing());
        const target = withPathOf(app, message.path);
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
}

interface Signing {
  /** The first one signs. */
  secrets: readonly [Secret, ...Secret[]];
  headerPrefix: string;
  legacy?: 'reject' | 'accept' | undefined;
  attempt?: number | undefined;
  now: () => number;
}

/** @throws Failure for a capture that none of the secrets has signed */
function checkGenuine(message: HttpMessage, file: string, { secrets, ...checks }: Signing): void {
  const fault = signatureFault(message, secrets, checks);
  if (fault) throw unverifiedFailure(file, fault, '--exact sends it as it came.');
}

function redacted(message: HttpMessage, name: string, fields: readonly string[], signing: Signing): HttpMessage {
  const { secrets, headerPrefix, now } = signing;
  const found = redactDelivery(message, { fields, secret: secrets[0] }, { headerPrefix, at: now() });
  if (found === undefined) {
    throw new Failure('file', `${name}: its body is not JSON, so that no field can be replaced.`);
  }
  return found.message;
}

function signedNow(message: HttpMessage, { secrets, headerPrefix, attempt, now }: Signing) {
  return resign(message, { secret: secrets[0], at: now(), headerPrefix, attempt });
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
