import { describe, expect, it } from 'vitest';
import { printable } from '../src/printable.js';

describe('text from anywhere, printed', () => {
  it.each([
    ['ends of lines and tabs', 'a\r\n\tb', 'a\\r\\n\\tb'],
    ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
    ['the second set of control characters', '\u009b', '\\u009b'],
    ['a mark that turns the direction', '\u202ea', '\\u202ea'],
    ['the separators of lines and paragraphs', '\u2028\u2029', '\\u2028\\u2029'],
    ['half a character', 'a\ud800b', 'a\\ud800b'],
    ['a mark outside the first plane', '\u{e0001}', '\\udb40\\udc01'],
  ])('shows %s as JSON writes it', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(JSON.parse(`"${shown}"`)).toBe(text);
  });

  it('leaves what can be seen as it is', () => {
    expect(printable('café 日本 🙂 "\\"')).toBe('café 日本 🙂 "\\"');
  });
});
