import { hexOf, utf8 } from '../../bytes.js';
import { check } from '../../option-checks.js';

// Statements carry their values as literals, because placeholders differ between clients.

const HARMLESS = /^[\w:.@-]+$/;

/**
 * Returns a text as a SQL expression. A text of letters, digits and `_:.@-` is quoted as it is; any other is sent as
 * hex digits of UTF-8, which no SQL mode or character set can interpret differently.
 */
export function textLiteral(text: string | null | undefined): string {
  if (text == null) return 'NULL';
  return HARMLESS.test(text) ? `'${text}'` : `_utf8mb4 x'${hexOf(utf8.encode(text))}'`;
}

/**
 * Returns a text for a column of so many bytes. Without a strict SQL mode, a server would cut a longer one.
 *
 * @throws WebhookError `invalid_option` where it is longer
 */
export function boundedLiteral(name: string, text: string | null | undefined, maxBytes: number): string {
  // A character has at most three bytes for each of its UTF-16 units.
  const isShort = text == null || text.length * 3 <= maxBytes || utf8.encode(text).length <= maxBytes;
  check(isShort, `${name} must have at most ${maxBytes} bytes`);
  return textLiteral(text);
}

/** Returns an integer as a SQL expression. */
export function integerLiteral(value: number): string {
  return `CAST(${textLiteral(String(value))} AS SIGNED)`;
}

/**
 * The clock of the server in microseconds since the epoch, when the statement begins: it is one value in a statement, is
 * replicated, and depends on no time zone. `SYSDATE` would be read after a wait for a lock, but a statement with it cannot
 * be replicated as text. A statement that has waited compares with the time from before, so it takes nothing too early.
 */
export const NOW = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`;

/** Returns a positive integer of milliseconds in microseconds, as a SQL expression. */
export function microseconds(ms: number): string {
  return `${BigInt(ms) * 1_000n}`;
}
