import { createReceiver, isWebhookError, memoryStore, sign, verify, verifyAsync } from 'service-webhooks';
import { createClient } from 'service-webhooks/client';
import { webhookHandler } from 'service-webhooks/fetch';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { redisStore } from 'service-webhooks/stores/redis';
import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { explain } from 'service-webhooks-cli/explain';
import { createEmulator } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { checkChoice, checkKnownOptions, nearestName } from '../src/option-checks.js';
import { aDelivery, now, refusal, rejection, SECRET } from './support/deliveries.js';

/** What JavaScript lets a user pass. */
const wrong = (options: object) => options as never;

const secret = SECRET;
const given = { ...aDelivery(), secret, now };

describe('an option with an unknown name', () => {
  it.each<[string, string, string, () => unknown]>([
    ['the receiver', 'handlers', 'on', () => createReceiver(wrong({ secret, handlers: {} }))],
    [
      'the receiver',
      'toleranceSecond',
      'toleranceSeconds',
      () => createReceiver(wrong({ secret, toleranceSecond: 1 })),
    ],
    ['the receiver', 'deadlineMS', 'deadlineMs', () => webhookHandler(wrong({ secret, on: {}, deadlineMS: 1 }))],
    ['the receiver', 'timeout', 'deadlineMs', () => createReceiver(wrong({ secret, timeout: 1 }))],
    ['dedupe', 'retainMS', 'retainMs', () => createReceiver(wrong({ secret, dedupe: { retainMS: 1 } }))],
    ['memoryStore', 'maxEntry', 'maxEntries', () => memoryStore(wrong({ maxEntry: 1 }))],
    ['redisStore', 'keyprefix', 'keyPrefix', () => redisStore(wrong({ ioredis: {} }), wrong({ keyprefix: 'a' }))],
    ['postgresStore', 'tabel', 'table', () => postgresStore(wrong({ pg: {} }), wrong({ tabel: 'a' }))],
    ['sqliteStore', 'tabel', 'table', () => sqliteStore(wrong({ betterSqlite3: {} }), wrong({ tabel: 'a' }))],
    ['verify', 'secrets', 'secret', () => verify(wrong({ ...given, secrets: [] }))],
    ['verify', 'tolerance', 'toleranceSeconds', () => verify(wrong({ ...given, tolerance: 1 }))],
    ['sign()', 'schema', 'scheme', () => sign(wrong({ body: '{}', secret, schema: 'v2' }))],
    ['createClient', 'apikey', 'apiKey', () => createClient(wrong({ apikey: 'a' }))],
    ['createEmulator', 'seeds', 'seed', () => createEmulator(wrong({ seeds: 1 }))],
    ['explain', 'header', 'headers', () => explain(wrong({ ...given, header: {} }))],
  ])('%s refuses the option %s and suggests %s', (subject, option, nearest, call) => {
    const { code, message, hint } = refusal(call);
    expect(code).toBe('invalid_option');
    expect(message).toContain(`Unknown option '${option}' in ${subject}. Did you mean '${nearest}'?`);
    expect(hint).toBe(`Did you mean '${nearest}'?`);
  });

  it('verifyAsync rejects with the same error', async () => {
    expect((await rejection(verifyAsync(wrong({ ...given, secrets: [] })))).code).toBe('invalid_option');
  });

  it('the hint lists the known option names where none is similar', () => {
    const error = refusal(() => memoryStore(wrong({ retention: 1 })));
    expect(error.hint).toBe('It takes maxEntries, now');
  });

  it('an unknown name with the value undefined is refused too', () => {
    expect(isWebhookError(refusal(() => memoryStore(wrong({ retention: undefined }))))).toBe(true);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])(
    'the unknown name %s gets no suggestion from the prototype of objects',
    (name) => {
      const { hint } = refusal(() => checkKnownOptions('a test', { [name]: 1 }, ['leaseMs'], {}));
      expect(hint).toBe('It takes leaseMs');
    },
  );

  it('a symbol and an inherited property are ignored', () => {
    checkKnownOptions('a test', Object.assign(Object.create({ inherited: 1 }), { [Symbol('a')]: 1 }), ['leaseMs']);
  });
});

describe('nearestName for a misspelt option', () => {
  const NAMES = ['leaseMs', 'retainMs', 'store'];

  it.each<[string, string | undefined]>([
    ['leaseMs', 'leaseMs'],
    ['LEASEMS', 'leaseMs'],
    ['leasMs', 'leaseMs'],
    ['leaseMss', 'leaseMs'],
    ['laeseMs', 'leaseMs'],
    ['retaniMs', 'retainMs'],
    ['', undefined],
    ['lease', 'leaseMs'],
    ['key_prefix', undefined],
  ])('the most similar known name to %j is %s', (name, nearest) => {
    expect(nearestName(name, NAMES)).toBe(nearest);
  });

  it('no known name is similar to one of 100,000 characters', () => {
    expect(nearestName('x'.repeat(100_000), NAMES)).toBeUndefined();
  });
});

it('dedupe.leaseMs above retainMs is refused', () => {
  const hours = 3_600_000;
  const receiverWith = (lease: number) =>
    createReceiver({ secret, on: {}, dedupe: { leaseMs: lease * hours, retainMs: 6 * hours } });
  const { code, message } = refusal(() => receiverWith(7));
  expect([code, message]).toEqual(['invalid_option', expect.stringContaining('leaseMs must not be above retainMs')]);
  receiverWith(6);
});

it.each<[unknown, string]>([
  ['acept', "is 'acept'"],
  ['x'.repeat(41), 'is a string'],
  [[SECRET], 'is an array'],
  [{ secret }, 'is an object'],
  [null, 'is null'],
  [5, 'is 5'],
])('the error about a wrong option does not repeat long text or an object: %j', (value, end) => {
  const { message } = refusal(() => checkChoice('legacy', value, ['reject', 'accept']));
  expect(message).toContain(`legacy must be 'reject' or 'accept', but ${end}.`);
  expect(message).not.toContain(SECRET);
});
