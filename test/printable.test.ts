import { expect, it } from 'vitest';
import { printable } from '../src/printable.js';

it.each([
  ['ends of lines and tabs', 'a\r\n\tb', 'a\\r\\n\\tb'],
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['the second set of control characters', '\u009b', '\\u009b'],
  ['a mark that turns the direction', '\u202ea', '\\u202ea'],
  ['the separators of lines and paragraphs', '\u2028\u2029', '\\u2028\\u2029'],
  ['half a character', 'a\ud800b', 'a\\ud800b'],
  ['a mark outside the first plane', '\u{e0001}', '\\udb40\\udc01'],
])('printable escapes %s as JSON does', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(JSON.parse(`"${shown}"`)).toBe(text);
});

it('printable leaves visible characters as they are', () => {
  expect(printable('café 日本 🙂 "\\"')).toBe('café 日本 🙂 "\\"');
});
