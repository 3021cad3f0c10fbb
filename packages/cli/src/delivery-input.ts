import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { capturedAt, captureOrFile, readHttpFile } from './captures.js';
import { asked, Failure } from './failure.js';
import { type HttpMessage, parseHeader } from './http/http-message.js';
import { headerPrefixOption, instant, legacyOption, repeatable, toleranceOption } from './options.js';
import { secretOption } from './secrets.js';
import type { Session } from './session.js';
import { signedTime } from './signature-fault.js';

/** Returns a command about an existing delivery: `verify` and `explain`. */
export function deliveryCommand(name: string) {
  return new Command(name)
    .argument('[file]', 'a captured .http file or its id, or with --headers or --header a body; - for stdin', '-')
    .option('--headers <file>', 'a file with the headers of the body, a line each')
    .option(
      '--header <line>',
      'a header of the body, as in "X-Service-Signature-V2: t=…,v1=…" (repeatable)',
      repeatable,
    )
    .addOption(secretOption())
    .addOption(headerPrefixOption())
    .addOption(legacyOption())
    .addOption(toleranceOption())
    .option('--at <time>', 'the clock: now, signed, or a time; for a captured file, its arrival', clock);
}

interface InputOptions {
  headers?: string | undefined;
  header?: readonly string[] | undefined;
  headerPrefix: string;
  at?: 'now' | 'signed' | number | undefined;
}

/** A delivery, and the time at which it is verified. */
export interface GivenDelivery extends HttpMessage {
  at: number;
  /** Whether that time is the one of its capture. */
  asCaptured: boolean;
}

/** @throws Failure */
export async function readDelivery(session: Session, file: string, options: InputOptions): Promise<GivenDelivery> {
  const { headers, header = [], at } = options;
  const path = await captureOrFile(file);
  const alone = headers !== undefined || header.length > 0;
  const message = alone
    ? {
        method: 'POST',
        path: '/',
        body: await session.read(path),
        headers: await readHeaders(session, headers, header),
      }
    : await readHttpFile(session.read, path);
  const came = alone ? undefined : capturedAt(path);
  const given = at === 'signed' ? signedTime(message, options.headerPrefix) : at;
  if (at === 'signed' && given === undefined)
    throw new Failure('usage', '--at signed: there is no signed time in the headers; give a time.');
  if (typeof given === 'number') return { ...message, at: given, asCaptured: false };
  const asCaptured = at === undefined && came !== undefined;
  return { ...message, at: asCaptured ? came : session.now(), asCaptured };
}

async function readHeaders(session: Session, file: string | undefined, lines: readonly string[]) {
  const text = file === undefined ? '' : (await session.read(file)).toString('latin1');
  const all = [...text.split(/\r?\n/).filter((line) => line !== ''), ...lines];
  return asked(
    () => all.map(parseHeader),
    (reason) => new Failure('file', reason),
  );
}

function clock(text: string): 'now' | 'signed' | number {
  if (text === 'now' || text === 'signed') return text;
  try {
    return instant(text);
  } catch {
    throw new InvalidArgumentError('It takes now, signed, 2026-07-11T12:00:00Z, or Unix seconds.');
  }
}
