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

describe('of a body that nothing mends', () => {
  it('nothing speaks for the one or the other', () => {
    expect(guess('pong')).toEqual([
      ['secret_wrong', 'possible', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    expect(guess('pong', {}, false)).toEqual([
      ['secret_wrong', 'possible', NOT_TRIED],
      ['body_changed', 'possible', NOT_TRIED],
    ]);
  });

  it('the length speaks for the body where it is as declared, and against it where it is not', () => {
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

  it('of a body that nothing mends that is empty it is said that it is missing', () => {
    expect(guess('', { contentLength: 7 })).toEqual([['body_missing', 'certain', lengths(7, 0)]]);
    for (const contentLength of [undefined, 0]) {
      expect(guess('', { contentLength })).toEqual([['body_missing', 'likely', 'It is empty.']]);
    }
  });

  it('of a body that nothing mends that is shorter than declared, and no JSON, it is said that it is incomplete', () => {
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
  ])(
    'of a body that nothing mends without a declared length it is seen from its ends whether it is whole: %j',
    (body, isCut) => {
      expect(
        guess(body)
          .map(([cause]) => cause)
          .includes('body_incomplete'),
      ).toBe(isCut);
      if (isCut)
        expect(guess(body)[0]).toEqual(['body_incomplete', 'likely', 'It begins as JSON and does not end so.']);
    },
  );

  it('of a body that nothing mends that was compressed it is said that it was decompressed', () => {
    const evidence = 'Content-Encoding says that it was compressed.';
    expect(guess('pong', { contentEncoding: 'gzip', contentLength: 4 })).toEqual([
      ['decompressed', 'likely', evidence],
      ['secret_wrong', 'possible', TRIED],
      ['body_changed', 'possible', TRIED],
    ]);
    expect(guess('pong', { contentEncoding: 'identity' })).toHaveLength(2);
  });

  it('of a body that nothing mends with replacement characters it is said that some were lost', () => {
    expect(guess('a\ufffdb')[0]).toEqual(['characters_lost', 'likely', 'It holds replacement characters.']);
    expect(guess(Uint8Array.from([0xff]))).toHaveLength(2);
  });

  it('of a body that nothing mends that JSON.stringify may have written it is said so', () => {
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

  it('of a body that nothing mends that JSON.stringify may have written, and that has another length, it is rather so', () => {
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
  ])(
    'of a body that nothing mends with its keys in the order of the alphabet it is rather so: %s, %s',
    (body, certainty) => {
      expect(guess(body)[0]).toEqual(['body_reserialised', certainty, WRITTEN]);
    },
  );
});

describe('of a body that was mended', () => {
  const judge = (given: string | undefined, signed: string, ...causes: CauseName[]) =>
    judgeBody(given === undefined ? undefined : Buffer.from(given), {
      bytes: Buffer.from(signed),
      findings: causes.map((cause) => ({ cause, evidence: `of ${cause}` })),
    }).map(({ cause, certainty, evidence }) => [cause, certainty, evidence]);
  const certain = (...causes: CauseName[]) => causes.map((cause) => [cause, 'certain', `of ${cause}`]);

  it('nothing is said where nothing was', () => {
    expect(judge(TEXT, TEXT)).toEqual([]);
  });

  it('what was done to it is certain', () => {
    expect(judge('YQ==', 'a', 'body_in_base64')).toEqual(certain('body_in_base64'));
    expect(judge(undefined, TEXT, 'compressed')).toEqual(certain('compressed'));
    expect(judge(`${TEXT}\n`, TEXT, 'newline_added')).toEqual(certain('newline_added'));
    expect(judge(`\ufeff${TEXT}`, TEXT, 'byte_order_mark')).toEqual(certain('byte_order_mark'));
  });

  it('a line feed that is missing may have been lost as well when it was written again', () => {
    expect(judge(TEXT, `${TEXT}\n`, 'newline_stripped')).toEqual([
      ['newline_stripped', 'likely', 'of newline_stripped'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
    expect(judge('{"a": 1}', '{"a": 1}\n', 'newline_stripped')).toEqual(certain('newline_stripped'));
  });

  it('a byte order mark that is missing may have been lost as well when it was written again', () => {
    expect(judge(TEXT, `\ufeff${TEXT}`, 'byte_order_mark')).toEqual([
      ['byte_order_mark', 'likely', 'of byte_order_mark'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
  });

  it('what is not at its ends stays certain then', () => {
    const both = ['body_in_base64', 'newline_stripped', 'byte_order_mark'] as const;
    expect(judge('', `\ufeff${TEXT}\r\n`, ...both)).toEqual([
      ['body_in_base64', 'certain', 'of body_in_base64'],
      ['newline_stripped', 'likely', 'of newline_stripped'],
      ['byte_order_mark', 'likely', 'of byte_order_mark'],
      ['body_reserialised', 'likely', WRITTEN],
    ]);
  });

  it('of a body that was mended that was written again it may have been white space alone that was changed', () => {
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

  it('of a body that was mended that is not text it is not compared as such', () => {
    const [given, bytes] = [Uint8Array.from([0xff, 0x20]), Uint8Array.from([0xff])];
    const finding = { cause: 'newline_stripped', evidence: 'of newline_stripped' } as const;
    expect(judgeBody(given, { bytes, findings: [finding] })).toEqual([{ ...finding, certainty: 'certain' }]);
  });
});
