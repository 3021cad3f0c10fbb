import { describe, expect, it } from 'vitest';
import type { CauseName } from '../../src/explain/causes.js';
import { judgeBody, likelyCauses } from '../../src/explain/likely-causes.js';
import type { SignatureHeaders } from '../../src/explain/signature-headers.js';

const WRITTEN = 'It is what JSON.stringify makes of it.';
const TRIED = 'No other form of it makes the signature.';
const NOT_TRIED = 'Not every form of it was tried.';
const TEXT = '{"id":"a","data":1}';

function guess(body: string | Uint8Array, headers: Partial<SignatureHeaders> = {}, complete = true) {
  const nothing = { v2: [], legacy: [], timestamp: undefined, contentLength: undefined, contentEncoding: undefined };
  return likelyCauses(Buffer.from(body as string), { ...nothing, findings: [], ...headers }, complete).map(
    ({ cause, certainty, evidence }) => [cause, certainty, evidence],
  );
}
const lengths = (declared: number, length: number) =>
  `Content-Length is ${declared}, and the body has ${length} bytes.`;

describe('a body that no form explains', () => {
  it('the secret and the body are equally suspect', () => {
    expect(guess('pong')).toEqual([
      ['secret_wrong', 'possible', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    expect(guess('pong', {}, false)).toEqual([
      ['secret_wrong', 'possible', NOT_TRIED],
      ['body_changed', 'possible', NOT_TRIED],
    ]);
  });

  it('the declared length speaks for the body if it fits, and against it if not', () => {
    expect(guess('pong', { contentLength: 4 })).toEqual([
      ['secret_wrong', 'likely', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    for (const contentLength of [3, 0]) {
      expect(guess('pong', { contentLength })).toEqual([
        ['secret_wrong', 'possible', TRIED],
        ['body_changed', 'likely', lengths(contentLength, 4)],
      ]);
    }
  });

  it('an empty body is reported as missing', () => {
    expect(guess('', { contentLength: 7 })).toEqual([['body_missing', 'certain', lengths(7, 0)]]);
    for (const contentLength of [undefined, 0]) {
      expect(guess('', { contentLength })).toEqual([['body_missing', 'likely', 'It is empty.']]);
    }
  });

  it('JSON that is shorter than declared is incomplete', () => {
    expect(guess('{"a":', { contentLength: 7 })[0]).toEqual(['body_incomplete', 'likely', lengths(7, 5)]);
    const causes = (body: string, contentLength: number) => guess(body, { contentLength }).map(([cause]) => cause);
    expect(causes('{"a":1 }', 20)).not.toContain('body_incomplete');
    expect(causes('{"a":', 4)).not.toContain('body_incomplete');
    expect(causes('{"a":', 5)).not.toContain('body_incomplete');
  });

  it.each([
    ['{"a":1', true],
    [' {"a":1,', true],
    ['{"a":1}', false],
    ['{"a" 1} ', false],
    ['[1', false],
    ['', false],
  ])('%j without a declared length looks cut off: %s', (body, isCut) => {
    expect(
      guess(body)
        .map(([cause]) => cause)
        .includes('body_incomplete'),
    ).toBe(isCut);
    if (isCut) expect(guess(body)[0]).toEqual(['body_incomplete', 'likely', 'It begins as JSON and does not end so.']);
  });

  it('a Content-Encoding header suggests that the body was decompressed', () => {
    const evidence = 'Content-Encoding says that it was compressed.';
    expect(guess('pong', { contentEncoding: 'gzip', contentLength: 4 })).toEqual([
      ['decompressed', 'likely', evidence],
      ['secret_wrong', 'possible', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    expect(guess('pong', { contentEncoding: 'identity' })).toHaveLength(2);
  });

  it('replacement characters show that characters were lost', () => {
    expect(guess('a\ufffdb')[0]).toEqual(['characters_lost', 'likely', 'It holds replacement characters.']);
    expect(guess(Uint8Array.from([0xff]))).toHaveLength(2);
  });

  it('compact JSON may have been written by JSON.stringify', () => {
    expect(guess(TEXT)[0]).toEqual(['body_reserialised', 'possible', WRITTEN]);
    expect(guess(`${TEXT}\n `)[0]).toEqual(['body_reserialised', 'possible', WRITTEN]);
    expect(guess(TEXT, { contentLength: TEXT.length })).toEqual([
      ['body_reserialised', 'possible', WRITTEN],
      ['secret_wrong', 'likely', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    for (const other of [` ${TEXT}`, '{"a": 1}', '{"a":1.0}', 'pong']) {
      expect(guess(other).map(([cause]) => cause)).not.toContain('body_reserialised');
    }
  });

  it('compact JSON of another length was likely written by JSON.stringify', () => {
    expect(guess(TEXT, { contentLength: 7 })[0]).toEqual([
      ...['body_reserialised', 'likely', `${WRITTEN} ${lengths(7, TEXT.length)}`],
    ]);
  });

  it.each([
    ['{"a":1,"b":2,"c":3}', 'likely'],
    ['{"b":1,"a":2,"c":3}', 'possible'],
    ['{"a":1,"b":2}', 'possible'],
    ['[1,2,3]', 'likely'],
    ['7', 'possible'],
    ['null', 'possible'],
  ])('%s with its keys in alphabetical order was %s written by JSON.stringify', (body, certainty) => {
    expect(guess(body)[0]).toEqual(['body_reserialised', certainty, WRITTEN]);
  });
});

describe('a body that another form explains', () => {
  const judge = (given: string | undefined, signed: string, ...causes: CauseName[]) =>
    judgeBody(given === undefined ? undefined : Buffer.from(given), {
      bytes: Buffer.from(signed),
      findings: causes.map((cause) => ({ cause, evidence: `of ${cause}` })),
    }).map(({ cause, certainty, evidence }) => [cause, certainty, evidence]);
  const certain = (...causes: CauseName[]) => causes.map((cause) => [cause, 'certain', `of ${cause}`]);

  it('an unchanged body has no causes', () => {
    expect(judge(TEXT, TEXT)).toEqual([]);
  });

  it('the change itself is certain', () => {
    expect(judge('YQ==', 'a', 'body_in_base64')).toEqual(certain('body_in_base64'));
    expect(judge(undefined, TEXT, 'compressed')).toEqual(certain('compressed'));
    expect(judge(`${TEXT}\n`, TEXT, 'newline_added')).toEqual(certain('newline_added'));
    expect(judge(`\ufeff${TEXT}`, TEXT, 'byte_order_mark')).toEqual(certain('byte_order_mark'));
  });

  it('a missing line feed may come from writing the JSON again', () => {
    expect(judge(TEXT, `${TEXT}\n`, 'newline_stripped')).toEqual([
      ['newline_stripped', 'likely', 'of newline_stripped'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
    expect(judge('{"a": 1}', '{"a": 1}\n', 'newline_stripped')).toEqual(certain('newline_stripped'));
  });

  it('a missing byte order mark may come from writing the JSON again', () => {
    expect(judge(TEXT, `\ufeff${TEXT}`, 'byte_order_mark')).toEqual([
      ['byte_order_mark', 'likely', 'of byte_order_mark'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
  });

  it('a change that is not at an end stays certain', () => {
    const both = ['body_in_base64', 'newline_stripped', 'byte_order_mark'] as const;
    expect(judge('', `\ufeff${TEXT}\r\n`, ...both)).toEqual([
      ['body_in_base64', 'certain', 'of body_in_base64'],
      ['newline_stripped', 'likely', 'of newline_stripped'],
      ['byte_order_mark', 'likely', 'of byte_order_mark'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
  });

  it('white space alone may have changed where the JSON was written again', () => {
    const evidence = 'Nothing is different but white space or a byte order mark.';
    const signed = '{\n  "a": 1\n}';
    expect(judge(`\ufeff ${signed.replaceAll('\n', '\r\n')}\n`, signed, 'body_reserialised')).toEqual([
      ['white_space_changed', 'likely', evidence],
      ['body_reserialised', 'likely', 'of body_reserialised'],
    ]);
    expect(judge('{"a":1}', signed, 'body_reserialised')).toEqual(certain('body_reserialised'));
    expect(judge(undefined, signed, 'body_reserialised')).toEqual(certain('body_reserialised'));
    expect(judge(signed, signed, 'compressed')).toEqual(certain('compressed'));
  });

  it('bytes that are no text are not compared as text', () => {
    const [given, bytes] = [Uint8Array.from([0xff, 0x20]), Uint8Array.from([0xff])];
    const finding = { cause: 'newline_stripped', evidence: 'of newline_stripped' } as const;
    expect(judgeBody(given, { bytes, findings: [finding] })).toEqual([{ ...finding, certainty: 'certain' }]);
  });
});
