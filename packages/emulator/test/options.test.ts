import { createEmulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { readOptions } from '../src/options.js';

const MIB = 1024 * 1024;
/** The last day of the last year with four digits. */
const LAST = Date.UTC(9999, 11, 31);

const read = (options: unknown) => readOptions(options as EmulatorOptions);

describe('the options of createEmulator', () => {
  it('every option has its documented default', () => {
    const before = Date.now();
    const { startAt, seed, ...others } = read({});
    expect(startAt).toBeGreaterThanOrEqual(before);
    expect(startAt).toBeLessThanOrEqual(Date.now());
    expect(seed).not.toBe(read({}).seed);
    expect(others).toEqual({
      speed: undefined,
      headerPrefix: 'x-service',
      deniedIps: [],
      account: {},
      faults: {},
      baseUrl: undefined,
      apiKey: undefined,
      fetch: undefined,
      tls: undefined,
      allowLoopback: false,
      renewTimestamp: false,
      concurrency: 64,
      hangAfterMs: 20_000,
      maxPending: 100_000,
      maxBodyBytes: 200_000_000,
      bodyTimeoutMs: 30_000,
      keep: { attempts: 10_000, delivered: 1_000, dead: 10_000, bytes: 32 * MIB },
    });
  });

  it('given options are kept', () => {
    const given = {
      ...{ startAt: 7, seed: 'a', headerPrefix: 'x-own', deniedIps: ['10.0.0.1'], account: { plan: 'FREE' } },
      ...{ faults: { drop: 1 }, allowLoopback: true, renewTimestamp: true, concurrency: 1, hangAfterMs: 2 },
      ...{ maxPending: 3, maxBodyBytes: 4, bodyTimeoutMs: 5, keep: { attempts: 6, delivered: 7, dead: 8, bytes: 9 } },
      ...{ apiKey: 'acct_12345678', fetch: () => new Response(), tls: { ca: 'x' }, baseUrl: 'https://api.example' },
    };
    expect(read(given)).toEqual({ ...given, speed: undefined });
  });

  it('an option given as undefined is its default', () => {
    const names = ['clock', 'speed', 'account', 'headerPrefix', 'deniedIps', 'faults', 'keep', 'baseUrl', 'fetch'];
    const nothing = Object.fromEntries(names.map((name) => [name, undefined]));
    const given = { startAt: 7, seed: 'a' };
    expect(read({ ...nothing, ...given })).toEqual(read(given));
  });

  it('speed is 1 by default with a real clock, and ignored with a virtual one', () => {
    expect(read({ clock: 'real' }).speed).toBe(1);
    expect(read({ clock: 'real', speed: 0.5 }).speed).toBe(0.5);
    expect(read({ clock: 'virtual', speed: 1 }).speed).toBe(undefined);
  });

  it('seed becomes text, headerPrefix lower-case, and baseUrl loses its trailing slashes', () => {
    expect(read({ seed: 7, headerPrefix: 'X-Own-2', baseUrl: 'https://api.example/a//' })).toMatchObject({
      seed: '7',
      headerPrefix: 'x-own-2',
      baseUrl: 'https://api.example/a',
    });
  });

  it.each([
    [{ startAt: 0 }],
    [{ startAt: LAST }],
    [{ headerPrefix: 'a' }],
    [{ headerPrefix: 'acme-a-1' }],
    [{ hangAfterMs: 2 ** 31 - 1, bodyTimeoutMs: 2 ** 31 - 1 }],
  ])('the options %j are accepted', (options) => {
    expect(read(options)).toMatchObject(options);
  });
});

describe('invalid options of createEmulator', () => {
  const START_AT = 'startAt must be milliseconds since the epoch, before the year 10000';
  const PREFIX = 'headerPrefix must be letters, digits and single hyphens, like x-service';
  /** A row for each value of an option. */
  const rows = (message: string, name: string, ...values: unknown[]): [string, unknown][] =>
    values.map((value) => [message, { [name]: value }]);

  it.each<[message: string, options: unknown]>([
    ['options must be an object', null],
    ["Unknown option 'seeds' in createEmulator. Did you mean 'seed'?", { seeds: 1 }],
    ["Unknown option 'clocks' in createEmulator. Did you mean 'clock'?", { clocks: undefined }],
    ["Unknown option 'byte' in keep. Did you mean 'bytes'?", { keep: { byte: 1 } }],
    ["clock must be 'virtual' or 'real'", { clock: 'fast' }],
    ...rows(START_AT, 'startAt', -1, 1.5, LAST + 1, 8.64e15, new Date()),
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, '2'].map((speed): [string, unknown] => [
      'speed must be above 0',
      { clock: 'real', speed },
    ]),
    ['speed needs a real clock', { speed: 2 }],
    ['speed needs a real clock', { clock: 'virtual', speed: 0.5 }],
    ...rows('seed must be a string or a number', 'seed', {}, true),
    ...rows('fetch must be a function', 'fetch', 'yes'),
    ...rows(PREFIX, 'headerPrefix', '', 'x-', '-x', 'x--y', 'x y', ['x-service'], 7),
    ...rows('deniedIps must be an array of addresses', 'deniedIps', '127.0.0.1'),
    ...rows('baseUrl must be like https://api.example', 'baseUrl', 'api.example', '', 7),
    ...rows('apiKey must be acct_ and at least 8 letters or digits', 'apiKey', 'plat_12345678', 'acct_1', 'secret', ''),
    ...rows('account must be an object', 'account', null, 7),
    ['plan must be one of FREE', { account: { plan: 'GOLD' } }],
    ...rows('faults must be an object', 'faults', 7),
    ['faults.drop.rate must be from 0 to 1', { faults: { drop: '0.5' } }],
    ...rows('keep must be an object', 'keep', 'x', null),
    ...rows('allowLoopback must be true or false', 'allowLoopback', 'no'),
    ...rows('renewTimestamp must be true or false', 'renewTimestamp', 1),
    ...rows('concurrency must be a positive integer', 'concurrency', 0),
    ...rows('maxPending must be a positive integer', 'maxPending', 1.5),
    ...rows('maxBodyBytes must be a positive integer', 'maxBodyBytes', -1),
    ...rows('hangAfterMs must be at most 2147483647', 'hangAfterMs', 2 ** 31),
    ...rows('bodyTimeoutMs must be at most 2147483647', 'bodyTimeoutMs', 2 ** 31),
    ['attempts must be a positive integer', { keep: { attempts: 0 } }],
    ['attempts must be a positive integer', { keep: { attempts: 1.5 } }],
    ['delivered must be a positive integer', { keep: { delivered: 0 } }],
    ['dead must be a positive integer', { keep: { dead: '1' } }],
    ['bytes must be a positive integer', { keep: { bytes: 0 } }],
  ])('the error "%s" is thrown for the options %o', (message, options) => {
    const refusal = expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) });
    expect(() => createEmulator(options as EmulatorOptions)).toThrow(refusal);
  });
});
