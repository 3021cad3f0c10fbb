import type { Secret } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import type { CauseName } from '../../src/explain/causes.js';
import { secretRepairs } from '../../src/explain/secret-repairs.js';

const SHOWN = 'whsec_4f2c9a7e51d8b360';
const FORM = /^The signature matches with the secret (.+)\.$/;

/** Every form of a secret, as text where it is some, and what it took to get there. */
function forms(secret: Secret) {
  return [...secretRepairs(secret)].map(({ bytes, findings }) => ({
    text: Buffer.from(bytes).toString('latin1'),
    causes: findings.map(({ cause }) => cause),
    how: findings.map(({ evidence }) => FORM.exec(evidence)?.[1]),
  }));
}
const found = (secret: Secret, text: string) => forms(secret).find((form) => form.text === text);

describe('the forms of a secret that explain tries', () => {
  it('the secret as it came is tried first, and each form once', () => {
    const all = forms(SHOWN);
    expect(all[0]).toEqual({ text: SHOWN, causes: [], how: [] });
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
    expect(forms(Buffer.from(SHOWN))).toEqual(all);
  });

  it.each<[given: string, text: string, cause: CauseName, how: string]>([
    [` \t${SHOWN}\r\n`, SHOWN, 'secret_white_space', 'without the white space around it'],
    ['ab cd\u200bef', 'abcdef', 'secret_white_space', 'without the white space in it'],
    [`"${SHOWN}"`, SHOWN, 'secret_quoted', 'without the quotes around it'],
    [`'${SHOWN}'`, SHOWN, 'secret_quoted', 'without the quotes around it'],
    ['`a\nb`', 'a\nb', 'secret_quoted', 'without the quotes around it'],
    [`WEBHOOK_SECRET=${SHOWN}`, SHOWN, 'secret_assignment', 'without the name before it'],
    [`export  SECRET = ${SHOWN}`, SHOWN, 'secret_assignment', 'without the name before it'],
    [`secret:\n${SHOWN}`, SHOWN, 'secret_assignment', 'without the name before it'],
    [`${SHOWN}\\n`, SHOWN, 'secret_escaped', 'without the escaped line end'],
    [`${SHOWN}\\r\\n\\t`, SHOWN, 'secret_escaped', 'without the escaped line end'],
    ['a%2Fb', 'a/b', 'secret_escaped', 'percent-decoded'],
    ['6162', 'ab', 'secret_encoding', 'decoded from hex'],
    ['6D', 'm', 'secret_encoding', 'decoded from hex'],
    ['YWJjZA==', 'abcd', 'secret_encoding', 'decoded from base64'],
    ['-_-_', '\xfb\xff\xbf', 'secret_encoding', 'decoded from base64'],
    ['ab~', '61627e', 'secret_encoding', 'in hex'],
    ['ab~', 'YWJ+', 'secret_encoding', 'in base64'],
    ['ab~', 'YWJ-', 'secret_encoding', 'in base64url'],
    ['caf\u00e9', 'caf\xe9', 'secret_encoding', 'as Latin-1'],
    [SHOWN, SHOWN.slice(6), 'secret_prefix', 'without its prefix'],
    ['Ab-c', 'c', 'secret_prefix', 'without its prefix'],
    ['abcdefghijkl_\nm', '\nm', 'secret_prefix', 'without its prefix'],
    ['abc', 'whsec_abc', 'secret_prefix', 'with the prefix whsec_'],
    ['whsec_YWJjZA==', 'abcd', 'secret_encoding', 'without its prefix, decoded from base64'],
    ['AbC', 'abc', 'secret_case', 'in lower case'],
    ['AbC', 'ABC', 'secret_case', 'in upper case'],
  ])('%j may have been meant as %j: %s, %s', (given, text, cause, how) => {
    expect(found(given, text)).toEqual({ text, causes: [cause], how: [how] });
  });

  it.each<[given: string, text: string]>([
    [`x"${SHOWN}"`, SHOWN],
    [`"${SHOWN}"x`, SHOWN],
    [`"${SHOWN}'`, SHOWN],
    [`-x=${SHOWN}`, SHOWN],
    [`${SHOWN}\\x`, SHOWN],
    [`\\n${SHOWN}`, SHOWN],
    ['6162g', 'ab'],
    ['g6162', 'ab'],
    ['61!62', 'a'],
    ['616', 'a'],
    ['!YWJjZA==', 'abcd'],
    ['YWJjZA==!', 'abcd'],
    ['YWJjZA===', 'abcd'],
    ['a_b', 'b'],
    ['abcdefghijklm_b', 'b'],
    ['!ab_c', 'c'],
    ['\u0100', '\x00'],
  ])('%j is not meant as %j', (given, text) => {
    expect(found(given, text)).toBe(undefined);
  });

  it('a secret with a broken percent sign is not percent-decoded', () => {
    expect(forms('a%ZZ').flatMap(({ how }) => how)).not.toContain('percent-decoded');
  });

  it('a secret is cleaned in two steps, and before it is decoded', () => {
    const text = Buffer.from(SHOWN).toString('hex');
    expect(found(`'${SHOWN}'\n`, SHOWN)).toMatchObject({ causes: ['secret_white_space', 'secret_quoted'] });
    expect(found(`${text}\n`, SHOWN)).toMatchObject({
      causes: ['secret_white_space', 'secret_encoding'],
      how: ['without the white space around it', 'decoded from hex'],
    });
  });

  it('a secret is not decoded twice', () => {
    const twice = Buffer.from(Buffer.from(SHOWN).toString('hex')).toString('hex');
    expect(found(twice, SHOWN)).toBe(undefined);
  });

  it.each([
    ['hex', '61ff'],
    ['base64', 'Yf8='],
    ['base64url', 'Yf8'],
  ])('bytes may have been meant as text in %s', (encoding, text) => {
    expect(forms(Uint8Array.from([0x61, 0xff])).find((form) => form.text === text)).toMatchObject({
      causes: ['secret_encoding'],
      how: [`as text, in ${encoding}`],
    });
  });

  it('an empty secret has no empty form', () => {
    for (const given of ['', ' ', '""', '\\n']) {
      expect(forms(given).map(({ text }) => text)).not.toContain('');
    }
    expect(forms('')).toEqual([{ text: 'whsec_', causes: ['secret_prefix'], how: ['with the prefix whsec_'] }]);
  });

  it('a secret that can be cleaned many times has a bounded number of forms', () => {
    const all = forms(`${'a='.repeat(50)}${SHOWN}`);
    expect(all.filter(({ causes }) => causes.every((cause) => cause === 'secret_assignment')).length).toBeLessThan(12);
    expect(Math.max(...all.map(({ causes }) => causes.length))).toBe(8);
  });
});
