import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { capturedAt } from './captures.js';
import { Failure } from './failure.js';
import { type HttpMessage, headerValue, parseHeader, parseHttp } from './http-file.js';
import { instant, repeatable, wholeNumber } from './option-values.js';
import { secretOption } from './secrets.js';
import type { Session } from './session.js';

/** A command about a delivery that is there already: `verify` and `explain`. */
export function deliveryCommand(name: string) {
  return new Command(name)
    .argument('[file]', 'a captured .http file, or with --headers or --header a body; - for stdin', '-')
    .option('--headers <file>', 'a file with the headers of the body, a line each')
    .option(
      '--header <line>',
      'a header of the body, as in "X-Service-Signature-V2: t=…,v1=…" (repeatable)',
      repeatable,
    )
    .addOption(secretOption())
    .option('--header-prefix <prefix>', 'what the header names begin with', 'x-service')
    .addOption(new Option('--legacy <policy>', 'where only the legacy header came').choices(['reject', 'accept']))
    .option('--tolerance <seconds>', 'greatest distance of the signed time', wholeNumber(1, 1_000_000_000))
    .option('--at <time>', 'the clock: now, signed, or a time; for a captured file when it came', clock);
}

interface InputOptions {
  headers?: string | undefined;
  header?: readonly string[] | undefined;
  headerPrefix: string;
  at?: 'now' | 'signed' | number | undefined;
}

/** A delivery, and the time at which it is looked at. */
export interface GivenDelivery extends HttpMessage {
  at: number;
  /** Whether that is the time at which it was captured. */
  asCaptured: boolean;
}

/** @throws Failure */
export async function readDelivery(session: Session, file: string, options: InputOptions): Promise<GivenDelivery> {
  const { headers, header = [], at } = options;
  const bytes = await session.read(file);
  const alone = headers !== undefined || header.length > 0;
  const message = alone
    ? { method: 'POST', path: '/', headers: await readHeaders(session, headers, header), body: bytes }
    : parseHttp(bytes, file);
  const came = alone ? undefined : capturedAt(file);
  if (at === 'signed') return { ...message, at: signedTime(message, options), asCaptured: false };
  if (typeof at === 'number') return { ...message, at, asCaptured: false };
  const asCaptured = at === undefined && came !== undefined;
  return { ...message, at: asCaptured ? came : session.now(), asCaptured };
}

async function readHeaders(session: Session, file: string | undefined, lines: readonly string[]) {
  const text = file === undefined ? '' : (await session.read(file)).toString('latin1');
  return [...text.split(/\r?\n/).filter((line) => line !== ''), ...lines].map(parseHeader);
}

function signedTime({ headers }: HttpMessage, { headerPrefix }: InputOptions): number {
  const value = headerValue(headers, `${headerPrefix.toLowerCase()}-signature-v2`);
  const t = /(?:^|,)t=(\d{1,12})(?:,|$)/.exec(value ?? '')?.[1];
  if (t === undefined) throw new Failure('usage', '--at signed: there is no signed time in the headers; give a time.');
  return Number(t) * 1000;
}

function clock(text: string): 'now' | 'signed' | number {
  if (text === 'now' || text === 'signed') return text;
  try {
    return instant(text);
  } catch {
    throw new InvalidArgumentError('It takes now, signed, 2026-07-11T12:00:00Z, or Unix seconds.');
  }
}
