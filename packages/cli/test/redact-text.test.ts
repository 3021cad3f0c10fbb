import { describe, expect, it } from 'vitest';
import { redactText } from '../src/redact-text.js';

const redacted = (text: string, ...values: unknown[]) =>
  redactText(
    text,
    values.map((value) => JSON.stringify(value)),
  );
const LONG = 'The quick brown fox jumps over the lazy dog';

describe('a text without the values of redacted fields', () => {
  it.each([
    ['a value stands there as it is', 'no user bob@a.example here', ['bob@a.example'], 'no user redacted here'],
    ['a value is there several times', 'bob1 and bob1', ['bob1'], 'redacted and redacted'],
    ['a number is a value', 'no clip 12345.5', [12345.5], 'no clip redacted'],
    ['values of three characters stay', 'no bob', ['bob'], 'no bob'],
    ['true, false and null stay', 'true false null', [true, false, null], 'true false null'],
    ['values overlap', 'abcdefgh', ['abcdef', 'cdefgh'], 'redacted'],
    ['one value begins another', 'no abcdefgh', ['abcd', 'abcdefgh'], 'no redacted'],
    ['a value is a part of the word for it', 'acted redact', ['acted', 'redact'], 'redacted redacted'],
    ['a value is in JSON', String.raw`at "a\"b\\c"`, ['a"b\\c'], 'at "redacted"'],
    ['a value is in a URL', 'GET /?q=a%20b%26c', ['a b&c'], 'GET /?q=redacted'],
    ['a value has control characters', String.raw`no a\nb\u0007c`, ['a\nb\u0007c'], 'no redacted'],
    ['a value has lines', 'at\na b\nc\u0301 d\nend', ['a b\nc\u0301 d'], 'at\nredacted\nend'],
    ['a value has half a character', 'no ab\\ud800c', ['ab\ud800c'], 'no redacted'],
    ['a value is cut by who wrote the text', `no "${LONG.slice(0, 20)}..."`, [LONG], 'no "redacted..."'],
    ['a text is cut within a value', `no ${LONG.slice(0, 9)}`, [LONG], 'no redacted'],
    ['nothing is found', 'no clip', ['else'], 'no clip'],
    ['a text is empty', '', ['else'], ''],
  ])('%s', (_, text, values, result) => {
    expect(redacted(text, ...values)).toBe(result);
  });

  it('hostile values, each of which begins as the text does, take no long time', () => {
    const text = 'a'.repeat(5_000);
    const values = Array.from({ length: 2_000 }, (_, n) => `${'a'.repeat(4_000)}${n}`);
    expect(redacted(text, ...values)).not.toContain('aaaa');
  });
});
