import { Command } from '@commander-js/extra-typings';
import { DEFAULT_DIRECTORY, exists, findCapture, lastCapture, readHttpFile } from '../../captures.js';
import { Failure } from '../../failure.js';
import { legacyOption } from '../../options.js';
import { type Replayed, sendAgain } from '../../send-again.js';
import { withSendOptions } from '../../send-options.js';
import type { Session } from '../../session.js';
import { checkGenuine, signUnverifiedOption } from '../../signature-fault.js';

export function replayCommand(session: Session) {
  const command = new Command('replay')
    .description('Sends a captured delivery again, signed again with the current time.')
    .argument(
      '[deliveries...]',
      'files, ids of captured deliveries or of their events, or how these begin; then a port, which means its path /webhooks, or a URL; where listen listens',
    )
    .option('--last', 'the newest captured delivery')
    .option('--exact', 'the bytes and headers as they were captured; needs no secret')
    .addOption(signUnverifiedOption())
    .option('--captures <directory>', 'the directory of the captures', DEFAULT_DIRECTORY)
    .addOption(legacyOption());
  return withSendOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks replay 7f3a9c01 3000
  service-webhooks replay --last 3000
  service-webhooks replay 7f3a 02bd 3000                   several, by the beginning of their ids
  service-webhooks replay evt_1 3000/api/webhooks
  service-webhooks replay delivery.http 3000 --exact       a correct receiver refuses it as too old

A dead letter of a queue is sent by: service-webhooks queue replay`,
    )
    .action(async (words, { last = false, exact = false, signUnverified = false, captures, ...options }) => {
      const { redact, headerPrefix, legacy } = options;
      if (exact && redact) throw new Failure('usage', '--exact sends every byte: leave --redact out.');
      if (exact && signUnverified) throw new Failure('usage', '--exact signs nothing: leave --sign-unverified out.');
      const { names, app } = await splitWords(words, last);
      const check = ({ file = '', message }: Replayed, secrets: Parameters<typeof checkGenuine>[2]) =>
        checkGenuine(file, message, secrets, { headerPrefix, legacy }, '--exact sends it as it came.');
      const sending = { ...options, exact, ...(!signUnverified && { check }) };
      await sendAgain(session, app, capturesOf(session, names, { last, captures }), sending);
    });
}

/** Splits the words into deliveries and an address. @throws Failure where no delivery is named */
async function splitWords(
  words: readonly string[],
  last: boolean,
): Promise<{ names: readonly string[]; app?: string | undefined }> {
  const end = words.at(-1);
  if (last && words.length > 1) throw new Failure('usage', '--last is one delivery: name no other.');
  if (last) return { names: [], app: end };
  if (end === undefined) throw new Failure('usage', 'name a captured delivery, or pass --last.');
  const isName = words.length === 1 || isCaptureName(end) || (await exists(end));
  return isName ? { names: words } : { names: words.slice(0, -1), app: end };
}

/** Returns whether a word is an id or its beginning, and not a port. */
function isCaptureName(word: string): boolean {
  return word.startsWith('evt_') || /^[0-9a-f]{8}$/.test(word) || /^(?=.*[a-f])[0-9a-f]{4,8}$/.test(word);
}

/** Finds all the named captures before it reads the first one. @throws Failure */
async function* capturesOf(
  session: Session,
  names: readonly string[],
  { last, captures }: { last: boolean; captures: string },
): AsyncGenerator<Replayed> {
  const files = last ? [await lastCapture(captures)] : [];
  for (const name of names) files.push((await exists(name)) ? name : await findCapture(captures, name));
  for (const file of files) yield { file, message: await readHttpFile(session.read, file) };
}
