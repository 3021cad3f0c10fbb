/** What is needed of a dead letter to group it. */
export interface GroupedLetter {
  id: string;
  reason: string | undefined;
  type: string | undefined;
  /** The time of its last failure, in milliseconds since the epoch. */
  at: number | undefined;
}

/** Dead letters that failed for the same reason. */
export interface LetterGroup<Letter extends GroupedLetter = GroupedLetter> {
  /** The reason; where those of its letters differ in ids, times and numbers, with `…` in their place. */
  reason: string;
  letters: Letter[];
}

const NO_REASON = 'No reason is known.';
const LONGEST = 300;
/** Ids and times, which differ where the reason is the same. Numbers do too, but for a status and a port. */
const VARIABLE = [
  /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g,
  /\b[a-z]{2,8}_[A-Za-z0-9]{6,}\b/g,
  /\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi,
];
/** The status of an answer: `status code 503`, `HTTP/1.1 404`. */
const STATUS = /\b(?:status|code|statuscode|http(?:\/\d(?:\.\d)?)?)\W{0,3}[45]\d\d\b/;
/** The port of a host. Those from 30000 on are left out: most of them belong to one connection alone. */
const PORT = /(?<=\b\d{1,3}(?:\.\d{1,3}){3}|\]|::1|\blocalhost|\/\/[\w-]+|\.[a-z-]+):(?:[1-9]\d{1,3}|[12]\d{4})\b(?!:)/;
const NUMBER = /\d+(?:\.\d+)*/;
const NUMBERS = new RegExp(`(${STATUS.source}|${PORT.source})|${NUMBER.source}`, 'gi');

/** Returns a reason without what differs from letter to letter: letters with the same result failed for one reason. */
export function reasonPattern(reason: string | undefined): string {
  if (reason === undefined || reason === '') return NO_REASON;
  const pattern = VARIABLE.reduce((text, variable) => text.replace(variable, '…'), reason.slice(0, LONGEST));
  return pattern
    .replace(NUMBERS, (_, kept: string | undefined) => kept ?? '…')
    .replace(/(…[\s,.:/-]?)+…/g, '…')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Groups dead letters by their reason, the largest group first. */
export function groupLetters<Letter extends GroupedLetter>(letters: Iterable<Letter>): LetterGroup<Letter>[] {
  const groups = new Map<string, LetterGroup<Letter>>();
  for (const letter of letters) {
    const pattern = reasonPattern(letter.reason);
    const group = groups.get(pattern);
    if (group === undefined) {
      groups.set(pattern, { reason: letter.reason ?? NO_REASON, letters: [letter] });
    } else {
      group.letters.push(letter);
      if (group.reason !== letter.reason) group.reason = pattern;
    }
  }
  return [...groups.values()].sort((a, b) => b.letters.length - a.letters.length);
}
