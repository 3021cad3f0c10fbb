import { hexOf, utf8 } from '../../bytes.js';

// Statements carry their values as literals, because placeholders differ between clients and cannot be in a text with a
// SET and a statement, which is one round trip and one transaction.

const HARMLESS = /^[\w:.@-]*$/;

/**
 * Returns a text as a SQL expression. A text of letters, digits and `_:.@-` is quoted as it is; any other is sent as
 * hex digits, which no quoting rule or encoding of a server can interpret differently.
 */
export function textLiteral(text: string | null | undefined): string {
  if (text == null) return 'NULL';
  if (HARMLESS.test(text)) return `'${text}'`;
  return `convert_from(decode('${hexOf(utf8.encode(text))}', 'hex'), 'UTF8')`;
}

/** Returns a positive integer of milliseconds as a SQL expression. */
export function intervalLiteral(ms: number): string {
  return `interval '${ms} ms'`;
}
