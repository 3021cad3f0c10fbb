import { describe, expect, it } from 'vitest';
import { NOW } from '../../../test/support/deliveries.js';
import { failureOf, failureOfPromise } from '../../../test/support/failures.js';
import { deliveryCommand, readDelivery } from '../src/delivery-input.js';
import { formatHttp } from '../src/http/http-message.js';
import { aSession } from './support/session.js';

/** The command with its arguments, as far as they get before it would run. */
function parsed(...args: string[]) {
  const command = deliveryCommand('verify')
    .exitOverride()
    .configureOutput({ writeErr() {} });
  command.action(() => {}).parse(args, { from: 'user' });
  return { file: command.processedArgs[0], ...command.opts() };
}

const refusalOf = (...args: string[]) => {
  try {
    parsed(...args);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

describe('a command about a delivery', () => {
  it('a command about a delivery reads stdin, and looks for the usual headers, if nothing is said', () => {
    expect(parsed()).toEqual({ file: '-', headerPrefix: 'x-service' });
  });

  it('a command about a delivery takes the headers of a body one by one, and where its secrets are', () => {
    const args = ['body', '--header', 'A: 1', '--header', 'B: 2', '--secret', 'env:A', '--headers', 'heads'];
    expect(parsed(...args)).toMatchObject({
      ...{ file: 'body', header: ['A: 1', 'B: 2'], secret: ['env:A'], headers: 'heads' },
    });
    expect(failureOf(() => parsed('--secret', 'whsec_1'))).toContain('a secret on the command line');
  });

  it.each([
    ['now', 'now'],
    ['signed', 'signed'],
    ['1783771200', NOW],
    ['2026-07-11T12:00:00Z', NOW],
  ])('a command about a delivery has its clock set to %s', (text, at) => {
    expect(parsed('--at', text)).toMatchObject({ at });
  });

  it.each([
    ['--at', 'then', 'now, signed'],
    ['--tolerance', '0', '1 to 1000000000'],
    ['--tolerance', '1000000001', '1 to 1000000000'],
    ['--legacy', 'maybe', 'reject, accept'],
  ])('a command about a delivery refuses %s %s, and says what it takes', (option, value, words) => {
    expect(refusalOf(option, value)).toContain(words);
  });

  it.each([
    ['--headers <file>', 'a line each'],
    ['--header <line>', 'repeatable'],
    ['--header-prefix <prefix>', 'the prefix of the header names'],
    ['--legacy <policy>', 'only a legacy header'],
    ['--tolerance <seconds>', 'largest difference'],
    ['--at <time>', 'the clock'],
  ])('a command about a delivery says in its help what %s is', (flags, words) => {
    const command = deliveryCommand('verify');
    expect(command.name()).toBe('verify');
    expect(command.options.find((option) => option.flags === flags)?.description).toContain(words);
    expect(command.registeredArguments[0]?.description).toContain('- for stdin');
  });

  it('a command about a delivery takes the bounds of its tolerance, and a policy', () => {
    expect(parsed('--tolerance', '1', '--legacy', 'accept')).toMatchObject({ tolerance: 1, legacy: 'accept' });
    expect(parsed('--tolerance', '1000000000', '--legacy', 'reject')).toMatchObject({ tolerance: 1e9 });
  });
});

describe('the delivery that a command is about', () => {
  const SIGNED = ['X-Service-Signature-V2', 't=1783771000,v1=00'] as const;
  const CAPTURED = '20260711T115958.000Z-7f3a9c01.http';
  const capture = formatHttp({ method: 'PUT', path: '/hook', headers: [SIGNED], body: Buffer.from('{}') });
  const session = aSession({}, { [CAPTURED]: capture, other: capture, body: '{}', heads: 'A: 1\r\n\nB: ü\n' });
  const read = (file: string, options: Partial<Parameters<typeof readDelivery>[2]> = {}) =>
    readDelivery(session, file, { headerPrefix: 'X-Service', ...options });

  it('the delivery that a command is about is a captured one, looked at when it came', async () => {
    const { body, ...rest } = await read(CAPTURED);
    expect(String(body)).toBe('{}');
    expect(rest).toEqual({
      ...{ method: 'PUT', path: '/hook', headers: [SIGNED, ['Content-Length', '2']] },
      ...{ at: Date.UTC(2026, 6, 11, 11, 59, 58), asCaptured: true },
    });
  });

  it('the delivery that a command is about is looked at now where its name does not say when it came', async () => {
    expect(await read('other')).toMatchObject({ at: NOW, asCaptured: false });
  });

  it.each([
    ['now', NOW],
    ['signed', 1_783_771_000_000],
    [5_000, 5_000],
  ] as const)('is looked at as it is told: %s', async (at, time) => {
    expect(await read(CAPTURED, { at })).toMatchObject({ method: 'PUT', at: time, asCaptured: false });
  });

  it('the delivery that a command is about is a body with headers from a file and from the command line', async () => {
    expect(await read('body', { headers: 'heads', header: ['C: 3'] })).toEqual({
      ...{ method: 'POST', path: '/', body: Buffer.from('{}'), at: NOW, asCaptured: false },
      headers: [
        ['A', '1'],
        ['B', Buffer.from('ü').toString('latin1')],
        ['C', '3'],
      ],
    });
    expect(await read('body', { header: ['C: 3'] })).toMatchObject({ headers: [['C', '3']] });
    expect(await read('body', { headers: 'heads' })).toMatchObject({
      headers: [
        ['A', '1'],
        ['B', expect.anything()],
      ],
    });
  });

  it('the delivery that a command is about is a body, whatever the name of its file is, where there are headers', async () => {
    expect(await read(CAPTURED, { header: ['C: 3'] })).toMatchObject({ body: capture, at: NOW, asCaptured: false });
  });

  it('the delivery that a command is about is no body alone', async () => {
    expect(await failureOfPromise(read('body'))).toMatch(/^3: body: no captured delivery/);
  });

  it.each([
    ['t=12', 12_000],
    ['v1=00,t=12,v1=01', 12_000],
    ['t=123456789012', 123_456_789_012_000],
  ])('the delivery that a command is about was signed at the time that the header has: %s', async (value, at) => {
    expect(await read('body', { at: 'signed', header: [`X-Service-Signature-V2: ${value}`] })).toMatchObject({ at });
  });

  it.each(['t=', 't=1234567890123', 'at=12', 't=12s', 'v1=00'])(
    'says that there is no signed time in %s',
    async (value) => {
      const failed = failureOfPromise(read('body', { at: 'signed', header: [`X-Service-Signature-V2: ${value}`] }));
      expect(await failed).toMatch(/^2: --at signed: there is no signed time/);
    },
  );

  it('the delivery that a command is about says that there is no signed time without the header', async () => {
    expect(await failureOfPromise(read('body', { at: 'signed', header: ['A: t=12'] }))).toMatch(/no signed time/);
  });
});
