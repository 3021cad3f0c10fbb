/** Control characters of both sets, marks that turn the direction or cannot be seen, ends of lines, half characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text from anywhere as text that leaves the cursor, the colours and the direction of a terminal alone. What it writes
 * for a character is what JSON has for it, so that a JSON line stays one.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (found) => SHORT[found] ?? found.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The beginning of a text, on one line. */
export function shortened(text: string, length = 200): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
