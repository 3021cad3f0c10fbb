import { describe, expect, it } from 'vitest';
import type { CauseName } from '../../src/explain/causes.js';
import { judgeBody, likelyCauses } from '../../src/explain/likely-causes.js';
import type { SignatureHeaders } from '../../src/explain/signature-headers.js';

const TEXT = '{"id":"a","data":1}';

type Headers = Partial<SignatureHeaders>;

const toLine = ({ cause, certainty, evidence }: { cause: string; certainty: string; evidence: string }) =>
  `${cause} ${certainty}: ${evidence}`;

describe('the likely causes where no form of the body matches', () => {
  const SECRET = 'secret_wrong possible: The signature matches no other form of the body.';
  const SECRET_LIKELY = SECRET.replace('possible', 'likely');
  const CHANGED = SECRET.replace('secret_wrong', 'body_changed');
  const TRIED = [SECRET, CHANGED];
  const WRITTEN = 'body_reserialised possible: The body is exactly what JSON.stringify writes.';
  const NOT_JSON = 'body_changed certain: The service sends JSON, and the body is not JSON.';
  const MAYBE_JSON = NOT_JSON.replace('certain', 'likely');
  const NOT_TEXT = 'body_changed likely: The service sends JSON, and the body is not valid UTF-8.';
  const CUT = [
    'body_incomplete likely: The body begins as JSON and ends before the JSON is complete.',
    NOT_JSON.replace('certain', 'possible'),
    SECRET,
  ];
  const LOST = 'characters_lost likely: The body contains replacement characters (U+FFFD).';
  const lengths = (declared: number, length: number) =>
    `Content-Length is ${declared}, and the body has ${length} bytes.`;

  function guess(body: string | Uint8Array, headers: Headers = {}, complete = true) {
    const nothing = { v2: [], legacy: [], timestamp: undefined, contentLength: undefined, contentEncoding: undefined };
    const all = { ...nothing, findings: [], ...headers };
    return likelyCauses(Buffer.from(body as string), all, complete).map(toLine);
  }

  it.each<[what: string, body: string | Uint8Array, headers: Headers, causes: string[]]>([
    ['spaced JSON', '{"a": 1}', {}, TRIED],
    ['JSON of the declared length', '{"a": 1}', { contentLength: 8 }, [SECRET_LIKELY, CHANGED]],
    ['longer JSON', '{"a": 1}', { contentLength: 7 }, [SECRET, `body_changed likely: ${lengths(7, 8)}`]],
    ['shorter JSON', '{"a":1 }', { contentLength: 20 }, [SECRET, `body_changed likely: ${lengths(20, 8)}`]],
    ['JSON with 1.0', '{"a":1.0}', {}, TRIED],
    ['JSON after a byte order mark', '\ufeff{"a": 1}', {}, TRIED],
    ['nothing', '', {}, ['body_missing likely: The body is empty.']],
    ['nothing, as declared', '', { contentLength: 0 }, ['body_missing likely: The body is empty.']],
    ['nothing where 7 bytes are declared', '', { contentLength: 7 }, [`body_missing certain: ${lengths(7, 0)}`]],
    ['text of another sender', 'pong', {}, [MAYBE_JSON, SECRET]],
    ['text as declared', 'pong', { contentLength: 4 }, [MAYBE_JSON, SECRET]],
    ['longer text', 'pong', { contentLength: 3 }, [`body_changed certain: ${lengths(3, 4)}`, SECRET]],
    ['text where none is declared', 'pong', { contentLength: 0 }, [`body_changed certain: ${lengths(0, 4)}`, SECRET]],
    ['half of JSON', '{"a":', { contentLength: 7 }, [`body_incomplete certain: ${lengths(7, 5)}`, SECRET]],
    ['half of JSON that is long', '{"a":', { contentLength: 4 }, [`body_changed certain: ${lengths(4, 5)}`, SECRET]],
    ['half of JSON as declared', '{"a":', { contentLength: 5 }, CUT],
    ['JSON without its end', '{"a":1', {}, CUT],
    ['JSON that ends with a comma', ' {"a":1,', {}, CUT],
    ['JSON that ends with the brace of a part', '{"a":{"b":1}', {}, CUT],
    ['JSON that ends in a string with braces', '{"a":"}}\\"}', {}, CUT],
    ['JSON that ends in an escape', '{"a":"\\', {}, CUT],
    ['broken JSON with its end', '{"a" 1} ', {}, [NOT_JSON, SECRET]],
    ['broken JSON without its beginning', '"a":1}', {}, [NOT_JSON, SECRET]],
    ['half of a list', '[1', {}, [MAYBE_JSON, SECRET]],
    [
      ...(['a compressed body', 'pong', { contentEncoding: 'gzip', contentLength: 9 }] as const),
      [MAYBE_JSON, 'decompressed likely: Content-Encoding says that the body was compressed.', SECRET],
    ],
    ['an uncompressed body', '{"a": 1}', { contentEncoding: 'identity' }, TRIED],
    ['replacement characters in JSON', '{"a": "\ufffd"}', {}, [LOST, ...TRIED]],
    [
      ...(['replacement characters in JSON of the declared length', '{"a": "\ufffd"}', { contentLength: 12 }] as const),
      [LOST, ...TRIED],
    ],
    ['replacement characters in broken JSON', '{"a: \ufffd"}', {}, [NOT_JSON, LOST, SECRET]],
    ['bytes that are no text', Uint8Array.from([0xff]), {}, [NOT_TEXT, SECRET]],
    [
      ...(['JSON with a byte that is no text', Buffer.from('{"a": "\xff"}', 'latin1'), {}] as const),
      [NOT_TEXT.replace('likely', 'certain'), SECRET],
    ],
    ['compact JSON', TEXT, {}, [WRITTEN, ...TRIED]],
    ['compact JSON before white space', `${TEXT}\n `, {}, [WRITTEN, ...TRIED]],
    ['compact JSON as declared', TEXT, { contentLength: TEXT.length }, [WRITTEN, SECRET_LIKELY, CHANGED]],
    ['compact JSON behind white space', ` ${TEXT}`, {}, TRIED],
  ])('the causes and their certainty fit a body of this kind: %s', (_, body, headers, causes) => {
    expect(guess(body, headers)).toEqual(causes);
  });

  it('the evidence says that the search was cut short', () => {
    const evidence = 'possible: Not every form of the body was tried.';
    expect(guess('{"a": 1}', {}, false)).toEqual([`secret_wrong ${evidence}`, `body_changed ${evidence}`]);
  });

  it('compact JSON of another length was likely written by JSON.stringify', () => {
    const evidence = `The body is exactly what JSON.stringify writes. ${lengths(7, TEXT.length)}`;
    expect(guess(TEXT, { contentLength: 7 })[0]).toBe(`body_reserialised likely: ${evidence}`);
  });

  it.each([
    ['{"a":1,"b":2,"c":3}', 'likely'],
    ['{"b":1,"a":2,"c":3}', 'possible'],
    ['{"a":1,"b":2}', 'possible'],
    ['[1,2,3]', 'likely'],
    ['7', 'possible'],
    ['null', 'possible'],
  ])('%s is a body whose writing by JSON.stringify is %s, by the order of its keys', (body, certainty) => {
    expect(guess(body)[0]).toBe(WRITTEN.replace('possible', certainty));
  });
});

