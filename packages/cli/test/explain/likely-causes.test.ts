import { describe, expect, it } from 'vitest';
import type { CauseName } from '../../src/explain/causes.js';
import { judgeBody, likelyCauses } from '../../src/explain/likely-causes.js';
import type { SignatureHeaders } from '../../src/explain/signature-headers.js';

const TEXT = '{"id":"a","data":1}';

type Headers = Partial<SignatureHeaders>;

const toLine = ({ cause, certainty, evidence }: { cause: string; certainty: string; evidence: string }) =>
  `${cause} ${certainty}: ${evidence}`;

describe('the likely causes where no form of the body matches', () => {
  const TRIED = ['secret_wrong possible: No other form of it makes the signature.', 'body_changed possible: No other form of it makes the signature.']; // biome-ignore format: the two that are there of every body
  const [SECRET, BODY] = TRIED as [string, string];
  const SECRET_LIKELY = SECRET.replace('possible', 'likely');
  const WRITTEN = 'body_reserialised possible: It is what JSON.stringify makes of it.';
  const CUT = 'body_incomplete likely: It begins as JSON and does not end so.';
  const lengths = (declared: number, length: number) =>
    `Content-Length is ${declared}, and the body has ${length} bytes.`;

  function guess(body: string | Uint8Array, headers: Headers = {}, complete = true) {
    const nothing = { v2: [], legacy: [], timestamp: undefined, contentLength: undefined, contentEncoding: undefined };
    const all = { ...nothing, findings: [], ...headers };
    return likelyCauses(Buffer.from(body as string), all, complete).map(toLine);
  }

  it.each<[what: string, body: string | Uint8Array, headers: Headers, causes: string[]]>([
    ['no hint', 'pong', {}, TRIED],
    ['a length as declared', 'pong', { contentLength: 4 }, [SECRET_LIKELY, BODY]],
    ['a longer body', 'pong', { contentLength: 3 }, [SECRET, `body_changed likely: ${lengths(3, 4)}`]],
    ['a declared length of 0', 'pong', { contentLength: 0 }, [SECRET, `body_changed likely: ${lengths(0, 4)}`]],
    ['nothing', '', {}, ['body_missing likely: It is empty.']],
    ['nothing, as declared', '', { contentLength: 0 }, ['body_missing likely: It is empty.']],
    ['nothing where 7 bytes are declared', '', { contentLength: 7 }, [`body_missing certain: ${lengths(7, 0)}`]],
    [
      ...(['half of JSON', '{"a":', { contentLength: 7 }] as const),
      [`body_incomplete likely: ${lengths(7, 5)}`, SECRET, `body_changed likely: ${lengths(7, 5)}`],
    ],
    ['whole JSON that is short', '{"a":1 }', { contentLength: 20 }, [SECRET, `body_changed likely: ${lengths(20, 8)}`]],
    ['half of JSON that is long', '{"a":', { contentLength: 4 }, [SECRET, `body_changed likely: ${lengths(4, 5)}`]],
    ['half of JSON as declared', '{"a":', { contentLength: 5 }, [SECRET_LIKELY, BODY]],
    ['JSON without its end', '{"a":1', {}, [CUT, ...TRIED]],
    ['JSON that ends with a comma', ' {"a":1,', {}, [CUT, ...TRIED]],
    ['broken JSON with its end', '{"a" 1} ', {}, TRIED],
    ['half of a list', '[1', {}, TRIED],
    [
      ...(['a compressed body', 'pong', { contentEncoding: 'gzip', contentLength: 4 }] as const),
      ['decompressed likely: Content-Encoding says that it was compressed.', ...TRIED],
    ],
    ['an uncompressed body', 'pong', { contentEncoding: 'identity' }, TRIED],
    ['replacement characters', 'a\ufffdb', {}, ['characters_lost likely: It holds replacement characters.', ...TRIED]],
    ['bytes that are no text', Uint8Array.from([0xff]), {}, TRIED],
    ['compact JSON', TEXT, {}, [WRITTEN, ...TRIED]],
    ['compact JSON before white space', `${TEXT}\n `, {}, [WRITTEN, ...TRIED]],
    ['compact JSON as declared', TEXT, { contentLength: TEXT.length }, [WRITTEN, SECRET_LIKELY, BODY]],
    ['compact JSON behind white space', ` ${TEXT}`, {}, TRIED],
    ['spaced JSON', '{"a": 1}', {}, TRIED],
    ['JSON with 1.0', '{"a":1.0}', {}, TRIED],
  ])('the causes and their certainty fit a body of this kind: %s', (_, body, headers, causes) => {
    expect(guess(body, headers)).toEqual(causes);
  });

  it('the evidence says that the search was cut short', () => {
    const evidence = 'possible: Not every form of it was tried.';
    expect(guess('pong', {}, false)).toEqual([`secret_wrong ${evidence}`, `body_changed ${evidence}`]);
  });

  it('compact JSON of another length was likely written by JSON.stringify', () => {
    const evidence = `It is what JSON.stringify makes of it. ${lengths(7, TEXT.length)}`;
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
  const WRITTEN = 'body_reserialised likely: It is what JSON.stringify makes of it.';
  const INDENTED = '{\n  "a": 1\n}';
  const WINDOWS = `\ufeff ${INDENTED.replaceAll('\n', '\r\n')}\n`;
  const WHITE_SPACE = 'white_space_changed likely: Nothing is different but white space or a byte order mark.';

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
