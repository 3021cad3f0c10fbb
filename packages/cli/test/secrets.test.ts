import { describe, expect, it } from 'vitest';
import { failureOf, failureOfPromise } from '../../../test/support/failures.js';
import { checkSource, findSecrets, readSecret, readSecrets, readSource, secretOption } from '../src/secrets.js';
import { aSession } from './support/session.js';

const NAMES = 'env:NAME, file:PATH, or - for stdin';

describe('the source of a secret in --secret', () => {
  it.each(['-', 'env:A', 'file:a', 'file:-'])('%s is accepted as a source', (source) => {
    expect(checkSource(source)).toBe(source);
  });

  it.each(['whsec_1', '', '--', 'env:', 'file:', 'ENV:A', ' env:A', 'xenv:A'])(
    'a value on the command line is refused: %j',
    (source) => {
      const says = failureOf(() => checkSource(source));
      expect(says).toBe(
        `2: a secret on the command line is seen by everyone on the machine: say where it is, ${NAMES}.`,
      );
    },
  );

  it('--secret may be given several times', () => {
    const option = secretOption();
    const parse = option.parseArg as (source: string, others?: readonly string[]) => readonly string[];
    expect(parse('-', parse('env:A'))).toEqual(['env:A', '-']);
    expect(failureOf(() => parse('whsec_1'))).toContain('a secret on the command line');
    expect(option.description).toBe(`the source of the signing secret: ${NAMES}; env:WEBHOOK_SECRET (repeatable)`);
  });
});

describe('a secret that a command reads from its source', () => {
  it('secrets come from the environment, files and stdin, in the order given', async () => {
    const session = aSession({ A: 'one ' }, { 'dir/two': 'two', '-': 'three' });
    expect(await findSecrets(session, ['env:A', 'file:dir/two', '-'])).toEqual(['one ', 'two', 'three']);
  });

  it('WEBHOOK_SECRET is read where no source is named', async () => {
    const session = aSession({ WEBHOOK_SECRET: 'usual', A: 'other' });
    expect(await findSecrets(session)).toEqual(['usual']);
    expect(await findSecrets(session, ['env:A'])).toEqual(['other']);
    expect(await findSecrets(aSession())).toBeUndefined();
  });

  it('a missing secret is answered with how to set one', async () => {
    expect(await readSecrets(aSession({ A: '1', B: '2' }), ['env:A', 'env:B'])).toEqual(['1', '2']);
    expect(await failureOfPromise(readSecrets(aSession()))).toContain(
      `2: no secret: set WEBHOOK_SECRET, also in .env, or say where it is with --secret ${NAMES}. To try things out, `,
    );
  });

  it('without a secret, the message says how the app is started with one, and ends with the line to copy', async () => {
    const says = await failureOfPromise(readSecrets(aSession()));
    expect(says).toMatch(/start your app with '.+' after .+ into \.env: WEBHOOK_SECRET=whsec_[0-9a-f]{48}$/);
    expect(await failureOfPromise(readSecrets(aSession({ WEBHOOK_SECRET: '' })))).toMatch(
      /^2: WEBHOOK_SECRET is empty: set /,
    );
  });

  it('an unset environment variable is refused, and an empty one is read', async () => {
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
  ])('a secret file loses %s at its end', async (_, content, secret) => {
    expect(await readSecret(aSession({}, { f: content }), 'file:f')).toBe(secret);
  });

  it.each(['.env.local', 'app/.env', '.dev.vars', 'secrets.txt'])(
    'the secret of the environment file %s is the value of its variable',
    async (file) => {
      const session = aSession({}, { [file]: 'PORT=3000\nexport WEBHOOK_SECRET="whsec_1"\n' });
      expect(await readSecret(session, `file:${file}`)).toBe('whsec_1');
      expect(await readSecrets(session, [`file:${file}`])).toEqual(['whsec_1']);
    },
  );

  it('an environment file without the variable is refused', async () => {
    const session = aSession({}, { 'app/.env.local': 'SECRET=whsec_1\n' });
    expect(await failureOfPromise(readSecret(session, 'file:app/.env.local'))).toBe(
      '3: app/.env.local does not set WEBHOOK_SECRET: add it, or name a file that has the secret alone.',
    );
  });

  it('another source than a signing secret is read whole, so that no secret goes in the place of an API key', async () => {
    const session = aSession({}, { '.env': 'WEBHOOK_SECRET=whsec_1\n' });
    expect(await readSource(session, 'file:.env')).toBe('WEBHOOK_SECRET=whsec_1');
  });

  it('a secret with an equals sign is no environment file', async () => {
    expect(await readSecret(aSession({}, { f: 'd2hzZWM=\n' }), 'file:f')).toBe('d2hzZWM=');
  });

  it('an empty secret of a named source is refused with the source', async () => {
    expect(await failureOfPromise(readSecrets(aSession({ A: '' }), ['env:A']))).toMatch(/^2: env:A is empty: set /);
  });

  it('file:- is a file, and - is stdin', async () => {
    expect(await readSecret(aSession({}, { './-': 'of the file', '-': 'of stdin' }), 'file:-')).toBe('of the file');
    expect(await readSecret(aSession({}, { './-': 'of the file', '-': 'of stdin' }), '-')).toBe('of stdin');
  });

  it('a secret of bytes that are no text stays bytes', async () => {
    const secret = await readSecret(aSession({}, { f: new Uint8Array([255, 254, 10]) }), 'file:f');
    expect([...(secret as Uint8Array)]).toEqual([255, 254]);
  });
});
