import { describe, expect, it } from 'vitest';
import { failureOf, failureOfPromise } from '../../../test/support/failures.js';
import { checkSource, findSecrets, readSecret, readSecrets, secretOption } from '../src/secrets.js';
import { aSession } from './support/session.js';

const NAMES = 'env:NAME, file:PATH, or - for stdin';

describe('where a secret is', () => {
  it.each(['-', 'env:A', 'file:a', 'file:-'])('is said by %s', (source) => {
    expect(checkSource(source)).toBe(source);
  });

  it.each(['whsec_1', '', '--', 'env:', 'file:', 'ENV:A', ' env:A', 'xenv:A'])('is not said by %j', (source) => {
    const says = failureOf(() => checkSource(source));
    expect(says).toBe(`2: a secret on the command line is seen by everyone on the machine: say where it is, ${NAMES}.`);
  });

  it('where a secret is may be several places, each of which is looked at', () => {
    const option = secretOption();
    const parse = option.parseArg as (source: string, others?: readonly string[]) => readonly string[];
    expect(parse('-', parse('env:A'))).toEqual(['env:A', '-']);
    expect(failureOf(() => parse('whsec_1'))).toContain('a secret on the command line');
    expect(option.description).toBe(`the source of the signing secret: ${NAMES}; env:WEBHOOK_SECRET (repeatable)`);
  });
});

describe('secrets', () => {
  it('secrets are read from the environment, files and stdin, in the order given', async () => {
    const session = aSession({ A: 'one ' }, { 'dir/two': 'two', '-': 'three' });
    expect(await findSecrets(session, ['env:A', 'file:dir/two', '-'])).toEqual(['one ', 'two', 'three']);
  });

  it('secrets are that of WEBHOOK_SECRET where no place is named', async () => {
    const session = aSession({ WEBHOOK_SECRET: 'usual', A: 'other' });
    expect(await findSecrets(session)).toEqual(['usual']);
    expect(await findSecrets(session, ['env:A'])).toEqual(['other']);
    expect(await findSecrets(aSession())).toBeUndefined();
  });

  it('secrets have to be there for some commands', async () => {
    expect(await readSecrets(aSession({ A: '1', B: '2' }), ['env:A', 'env:B'])).toEqual(['1', '2']);
    expect(await failureOfPromise(readSecrets(aSession()))).toContain(
      `2: no secret: set WEBHOOK_SECRET, also in .env, or say where it is with --secret ${NAMES}. To try things out, `,
    );
  });

  it('secrets are not taken from a variable that is not set', async () => {
    expect(await failureOfPromise(readSecret(aSession(), 'env:A'))).toBe(
      '2: the environment variable A is not set; export it.',
    );
    expect(await readSecret(aSession({ A: '' }), 'env:A')).toBe('');
  });

  it.each([
    ['one line end', 'a\n', 'a'],
    ['that of Windows', 'a\r\n', 'a'],
    ['no more than one', 'a\n\n', 'a\n'],
    ['not a return alone', 'a\r', 'a\r'],
    ['nothing where there is none', 'a', 'a'],
    ['all there is', '\n', ''],
  ])('lose %s at the end of a file', async (_, content, secret) => {
    expect(await readSecret(aSession({}, { f: content }), 'file:f')).toBe(secret);
  });

  it('is read from a file that is named -, and not from stdin', async () => {
    expect(await readSecret(aSession({}, { './-': 'of the file', '-': 'of stdin' }), 'file:-')).toBe('of the file');
    expect(await readSecret(aSession({}, { './-': 'of the file', '-': 'of stdin' }), '-')).toBe('of stdin');
  });

  it('secrets are bytes where they are no text', async () => {
    const secret = await readSecret(aSession({}, { f: new Uint8Array([255, 254, 10]) }), 'file:f');
    expect([...(secret as Uint8Array)]).toEqual([255, 254]);
  });
});
