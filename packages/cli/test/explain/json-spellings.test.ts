import { describe, expect, it } from 'vitest';
import { jsonSpellings } from '../../src/explain/json-spellings.js';

/** What a value is written as, by the name of the way. */
function spelled(value: unknown): Map<string, string> {
  return new Map([...jsonSpellings(value)].map(({ style, text }) => [style, text]));
}
const VALUE = { b: [1, 'x'], a: {} };

describe('the spellings of a JSON value that explain tries', () => {
  it('the most usual spelling comes first', () => {
    expect(jsonSpellings(VALUE).next().value).toEqual({ text: '{"b":[1,"x"],"a":{}}', style: 'without white space' });
  });

  it.each([
    ['without white space', '{"b":[1,"x"],"a":{}}'],
    ['with a space after each colon and comma', '{"b": [1, "x"], "a": {}}'],
    ['with spaces between its parts', '{ "b": [ 1, "x" ], "a": {} }'],
    ['indented by 2', '{\n  "b": [\n    1,\n    "x"\n  ],\n  "a": {}\n}'],
    ['indented by 4', '{\n    "b": [\n        1,\n        "x"\n    ],\n    "a": {}\n}'],
    ['indented by tabs', '{\n\t"b": [\n\t\t1,\n\t\t"x"\n\t],\n\t"a": {}\n}'],
    ['without white space, with its keys sorted', '{"a":{},"b":[1,"x"]}'],
    ['without white space, with .0 at whole numbers', '{"b":[1.0,"x"],"a":{}}'],
    ['indented by 2, with its keys sorted', '{\n  "a": {},\n  "b": [\n    1,\n    "x"\n  ]\n}'],
  ])('a value is written %s', (style, text) => {
    expect(spelled(VALUE).get(style)).toBe(text);
  });

  it('white space in strings stays as it is', () => {
    const value = { a: 'x  [ y ] { z }', b: [['n']] };
    expect(spelled(value).get('with a space after each colon and comma')).toBe('{"a": "x  [ y ] { z }", "b": [["n"]]}');
    expect(spelled(value).get('with spaces between its parts')).toBe('{ "a": "x  [ y ] { z }", "b": [ [ "n" ] ] }');
  });

  it.each([
    ['with \\/ for slashes', '"a\\/b\\/c<>&+\'\\"\u00e9\u2028\x7f"'],
    ['in ASCII alone', '"a/b/c<>&+\'\\"\\u00e9\\u2028\\u007f"'],
    ['in ASCII alone, in upper-case hex', '"a/b/c<>&+\'\\"\\u00E9\\u2028\\u007F"'],
    ['in ASCII alone, with \\/ for slashes', '"a\\/b\\/c<>&+\'\\"\\u00e9\\u2028\\u007f"'],
    ['with <, > and & escaped', '"a/b/c\\u003c\\u003e\\u0026+\'\\"\u00e9\\u2028\x7f"'],
    [
      'with <, >, &, + and quotes escaped, in ASCII alone',
      '"a/b/c\\u003C\\u003E\\u0026\\u002B\\u0027\\u0022\\u00E9\\u2028\\u007F"',
    ],
  ])('characters are written %s', (style, text) => {
    expect(spelled('a/b/c<>&+\'"\u00e9\u2028\x7f').get(`without white space, ${style}`)).toBe(text);
  });

  it('a backslash before the end of a string is no escaped quote', () => {
    const style = 'without white space, with <, >, &, + and quotes escaped, in ASCII alone';
    expect(spelled(['<"\\', '\\"']).get(style)).toBe('["\\u003C\\u0022\\\\","\\\\\\u0022"]');
  });

  it('characters beyond the first plane are written as two escapes', () => {
    expect(spelled('\u{1f600}').get('without white space, in ASCII alone')).toBe('"\\ud83d\\ude00"');
  });

  it.each([
    ['with .0 at whole numbers', '[1.0,-20.0,0.5,1.25,1e+21,"3 4.5",1.123456789]'],
    ['with two decimals', '[1.00,-20.00,0.50,1.25,1e+21,"3 4.5",1.123456789]'],
    ['with two decimals at fractions', '[1,-20,0.50,1.25,1e+21,"3 4.5",1.123456789]'],
    ['with three decimals at fractions', '[1,-20,0.500,1.250,1e+21,"3 4.5",1.123456789]'],
    ['with six decimals at fractions', '[1,-20,0.500000,1.250000,1e+21,"3 4.5",1.123456789]'],
  ])('numbers are written %s', (style, text) => {
    const value = [1, -20, 0.5, 1.25, 1e21, '3 4.5', 1.123456789];
    expect(spelled(value).get(`without white space, ${style}`)).toBe(text);
  });

  it('digits in a string are no number, whatever is escaped there', () => {
    const value = ['a\\', 1, '"2', 'x"3"\\"4', 5];
    expect(spelled(value).get('without white space, with two decimals')).toBe(
      '["a\\\\",1.00,"\\"2","x\\"3\\"\\\\\\"4",5.00]',
    );
  });

  it('keys are sorted at every depth, and lists keep their order', () => {
    const value = { b: [{ d: 1, c: null }, 'z', 'a'], a: { f: 2, e: 3 } };
    expect(spelled(value).get('without white space, with its keys sorted')).toBe(
      '{"a":{"e":3,"f":2},"b":[{"c":null,"d":1},"z","a"]}',
    );
  });

  it('keys come in the order of the service, and unknown keys behind them', () => {
    const value = { z: 1, timestamp: 't', data: {}, y: 2, jobId: null, version: 'v', type: 'x', id: 'i' };
    expect(spelled(value).get('without white space, with its keys in the order that the service sends')).toBe(
      '{"id":"i","type":"x","version":"v","jobId":null,"data":{},"timestamp":"t","z":1,"y":2}',
    );
  });

  it('no spelling comes twice', () => {
    const styles = [...jsonSpellings({ a: 'x' })].map(({ style }) => style);
    expect(styles).toEqual([
      'without white space',
      'with a space after each colon and comma',
      'with spaces between its parts',
      'indented by 2',
      'indented by 4',
      'indented by tabs',
    ]);
  });

  it('styles are named one after the other', () => {
    const style = 'indented by 2, with its keys sorted, with \\/ for slashes, with .0 at whole numbers';
    expect(spelled({ b: '/', a: 1 }).get(style)).toBe('{\n  "a": 1.0,\n  "b": "\\/"\n}');
  });

  it('a value that is nested too deep has no spellings', () => {
    // How deep that is differs between versions of Node.
    const deep = {
      get data() {
        throw new RangeError('Maximum call stack size exceeded');
      },
    };
    expect([...jsonSpellings(deep)]).toEqual([]);
  });

  it('a value that JSON cannot hold throws', () => {
    expect(() => [...jsonSpellings({ n: 1n })]).toThrow(TypeError);
  });
});
