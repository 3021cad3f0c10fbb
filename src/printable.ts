/** Control characters, characters that are invisible or change the direction of text, line ends, lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Returns a text with each character that could act on a terminal or a log written as its JSON escape: control
 * characters, line ends, and what is invisible or changes the direction of text. Use it for what came from the network.
 * The text of a JSON document stays the same document.
 *
 * @example
 * console.log(printable(event.id));
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (found) => SHORT[found] ?? found.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
