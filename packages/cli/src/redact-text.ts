import { printable } from 'service-webhooks/printable';

/** What stands in a text in the place of a value. */
const REDACTED = 'redacted';
/** Shorter values stay: they would be found in many words. */
const SHORTEST = 4;
/** Of a longer value this much is enough, since who wrote the text may have cut the value. */
const HEAD = 16;
/** At the end of a text, which may itself be cut. */
const HEAD_AT_END = 8;

type Range = [from: number, to: number];

/**
 * Replaces what a text, such as the reason of a failure, repeats of values that are left out elsewhere.
 *
 * @param values As JSON
 */
export function redactText(text: string, values: Iterable<string>): string {
  const begins = new Set(Array.from({ length: text.length }, (_, at) => text.slice(at, at + SHORTEST)));
  const ranges: Range[] = [];
  for (const form of new Set(formsOf(values))) {
    if (begins.has(form.slice(0, SHORTEST))) ranges.push(...rangesOf(text, form));
  }
  return withoutRanges(text, ranges);
}

/** Yields how a value may be written: as it is, as a log prints it, inside of JSON and inside of a URL. */
function* formsOf(values: Iterable<string>): Generator<string> {
  for (const json of values) {
    if (/^[tfn]/.test(json)) continue; // true, false and null are in every text
    const value = json.startsWith('"') ? (JSON.parse(json) as string) : json;
    if (value.length < SHORTEST) continue;
    yield value;
    if (/^[\w.:-]*$/.test(value)) continue; // the same in every form
    yield printable(value);
    yield value.split('\n').map(printable).join('\n');
    yield JSON.stringify(value).slice(1, -1);
    yield encodeURIComponent(Buffer.from(value).toString());
  }
}

/** Returns where a form is, whole or cut. */
function rangesOf(text: string, form: string): Range[] {
  const ranges: Range[] = [];
  const head = form.slice(0, HEAD);
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, ranges.at(-1)?.[1])) {
    let length = head.length;
    while (length < form.length && text[at + length] === form[length]) length += 1;
    ranges.push([at, at + length]);
  }
  for (let length = head.length - 1; length >= HEAD_AT_END; length -= 1)
    if (text.endsWith(form.slice(0, length))) return [...ranges, [text.length - length, text.length]];
  return ranges;
}

function withoutRanges(text: string, ranges: readonly Range[]): string {
  let left = '';
  let end = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from >= end) left += text.slice(end, from) + REDACTED;
    end = Math.max(end, to);
  }
  return ranges.length === 0 ? text : left + text.slice(end);
}