describe('the certainty of a cause where another form of the body matches', () => {
  const WRITTEN = 'body_reserialised likely: The body is exactly what JSON.stringify writes.';
  const INDENTED = '{\n  "a": 1\n}';
  const WINDOWS = `\ufeff ${INDENTED.replaceAll('\n', '\r\n')}\n`;
  const WHITE_SPACE = 'white_space_changed likely: Only white space or a byte order mark is different.';

  /** Each cause that was found has its own name as evidence. */
  const certain = (cause: CauseName) => `${cause} certain: ${cause}`;
  const likely = (cause: CauseName) => `${cause} likely: ${cause}`;

  it.each<[what: string, given: string | undefined, signed: string, found: CauseName[], causes: string[]]>([
    ['no change', TEXT, TEXT, [], []],
    ['base64', 'YQ==', 'a', ['body_in_base64'], [certain('body_in_base64')]],
    ['a change without a body', undefined, TEXT, ['compressed'], [certain('compressed')]],
    ['a line feed too many', `${TEXT}\n`, TEXT, ['newline_added'], [certain('newline_added')]],
    ['a byte order mark too many', `\ufeff${TEXT}`, TEXT, ['byte_order_mark'], [certain('byte_order_mark')]],
    ['a lost line feed', TEXT, `${TEXT}\n`, ['newline_stripped'], [likely('newline_stripped'), WRITTEN]],
    ['spaced JSON', '{"a": 1}', '{"a": 1}\n', ['newline_stripped'], [certain('newline_stripped')]],
    ['a lost byte order mark', TEXT, `\ufeff${TEXT}`, ['byte_order_mark'], [likely('byte_order_mark'), WRITTEN]],
    [
      ...(['a change that is not at an end', '', `\ufeff${TEXT}\r\n`] as const),
      ['body_in_base64', 'newline_stripped', 'byte_order_mark'],
      [certain('body_in_base64'), likely('newline_stripped'), likely('byte_order_mark'), WRITTEN],
    ],
    ['white space', WINDOWS, INDENTED, ['body_reserialised'], [WHITE_SPACE, likely('body_reserialised')]],
    ['other JSON', '{"a":1}', INDENTED, ['body_reserialised'], [certain('body_reserialised')]],
    ['JSON without a body', undefined, INDENTED, ['body_reserialised'], [certain('body_reserialised')]],
    ['an equal body', INDENTED, INDENTED, ['compressed'], [certain('compressed')]],
  ])('each cause has the certainty of its change: %s', (_, given, signed, found, causes) => {
    const findings = found.map((cause) => ({ cause, evidence: cause }));
    const body = given === undefined ? undefined : Buffer.from(given);
    expect(judgeBody(body, { bytes: Buffer.from(signed), findings }).map(toLine)).toEqual(causes);
  });

  it('bytes that are no text are not compared as text', () => {
    const [given, bytes] = [Uint8Array.from([0xff, 0x20]), Uint8Array.from([0xff])];
    const finding = { cause: 'newline_stripped', evidence: 'of newline_stripped' } as const;
    expect(judgeBody(given, { bytes, findings: [finding] })).toEqual([{ ...finding, certainty: 'certain' }]);
  });
});
