import { createReceiver, memoryStore, type ReceiverOptions } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, bodyOf, inShort, NOW, now, refusal, SECRET } from './support/deliveries.js';

const HOUR = 3_600_000;
const noop = () => {};

const refused = (options: unknown) => refusal(() => createReceiver(options as ReceiverOptions));
const refusedWith = (changes: Record<string, unknown>) => refused({ secret: SECRET, ...changes });

/** A store that has all methods but one. */
const storeWithout = (method: string) => ({ ...memoryStore(), [method]: undefined });

const NOT_POSITIVE_INTEGERS = [
  0,
  -0,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  '1',
  null,
  true,
  [1],
  {},
  1n,
];

describe('a receiver is not made', () => {
  it.each([undefined, null, 'secret', 42, true, noop])('without options: %j', (options) => {
    expect(['invalid_option', 'invalid_secret']).toContain(refused(options).code);
  });

  it.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', '   '],
    ['a line feed', '\n'],
    ['padded in front', ` ${SECRET}`],
    ['padded behind', `${SECRET} `],
    ['padded with a line feed', `${SECRET}\n`],
    ['padded with a tab', `\t${SECRET}`],
    ['padded with a no-break space', `${SECRET}\u00a0`],
    ['padded with a byte order mark', `\ufeff${SECRET}`],
    ['empty bytes', new Uint8Array(0)],
    ['an empty Buffer', Buffer.alloc(0)],
    ['an empty list', []],
    ['a list with an empty one', [SECRET, '']],
    ['a list with a padded one', [SECRET, `${SECRET} `]],
    ['a list with undefined', [undefined]],
    ['a list with null', [null, SECRET]],
    ['a list with a hole', new Array(1)],
    ['a list in a list', [[SECRET]]],
    ['a number', 42],
    ['false', false],
    ['an object', { secret: SECRET }],
    ['an ArrayBuffer', new ArrayBuffer(8)],
    ['a Set', new Set([SECRET])],
    ['a promise', Promise.resolve(SECRET)],
  ])('with a secret that is %s', (_, secret) => {
    const error = refusedWith({ secret });
    expect(error.code).toBe('invalid_secret');
    expect(error.hint).toBe('Is it set? No spaces?');
    expect(`${error.message}${error.hint}${error.stack}`).not.toContain(SECRET);
  });

  it.each<[string, readonly unknown[]]>([
    [
      'toleranceSeconds',
      [Number.NaN, 0, -0, -300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '300', null, true, [300], {}],
    ],
    ['legacy', [true, false, null, '', 'ACCEPT', 'accepted', 'rejected', 1, ['accept'], {}]],
    [
      'headerPrefix',
      ['', ' ', 'x service', '-x', 'x-', 'x--y', 'x_y', 'x:', 'é', 'x\n', '\nx', null, 5, true, ['x-service'], {}],
    ],
    ['now', [null, 0, NOW, 'now', {}, new Date(NOW)]],
    ['maxBodyBytes', NOT_POSITIVE_INTEGERS],
    ['deadlineMs', NOT_POSITIVE_INTEGERS],
    ['observe', [null, 'log', {}, [], true]],
    ['on', [null, 'log', 42, true]],
  ])('with a wrong %s', (option, values) => {
    for (const value of values) {
      const error = refusedWith({ [option]: value });
      expect(error.code, `${typeof value} ${String(value)}`).toBe('invalid_option');
      expect(error.message).toContain(`invalid_option: ${option}`);
      expect(error.hint).not.toBe('');
    }
  });

  it.each([
    'constructor',
    'toString',
    'hasOwnProperty',
    '__proto__',
    'STT.COMPLETED',
    'stt.completed ',
    'stt',
    'stt.*',
    '**',
    '',
    'error',
    '0',
  ])('with a handler for %j, which is no event type', (type) => {
    const on = Object.defineProperty({}, type, { value: noop, enumerable: true });
    const error = refusedWith({ on });
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain(`on['${type}']`);
  });

  it.each([null, 'log', {}, [], true, 0, Promise.resolve()])('with a handler that is no function: %j', (handler) => {
    for (const type of ['stt.completed', '*']) {
      const error = refusedWith({ on: { [type]: handler } });
      expect(error.code).toBe('invalid_option');
      expect(error.message).toContain(`on['${type}'] must be a function`);
    }
  });

  it('with handlers in a Map, of which none would ever be called', () => {
    const { message } = refusedWith({ on: new Map([['stt.completed', noop]]) });
    expect(message).toBe('invalid_option: on must be an object');
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['text', 'redis'],
    ['a store itself', memoryStore()],
    ['a function', () => memoryStore()],
  ])('with dedupe that is %s, which would leave it to a private memory', (_, dedupe) => {
    const error = refusedWith({ dedupe });
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain('dedupe');
  });

  it.each<[string, readonly unknown[]]>([
    [
      'store',
      [undefined, null, 'redis', {}, [], noop, ...['claim', 'extend', 'complete', 'release'].map(storeWithout)],
    ],
    ['name', ['', ' ', 'a b', 'a:b', 'é', 'a\n', 'x'.repeat(65), null, 5, ['a'], {}]],
    ['key', ['', 'header', 'event_id', 'constructor', null, 5, ['event-id'], {}]],
    ['leaseMs', NOT_POSITIVE_INTEGERS],
    ['retainMs', [...NOT_POSITIVE_INTEGERS, 1, 72, 6 * HOUR - 1]],
    ['onStoreError', ['', 'ignore', 'continue', null, true, noop]],
  ])('with a wrong dedupe.%s', (option, values) => {
    for (const value of values) {
      const error = refusedWith({ dedupe: { store: memoryStore(), [option]: value } });
      expect(error.code, `${typeof value} ${String(value)}`).toBe('invalid_option');
      expect(error.message).toContain(option);
    }
  });

  it.each([
    ['options must be an object', null],
    ['dedupe must be an object', { secret: SECRET, dedupe: null }],
    ['key must be event-id or idempotency-key', { secret: SECRET, dedupe: { store: memoryStore(), key: 'body' } }],
    ['onStoreError must be refuse or process', { secret: SECRET, dedupe: { store: memoryStore(), onStoreError: 1 } }],
    ['legacy must be reject or accept', { secret: SECRET, legacy: true }],
  ])('and says what to mend: %s', (problem, options) => {
    expect(refused(options).message).toBe(`invalid_option: ${problem}`);
  });

  it('and says which method a store lacks', () => {
    for (const method of ['claim', 'extend', 'complete', 'release']) {
      expect(refusedWith({ dedupe: { store: storeWithout(method) } }).message).toContain(`${method}()`);
    }
  });
});

