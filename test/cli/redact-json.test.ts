import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactJson } from '../../src/cli/redact-json.js';

const URL_OF = 'https://redacted.invalid/';

describe('the redaction of a JSON text', () => {
  it.each<[string, string[], string]>([
    ['{"data": {"url": "x", "n": 1.50}}', ['data.url'], '{"data": {"url": "redacted", "n": 1.50}}'],
    ['{"a":"https://x.example/?sig=1","b":"http:\\/\\/x"}', ['a', 'b'], `{"a":"${URL_OF}","b":"${URL_OF}"}`],
    [
      '{"a":-1.5e3,"b":true,"c":null,"d":12345678901234567890}',
      ['a', 'b', 'c'],
      '{"a":0,"b":false,"c":null,"d":12345678901234567890}',
    ],
    ['{"a":{"b":[1,{"c":"}"}]},"d":[ "]" , 2 ],"e":1}', ['a', 'd'], '{"a":{},"d":[],"e":1}'],
    ['{"w":[{"t":"a","s":1},{"t":"b"}],"t":"c"}', ['w.*.t'], '{"w":[{"t":"redacted","s":1},{"t":"redacted"}],"t":"c"}'],
    ['{"w":["a","b","c"]}', ['w.1'], '{"w":["a","redacted","c"]}'],
    ['{"a":"one","a":"two"}', ['a'], '{"a":"redacted","a":"redacted"}'],
    ['{"\\u0061":"x","b\\"":"y"}', ['a', 'b"'], '{"\\u0061":"redacted","b\\"":"redacted"}'],
    ['{"a":"ends with \\\\","b":"x"}', ['a'], '{"a":"redacted","b":"x"}'],
    ['{"a":{"b":"x"},"b":"y"}', ['b'], '{"a":{"b":"x"},"b":"redacted"}'],
    ['{"__proto__":"x"}', ['__proto__'], '{"__proto__":"redacted"}'],
    ['"text"', ['a'], '"text"'],
  ])('of %s leaves out %j and no other character', (text, fields, redacted) => {
    expect(redactJson(text, fields)).toEqual({ text: redacted, found: text === '"text"' ? [] : fields });
  });

  it('says which fields there were, also where two of them name the same', () => {
    expect(redactJson('{"a":{"b":1}}', ['a.*', 'x', 'a.b']).found).toEqual(['a.*', 'a.b']);
  });

  it('replaces what is named and keeps everything else, in any JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), fc.nat(3), (rest, value, indent) => {
        const whole = { ...rest, before: [rest], named: value, after: rest };
        const { text, found } = redactJson(JSON.stringify(whole, null, indent), ['named']);
        const { named, ...others } = JSON.parse(text);
        expect(others).toEqual(JSON.parse(JSON.stringify({ ...rest, before: [rest], after: rest })));
        expect(typeof named).toBe(typeof value);
        expect(['"redacted"', `"${URL_OF}"`, '0', 'false', 'null', '{}', '[]']).toContain(JSON.stringify(named));
        expect(found).toEqual(['named']);
      }),
    );
  });

  it('takes what is nested deeper than any stack', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"b":"x"}`;
    expect(redactJson(deep, ['b']).text).toBe(deep.replace('"x"', '"redacted"'));
    expect(redactJson(deep, ['a']).text).toBe('{"a":[],"b":"x"}');
  });
});
