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

describe('the options of verify for a delivery', () => {
  it('stdin and the prefix x-service are the default', () => {
    expect(parsed()).toEqual({ file: '-', headerPrefix: 'x-service' });
  });

  it('--header is repeatable, and --secret takes a source and no secret', () => {
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
  ])('--at %s sets the time of verification', (text, at) => {
    expect(parsed('--at', text)).toMatchObject({ at });
  });

  it.each([
    ['--at', 'then', 'now, signed'],
    ['--tolerance', '0', '1 to 1000000000'],
    ['--tolerance', '1000000001', '1 to 1000000000'],
    ['--legacy', 'maybe', 'reject, accept'],
  ])('the option %s %s is refused with the values that it takes', (option, value, words) => {
    expect(refusalOf(option, value)).toContain(words);
  });

  it.each([
    ['--headers <file>', 'a line each'],
    ['--header <line>', 'repeatable'],
    ['--header-prefix <prefix>', 'the prefix of the header names'],
    ['--legacy <policy>', 'only a legacy header'],
    ['--tolerance <seconds>', 'largest difference'],
    ['--at <time>', 'the clock'],
  ])('the help of verify describes %s', (flags, words) => {
    const command = deliveryCommand('verify');
    expect(command.name()).toBe('verify');
    expect(command.options.find((option) => option.flags === flags)?.description).toContain(words);
    expect(command.registeredArguments[0]?.description).toContain('- for stdin');
  });

  it('--tolerance and --legacy take their bounds and policies', () => {
    expect(parsed('--tolerance', '1', '--legacy', 'accept')).toMatchObject({ tolerance: 1, legacy: 'accept' });
    expect(parsed('--tolerance', '1000000000', '--legacy', 'reject')).toMatchObject({ tolerance: 1e9 });
  });
});

describe('the delivery that verify reads', () => {
  const SIGNED = ['X-Service-Signature-V2', 't=1783771000,v1=00'] as const;
  const CAPTURED = '20260711T115958.000Z-7f3a9c01.http';
  const capture = formatHttp({ method: 'PUT', path: '/hook', headers: [SIGNED], body: Buffer.from('{}') });
  const session = aSession({}, { [CAPTURED]: capture, other: capture, body: '{}', heads: 'A: 1\r\n\nB: ü\n' });
  const read = (file: string, options: Partial<Parameters<typeof readDelivery>[2]> = {}) =>
    readDelivery(session, file, { headerPrefix: 'X-Service', ...options });

  it('a capture is verified as of the time in its file name', async () => {
    const { body, ...rest } = await read(CAPTURED);
    expect(String(body)).toBe('{}');
    expect(rest).toEqual({
      ...{ method: 'PUT', path: '/hook', headers: [SIGNED, ['Content-Length', '2']] },
      ...{ at: Date.UTC(2026, 6, 11, 11, 59, 58), asCaptured: true },
    });
  });

  it('a file without a time in its name is verified as of now', async () => {
    expect(await read('other')).toMatchObject({ at: NOW, asCaptured: false });
  });

  it.each([
    ['now', NOW],
    ['signed', 1_783_771_000_000],
    [5_000, 5_000],
  ] as const)('--at %s overrides the time of the capture', async (at, time) => {
    expect(await read(CAPTURED, { at })).toMatchObject({ method: 'PUT', at: time, asCaptured: false });
  });

  it('the headers of a body are read from --headers and --header', async () => {
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

  it('a capture is read as a mere body where headers are passed', async () => {
    expect(await read(CAPTURED, { header: ['C: 3'] })).toMatchObject({ body: capture, at: NOW, asCaptured: false });
  });

  it('a body without headers is refused', async () => {
    expect(await failureOfPromise(read('body'))).toMatch(/^3: body: no captured delivery/);
  });

  it.each([
    ['t=12', 12_000],
    ['v1=00,t=12,v1=01', 12_000],
    ['t=123456789012', 123_456_789_012_000],
  ])('--at signed reads the time of the V2 header %s', async (value, at) => {
    expect(await read('body', { at: 'signed', header: [`X-Service-Signature-V2: ${value}`] })).toMatchObject({ at });
  });

  it.each(['t=', 't=1234567890123', 'at=12', 't=12s', 'v1=00'])(
    '--at signed refuses the V2 header %s, which has no time',
    async (value) => {
      const failed = failureOfPromise(read('body', { at: 'signed', header: [`X-Service-Signature-V2: ${value}`] }));
      expect(await failed).toMatch(/^2: --at signed: there is no signed time/);
    },
  );

  it('--at signed is refused without a V2 header', async () => {
    expect(await failureOfPromise(read('body', { at: 'signed', header: ['A: t=12'] }))).toMatch(/no signed time/);
  });
});
