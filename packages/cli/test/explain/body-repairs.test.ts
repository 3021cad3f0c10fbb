import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bodyRepairs, spelled } from '../../src/explain/body-repairs.js';
import type { CauseName } from '../../src/explain/causes.js';

const FORM = /^The signature matches with the (body .+)\.$/s;
const JSON_TEXT = '{"a": "caf\u00e9"}';

/** Every form of a body, and what it took to get there. */
function forms(body: string | Uint8Array, contentEncoding?: string) {
  return [...bodyRepairs(Buffer.from(body as string), { contentEncoding })].map(({ bytes, findings }) => ({
    bytes: Buffer.from(bytes),
    causes: findings.map(({ cause }) => cause),
    how: findings.map(({ evidence }) => FORM.exec(evidence)?.[1] ?? evidence),
  }));
}
/** The first that has these bytes. */
function found(given: string | Uint8Array, wanted: string | Uint8Array, contentEncoding?: string) {
  const bytes = Buffer.from(wanted as string);
  const { causes, how } = forms(given, contentEncoding).find((form) => form.bytes.equals(bytes)) ?? {};
  return { causes, how };
}
const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('the forms of a body that explain tries', () => {
  it('the body as it came is tried first', () => {
    expect(forms(JSON_TEXT)[0]).toEqual({ bytes: Buffer.from(JSON_TEXT), causes: [], how: [] });
    expect(forms('')[0]).toMatchObject({ causes: [] });
  });

  it.each<[given: string | Uint8Array, signed: string | Uint8Array, cause: CauseName, how: string]>([
    ['a\n', 'a', 'newline_added', 'without the line feed at its end'],
    ['a\r\n', 'a', 'newline_added', 'without the line feed at its end'],
    ['a\n\n', 'a\n', 'newline_added', 'without the line feed at its end'],
    ['a', 'a\n', 'newline_stripped', 'with a line feed at its end'],
    ['a', 'a\r\n', 'newline_stripped', 'with CR and LF at its end'],
    [' \t\r\n{a}\n \t\r', '{a}', 'white_space_changed', 'without white space around it'],
    ['\na', 'a', 'white_space_changed', 'without white space around it'],
    [' \t', '', 'white_space_changed', 'without white space around it'],
    ['a\r\nb\r\nc', 'a\nb\nc', 'line_ends_changed', 'with LF for CR and LF'],
    ['a\nb\r\nc', 'a\r\nb\r\nc', 'line_ends_changed', 'with CR and LF for LF'],
    ['\ufeffa', 'a', 'byte_order_mark', 'without the byte order mark'],
    ['a', '\ufeffa', 'byte_order_mark', 'with a byte order mark'],
    ['\u00e9', latin1('\xe9'), 'wrong_charset', 'with its characters written as Latin-1'],
    ['\u20ac', latin1('\x80'), 'wrong_charset', 'with its characters written as Windows-1252'],
    [latin1('\xe9'), '\u00e9', 'wrong_charset', 'read as Latin-1 and written as UTF-8'],
    [latin1('\x80'), '\u20ac', 'wrong_charset', 'read as Windows-1252 and written as UTF-8'],
    ['\u00e9', 'e\u0301', 'unicode_normalised', 'in Unicode form NFD'],
    ['e\u0301', '\u00e9', 'unicode_normalised', 'in Unicode form NFC'],
    ['YWJjZA==\n', 'abcd', 'body_in_base64', 'decoded from base64'],
    ['-_-_', latin1('\xfb\xff\xbf'), 'body_in_base64', 'decoded from base64'],
    ['"a\\"b"', 'a"b', 'body_quoted', 'as the text of the JSON string that it is'],
    ['%7B%22a%22%7D', '{"a"}', 'body_url_encoded', 'percent-decoded'],
    ['a+b%2Bc', 'a b+c', 'body_url_encoded', 'percent-decoded, with spaces for plus signs'],
    ['&quot;&apos;&lt;&gt;&amp;&QUOT;', '"\'<>&&QUOT;', 'body_html_escaped', 'without its HTML escapes'],
    ['&#34;&#x22;&#X2f;&#233;', '""/\u00e9', 'body_html_escaped', 'without its HTML escapes'],
    ['a\0\0', 'a', 'body_padded', 'without the zero bytes at its end'],
  ])('%j may have been signed as %j: %s, %s', (given, signed, cause, how) => {
    expect(found(given, signed)).toEqual({ causes: [cause], how: [`body ${how}`] });
  });

  it.each<[given: string | Uint8Array, signed: string | Uint8Array]>([
    ['a\nb', 'ab'],
    ['\0a', 'a'],
    ['a\ufeff', 'a'],
    ['YWJjZA==!', 'abcd'],
    ['!YWJjZA==', 'abcd'],
    ['YWJjZA===', 'abcd'],
    ['YWI', 'ab'],
    ['7', '7.0\n\n'],
    ['&nbsp;', ' '],
    ['&#1234567;', String.fromCodePoint(0x12d)],
  ])('%j is not taken for %j', (given, signed) => {
    expect(found(given, signed)).toEqual({ causes: undefined, how: undefined });
  });

  it.each(['%ZZ', '&#x110000;', '[1', latin1('\xff')])(
    'a text that cannot be decoded has its other forms all the same: %j',
    (given) => {
      expect(forms(given).length).toBeGreaterThan(1);
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['brotli', brotliCompressSync],
  ])('a compressed body is tried decompressed: %s', (_, compress) => {
    expect(found(compress(JSON_TEXT), JSON_TEXT)).toEqual({ causes: ['compressed'], how: ['body decompressed'] });
  });

  it('a decompression bomb is not decompressed', () => {
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    expect(forms(bomb).flatMap(({ causes }) => causes)).not.toContain('compressed');
    const large = gzipSync(Buffer.alloc(16 * 1024 * 1024, 'a'));
    expect([...first(bodyRepairs(large), 'compressed')]).toHaveLength(1);
    const brief = { maxDecompressedBytes: 1024 * 1024 };
    expect([...first(bodyRepairs(large, brief), 'compressed')]).toHaveLength(0);
  });

  it.each<[contentEncoding: string | undefined, names: string[]]>([
    [undefined, ['gzip']],
    ['gzip', ['gzip']],
    ['deflate', ['deflate']],
    ['br', ['br']],
    ['deflate, gzip', ['gzip', 'deflate']],
    ['identity', []],
  ])('Content-Encoding %s has the body compressed again as %j', (contentEncoding, names) => {
    const compressed = {
      gzip: gzipSync(JSON_TEXT),
      deflate: deflateSync(JSON_TEXT),
      br: brotliCompressSync(JSON_TEXT),
    };
    for (const [name, bytes] of Object.entries(compressed)) {
      const expected = { causes: ['decompressed'], how: [`body compressed again (${name})`] };
      const none = { causes: undefined, how: undefined };
      expect(found(JSON_TEXT, bytes, contentEncoding), name).toEqual(names.includes(name) ? expected : none);
    }
  });

  it('a body of more than 256 KiB is not compressed again', () => {
    const causes = (length: number) => [...first(bodyRepairs(Buffer.alloc(length, 'a')), 'decompressed')].length;
    expect([causes(256 * 1024), causes(256 * 1024 + 1)]).toEqual([1, 0]);
  });

  it('two changes are found together, one of them at the end of the body', () => {
    expect(found('\ufeffa\n', 'a')).toEqual({
      causes: ['byte_order_mark', 'newline_added'],
      how: ['body without the byte order mark', 'body without the line feed at its end'],
    });
    expect(found('YWJjZA==', 'abcd\n')).toEqual({
      causes: ['body_in_base64', 'newline_stripped'],
      how: ['body decoded from base64', 'body with a line feed at its end'],
    });
  });

  it('other white space at the end is one change', () => {
    expect(found(' a ', 'a\n')).toEqual({
      causes: ['white_space_changed'],
      how: ['body with other white space at its end'],
    });
  });

  it('JSON may have been written in another way', () => {
    expect(found('{"a":1}', '{"a": 1}')).toEqual({
      causes: ['body_reserialised'],
      how: ['The signature matches with the JSON of the body written with a space after each colon and comma.'],
    });
    expect(found('\ufeff{"a":1}', '{"a": 1}\n')).toEqual({
      causes: ['body_reserialised'],
      how: [
        'The signature matches with the JSON of the body written with a space after each colon and comma, ' +
          'and a line feed at its end.',
      ],
    });
    expect(forms('{"a":\ufeff1}').flatMap(({ causes }) => causes)).not.toContain('body_reserialised');
    expect(forms('{a}').flatMap(({ causes }) => causes)).not.toContain('body_reserialised');
    expect(forms(latin1('"\xe9"')).flatMap(({ causes }) => causes)).not.toContain('body_reserialised');
  });
});

describe('the spellings of a value', () => {
  it('each spelling is tried with and without a line feed at its end', () => {
    const texts = [...spelled({ a: 1 })].map(({ bytes }) => Buffer.from(bytes).toString());
    expect(texts.slice(0, 2)).toEqual(['{"a":1}', '{"a":1}\n']);
    expect(texts).toContain('{\n  "a": 1\n}\n');
  });

  it('the spelling that the body has already is left out', () => {
    const texts = [...spelled({ a: 1 }, Buffer.from('{"a":1}'))].map(({ bytes }) => Buffer.from(bytes).toString());
    expect([texts.includes('{"a":1}'), texts.includes('{"a":1}\n')]).toEqual([false, true]);
  });
});

/** The first form with a cause, looked for no longer than that. */
function* first(repairs: ReturnType<typeof bodyRepairs>, cause: CauseName): Generator<CauseName> {
  for (const { findings } of repairs) {
    if (findings.length === 1 && findings[0]?.cause === cause) return yield cause;
    if (findings.length > 1) return;
  }
}