describe('a receiver is made', () => {
  it('with every option undefined, as with none: the defaults hold', async () => {
    const handler = vi.fn();
    const options: ReceiverOptions = {
      secret: SECRET,
      on: { 'stt.completed': handler, 'stt.failed': undefined, '*': undefined },
      dedupe: undefined,
      maxBodyBytes: undefined,
      deadlineMs: undefined,
      observe: undefined,
      headerPrefix: undefined,
      legacy: undefined,
      toleranceSeconds: undefined,
      now: undefined,
    };
    const receiver = createReceiver(options);
    const at = Date.now();
    expect(inShort(await receiver(aRequest({ at })))).toBe('200 handled');
    expect(inShort(await receiver(aRequest({ at })))).toBe('200 duplicate');
    expect(inShort(await receiver(aRequest({ at: at - 302_000 })))).toBe('401 timestamp_too_old');
    expect(inShort(await receiver(aRequest({ scheme: 'legacy' })))).toBe('401 legacy_not_accepted');
    expect(handler).toHaveBeenCalledOnce();
  });

  it('with every option of dedupe undefined', async () => {
    const store = aStore();
    const { receiver } = aReceiver({
      dedupe: {
        store,
        name: undefined,
        key: undefined,
        leaseMs: undefined,
        retainMs: undefined,
        onStoreError: undefined,
      },
    });
    await receiver(aRequest());
    expect(store.claims).toMatchObject([{ key: 'default:evt_1', leaseMs: 25_000, retainMs: 72 * HOUR }]);
  });

  it.each<[string, Partial<ReceiverOptions>]>([
    ['the smallest tolerance', { toleranceSeconds: Number.MIN_VALUE }],
    ['a tolerance of a year', { toleranceSeconds: 31_536_000 }],
    ['a body of one byte', { maxBodyBytes: 1 }],
    ['the largest integer for a body', { maxBodyBytes: Number.MAX_SAFE_INTEGER }],
    ['a deadline of a millisecond', { deadlineMs: 1 }],
    ['a secret of one character', { secret: 'x' }],
    ['a secret with white space inside', { secret: 'a b\tc' }],
    ['a secret that is a Buffer', { secret: Buffer.from('x') }],
    ['a secret function', { secret: async () => [SECRET] }],
    ['a header prefix of one letter', { headerPrefix: 'X' }],
    ['a header prefix of several words', { headerPrefix: 'X2-Acme9-2' }],
    ['legacy accepted', { legacy: 'accept' }],
    ['dedupe switched off', { dedupe: false }],
    ['no handlers', { on: {} }],
    ['a retention of exactly 6 h', { dedupe: { store: memoryStore(), retainMs: 6 * HOUR } }],
    ['a lease of a millisecond', { dedupe: { store: memoryStore(), leaseMs: 1 } }],
    ['a name of 64 characters', { dedupe: { store: memoryStore(), name: '!'.repeat(64) } }],
    ['a name of punctuation', { dedupe: { store: memoryStore(), name: '{a}%~/;9' } }],
    ['a key function', { dedupe: { store: memoryStore(), key: ({ event }) => event.id } }],
  ])('with %s', (_, options) => {
    expect(createReceiver({ secret: SECRET, ...options })).toBeTypeOf('function');
  });

  it('with a copy of the secret: what happens to the bytes later changes nothing', async () => {
    const secret = new TextEncoder().encode(SECRET);
    const secrets = [secret];
    const { receiver } = aReceiver({ secret: secrets });
    secret.fill(0);
    secrets.pop();
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
  });

  it('without touching the store', () => {
    const store = aStore({ init: vi.fn() });
    createReceiver({ secret: SECRET, dedupe: { store } });
    expect(store.calls).toEqual([]);
    expect(store.init).not.toHaveBeenCalled();
  });

  it.each(['NODE_UNIQUE_ID', 'pm_id', 'AWS_LAMBDA_FUNCTION_NAME'])(
    'with a word of warning where a memory of one process cannot be enough: %s',
    (variable) => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(noop);
      vi.stubEnv(variable, '0');
      createReceiver({ secret: SECRET });
      expect(warn).toHaveBeenCalledOnce();
      expect(String(warn.mock.calls[0])).toContain('shared store');
      createReceiver({ secret: SECRET, dedupe: false });
      createReceiver({ secret: SECRET, dedupe: { store: { ...memoryStore(), scope: 'shared' } } });
      expect(warn).toHaveBeenCalledOnce();
    },
  );

  it('without a word elsewhere', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(noop);
    for (const variable of ['NODE_UNIQUE_ID', 'pm_id', 'AWS_LAMBDA_FUNCTION_NAME']) vi.stubEnv(variable, undefined);
    createReceiver({ secret: SECRET });
    expect(warn).not.toHaveBeenCalled();
  });

  it("with the vendor's header prefix, under which nothing else counts", async () => {
    const { receiver } = aReceiver({ headerPrefix: 'X-Acme' });
    const { headers, ...rest } = aRequest();
    const renamed = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('service', 'acme'), value]),
    );
    expect(inShort(await receiver({ ...rest, headers: renamed }))).toBe('200 handled');
    expect(inShort(await receiver(aRequest()))).toBe('401 missing_signature');
  });

  it('with legacy accepted, for those who ask for it', async () => {
    const { receiver, find } = aReceiver({ legacy: 'accept' });
    expect(inShort(await receiver(aRequest({ scheme: 'legacy' })))).toBe('200 handled');
    expect(find('handled').delivery.scheme).toBe('legacy');
    const late = aReceiver({ legacy: 'accept', now: () => now() + 19_171_000 });
    expect(inShort(await late.receiver(aRequest({ scheme: 'legacy', body: bodyOf() })))).toBe('401 timestamp_too_old');
  });
});
