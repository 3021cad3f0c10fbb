import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';

/** Returns the option for the time limit. Its default is the time that the service waits. */
export function timeoutOption() {
  return new Option('--timeout <time>', 'how long to wait for an answer')
    .argParser(duration)
    .default(ANSWER_TIMEOUT_MS, '20s');
}

export function headerPrefixOption() {
  return new Option('--header-prefix <prefix>', 'the prefix of the header names').default('x-service');
}

export function legacyOption() {
  return new Option('--legacy <policy>', 'what to do with only a legacy header').choices(['reject', 'accept']);
}

export function toleranceOption() {
  return new Option('--tolerance <seconds>', 'largest difference between the signed time and the clock').argParser(
    wholeNumber(1, 1_000_000_000),
  );
}

const DAY_MS = 24 * 60 * 60_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 60 * 60_000, d: DAY_MS };

/** Parses `500ms`, `2s`, `1m`, `2h`, `7d` to milliseconds. Returns undefined for any other text. */
export function timeSpan(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return factor && Number(amount) * factor;
}

/** Parses a time that a command waits, up to a day, to milliseconds. */
export function duration(text: string): number {
  const ms = timeSpan(text);
  if (ms !== undefined && ms <= DAY_MS) return ms;
  throw new InvalidArgumentError('It takes a time with its unit, of 1d at most: 500ms, 2s, 1m, 2h.');
}

/** Returns a parser of whole numbers within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
  };
}

/** Parses Unix seconds or ISO 8601 to milliseconds since the epoch. */
export function instant(text: string): number {
  const ms = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (Number.isFinite(ms)) return ms;
  throw new InvalidArgumentError('It takes a time: 2026-07-11T12:00:00Z, or Unix seconds.');
}

/** Returns an option with values from a set of words, separated by commas or given one by one. */
export function listOption<Flags extends string, Word extends string>(
  flags: Flags,
  description: string,
  words: readonly Word[],
) {
  const option = new Option(flags, description).argParser((text: string, others: Word[] = []): Word[] => {
    const chosen = text.split(',').map((word) => words.find((known) => known === word.trim()));
    if (chosen.includes(undefined)) throw new InvalidArgumentError(`There are: ${words.join(', ')}.`);
    return [...others, ...(chosen as Word[])];
  });
  option.argChoices = [...words]; // for the help and for completion
  return option;
}

/** Collects the values of an option that may be given more than once. */
export function repeatable(text: string, others: readonly string[] = []): readonly string[] {
  return [...others, text];
}

/** Collects the names of hosts, in lower case. */
export function hostNames(text: string, others: readonly string[] = []): readonly string[] {
  const url = `http://${text}/`;
  const name = URL.canParse(url) ? new URL(url).hostname : '';
  if (name !== text.toLowerCase() || !/[\w\]]$/.test(name)) {
    throw new InvalidArgumentError('It takes a host without a port, as in me.tunnel.example.');
  }
  return [...others, name];
}
