import { createReceiver, memoryStore, type ReceiverOptions } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, NOW, now, refusal, SECRET } from '../support/deliveries.js';
import { answerTo } from './answers.js';

const HOUR = 3_600_000;
const noop = () => {};

const refused = (options: unknown) => refusal(() => createReceiver(options as ReceiverOptions));
const refusedWith = (changes: Record<string, unknown>) => refused({ secret: SECRET, ...changes });

/** A store that has all methods but one. */
const storeWithout = (method: string) => ({ ...memoryStore(), [method]: undefined });

const NOT_POSITIVE = [0, -0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
const NOT_POSITIVE_INTEGERS = [...NOT_POSITIVE, '1', null, true, [1], {}, 1n];

describe('wrong options of a receiver', () => {
  it.each([undefined, null, 'secret', 42, true, noop])('%j in place of the options is refused', (options) => {
    expect(['invalid_option', 'invalid_secret']).toContain(refused(options).code);
  });

  it.each<[string, unknown, string]>([
    [
      'undefined',
      undefined,
      'secret is undefined. Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set',
    ],
    ['null', null, 'secret is null.'],
    ['empty', '', 'secret is empty.'],
    ['blank', '   ', 'secret is blank.'],
    ['a line feed', '\n', 'secret is blank.'],
    ['a zero-width space', '\u200b', 'secret is blank.'],
    ['padded in front', ` ${SECRET}`, 'secret begins with a space. Trim it.'],
    ['padded behind', `${SECRET} `, 'secret ends with a space. Trim it.'],
    ['padded with a line feed', `${SECRET}\n`, 'secret ends with a line feed.'],
    ['padded with a carriage return', `${SECRET}\r`, 'secret ends with a carriage return.'],
    ['padded with a tab', `\t${SECRET}`, 'secret begins with a tab.'],
    ['padded with NUL', `${SECRET}\0`, 'secret ends with an invisible character.'],
    ['padded with a no-break space', `${SECRET}\u00a0`, 'secret ends with an invisible character.'],
    ['padded with a byte order mark', `\ufeff${SECRET}`, 'secret begins with an invisible character.'],
    ['in double quotes', `"${SECRET}"`, 'secret is in quotes. Remove the quotes.'],
    ['in single quotes', `'${SECRET}'`, 'secret is in quotes.'],
    ['a pair of quotes', '""', 'secret is in quotes.'],
    ["the text 'undefined'", 'undefined', "secret is the text 'undefined'."],
    ["the text 'null'", 'null', "secret is the text 'null'."],
    ['empty bytes', new Uint8Array(0), 'secret is empty.'],
    ['an empty Buffer', Buffer.alloc(0), 'secret is empty.'],
    ['one NUL byte', new Uint8Array(1), 'secret has only zero bytes.'],
    ['32 zero bytes', new Uint8Array(32), 'secret has only zero bytes.'],
    ['100 zero bytes', new Uint8Array(100), 'secret has only zero bytes.'],
    ['the bytes of blanks', Buffer.from('  '), 'secret is blank.'],
    ['the byte of a line feed', Buffer.from('\n'), 'secret is blank.'],
    ['padded bytes', Buffer.from(`${SECRET}\n`), 'secret ends with a line feed.'],
    ['bytes padded with NUL', Buffer.from(`${SECRET}\0`), 'secret ends with an invisible character.'],
    ['bytes in quotes', Buffer.from(`"${SECRET}"`), 'secret is in quotes.'],
    ['the bytes of undefined', Buffer.from('undefined'), "secret is the text 'undefined'."],
    ['an empty list', [], 'secret is an empty list.'],
    ['a list with an empty entry', [SECRET, ''], 'secret[1] is empty.'],
    ['a list with a padded entry', [SECRET, `${SECRET} `], 'secret[1] ends with a space.'],
    ['a list with undefined', [undefined], 'secret[0] is undefined.'],
    ['a list with null', [null, SECRET], 'secret[0] is null.'],
    ['a list with a hole', new Array(1), 'secret[0] is undefined.'],
    ['a list in a list', [[SECRET]], 'secret[0] is neither text nor bytes, but of type object.'],
    ['a number', 42, 'secret is neither text nor bytes, but of type number.'],
    ['false', false, 'secret is neither text nor bytes, but of type boolean.'],
    ['an ArrayBuffer', new ArrayBuffer(8), 'secret is neither text nor bytes, but of type object.'],
    ['a Set', new Set([SECRET]), 'secret is neither text nor bytes, but of type object.'],
    ['a promise', Promise.resolve(SECRET), 'secret is neither text nor bytes, but of type object.'],
  ])('a secret that is %s is refused', (_, secret, problem) => {
    const error = refusedWith({ secret });
    expect(error.code).toBe('invalid_secret');
    expect(error.message).toContain(problem);
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
    ['silentAfterMs', NOT_POSITIVE_INTEGERS],
    ['observe', [null, 'log', {}, [], true]],
    ['waitUntil', [null, 'waitUntil', {}, [], true, Promise.resolve(), { waitUntil: noop }]],
    ['on', [null, 'log', 42, true]],
  ])('a wrong value of %s is refused', (option, values) => {
    for (const value of values) {
      const error = refusedWith({ [option]: value });
      expect(error.code, `${typeof value} ${String(value)}`).toBe('invalid_option');
      expect(error.message).toContain(option);
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
  ])('a handler for %j is refused, since that is no event type', (type) => {
    const on = Object.defineProperty({}, type, { value: noop, enumerable: true });
    const error = refusedWith({ on });
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain(`on['${type}']`);
  });

  it.each([null, 'log', {}, [], true, 0, Promise.resolve()])('a handler that is %j is refused', (handler) => {
    for (const type of ['stt.completed', '*']) {
      const error = refusedWith({ on: { [type]: handler } });
      expect(error.code).toBe('invalid_option');
      expect(error.message).toContain(`on['${type}'] must be a function`);
    }
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['true', true],
    ['text', 'redis'],
    ['a store itself', memoryStore()],
    ['a function', () => memoryStore()],
  ])('dedupe that is %s is refused', (_, dedupe) => {
    const error = refusedWith({ dedupe });
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain('dedupe');
  });

  it.each<[string, readonly unknown[]]>([
    ['store', [null, 'redis', {}, [], noop, ...['claim', 'extend', 'complete', 'release'].map(storeWithout)]],
    ['name', ['', ' ', 'a b', 'a:b', 'é', 'a\n', 'x'.repeat(65), null, 5, ['a'], {}]],
    ['key', ['', 'header', 'event_id', 'constructor', null, 5, ['event-id'], {}]],
    ['leaseMs', [...NOT_POSITIVE_INTEGERS, 73 * HOUR]],
    ['retainMs', [...NOT_POSITIVE_INTEGERS, 1, 72, 6 * HOUR - 1]],
    ['onStoreError', ['', 'ignore', 'continue', null, true, noop]],
  ])('a wrong value of dedupe.%s is refused', (option, values) => {
    for (const value of values) {
      const error = refusedWith({ dedupe: { store: memoryStore(), [option]: value } });
      expect(error.code, `${typeof value} ${String(value)}`).toBe('invalid_option');
      expect(error.message).toContain(option);
    }
  });

  it.each<[string, object | null]>([
    ['options must be an object, but is null.', null],
    ['dedupe must be an object, but is null.', { secret: SECRET, dedupe: null }],
    ["dedupe.key must be 'event-id' or 'idempotency-key', but is 'body'.", { secret: SECRET, dedupe: { key: 'body' } }],
    ["dedupe.onStoreError must be 'refuse' or 'process', but is 1.", { secret: SECRET, dedupe: { onStoreError: 1 } }],
    ["legacy must be 'reject' or 'accept', but is true.", { secret: SECRET, legacy: true }],
    ['maxBodyBytes must be a positive integer, but is 1.5.', { secret: SECRET, maxBodyBytes: 1.5 }],
    ['on must be an object, but is null.', { secret: SECRET, on: null }],
    ['on must be an object', { secret: SECRET, on: new Map([['stt.completed', noop]]) }],
    ["on['clip'] is not an event type. WEBHOOK_EVENT_TYPES lists them.", { secret: SECRET, on: { clip: noop } }],
    ["Did you mean 'on'?", { secret: SECRET, handler: noop }],
    ["Did you mean 'on'?", { secret: SECRET, handlers: {} }],
    ["Did you mean 'logger'?", { secret: SECRET, log: console }],
    ["Did you mean 'headerPrefix'?", { secret: SECRET, prefix: 'acme' }],
    ["Did you mean 'dedupe: { store }'?", { secret: SECRET, store: memoryStore() }],
    ["Did you mean 'deadlineMs'?", { secret: SECRET, timeout: 1_000 }],
    ["Did you mean 'toleranceSeconds'?", { secret: SECRET, tolerance: 60 }],
    ...['claim', 'extend', 'complete', 'release'].map((method): [string, object] => [
      `${method}()`,
      { secret: SECRET, dedupe: { store: storeWithout(method) } },
    ]),
    ["Unknown option 'leaseMS' in dedupe. Did you mean 'leaseMs'?", { secret: SECRET, dedupe: { leaseMS: 1 } }],
    [
      "on['stt.complete'] is not an event type. Did you mean 'stt.completed'?",
      { secret: SECRET, on: { 'stt.complete': noop } },
    ],
  ])('the error message says what to do: %s', (problem, options) => {
    expect(refused(options).message).toContain(problem);
  });

  it('no error message has a secret that was passed in a wrong place', () => {
    for (const options of [SECRET, { secret: SECRET, now: SECRET }, { secret: SECRET, dedupe: SECRET }]) {
      expect(refused(options).message).not.toContain(SECRET);
    }
  });
});

describe('the options of a receiver', () => {
  it('an option that is undefined has its default', async () => {
    const handler = vi.fn();
    const on = { 'stt.completed': handler, 'stt.failed': undefined, '*': undefined };
    const names = [
      'dedupe',
      'maxBodyBytes',
      'deadlineMs',
      'observe',
      'headerPrefix',
      'legacy',
      'toleranceSeconds',
      'now',
    ];
    const none = Object.fromEntries(names.map((name) => [name, undefined]));
    const receiver = createReceiver({ ...none, secret: SECRET, on });
    const at = Date.now();
    expect(await answerTo(receiver, { at })).toBe('200 handled');
    expect(await answerTo(receiver, { at })).toBe('200 duplicate');
    expect(await answerTo(receiver, { at: at - 302_000 })).toBe('401 timestamp_too_old');
    expect(await answerTo(receiver, { scheme: 'legacy' })).toBe('401 legacy_not_accepted');
    expect(handler).toHaveBeenCalledOnce();
  });

  it('an option of dedupe that is undefined has its default', async () => {
    const store = aStore();
    const none = { name: undefined, key: undefined, leaseMs: undefined, retainMs: undefined, onStoreError: undefined };
    await aReceiver({ dedupe: { store, ...none } }).receiver(aRequest());
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
    ['a secret of random bytes that end with a line feed', { secret: Uint8Array.of(0x9f, 0x01, 0x0a) }],
    ['a secret of bytes that are control characters, as in RFC 4231', { secret: new Uint8Array(20).fill(0x0b) }],
    ['a secret with a quote on one side', { secret: '"x' }],
    ['a secret that begins with a quoted word', { secret: '"x"y' }],
    ['a secret that ends with a quoted word', { secret: 'x"y"' }],
    ['a secret of the byte DEL and a line feed', { secret: Uint8Array.of(0x7f, 0x0a) }],
    ['a secret of a byte above ASCII and a line feed', { secret: Uint8Array.of(0x9f, 0x0a) }],
    ['a dedupe key without a store', { dedupe: { key: 'idempotency-key' } }],
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
  ])('a receiver can be created with %s', (_, options) => {
    expect(createReceiver({ secret: SECRET, ...options })).toBeTypeOf('function');
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['no names', undefined, undefined],
    ["'default' and no name", 'default', undefined],
    ["no name and 'default'", undefined, 'default'],
  ])('two receivers on one memory store are refused with %s', (_, first, second) => {
    const store = memoryStore();
    createReceiver({ secret: SECRET, dedupe: { store, name: first } });
    const error = refusedWith({ dedupe: { store, name: second } });
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain('dedupe.name is missing, here or in another receiver on this store');
    expect(error.hint).toContain("such as dedupe: { store, name: 'billing' }");
  });

  it.each<[string, string | undefined, string | undefined]>([
    ["'default' twice", 'default', 'default'],
    ["no name and 'billing'", undefined, 'billing'],
    ["'billing' and no name", 'billing', undefined],
  ])('two receivers on one memory store are created with %s', (_, first, second) => {
    const store = memoryStore();
    for (const name of [first, second]) {
      expect(createReceiver({ secret: SECRET, dedupe: { store, name } })).toBeTypeOf('function');
    }
  });

  it('a store that others may share needs a name', () => {
    const shared = { ...memoryStore(), scope: 'shared' as const };
    expect(refusedWith({ dedupe: { store: shared } }).message).toContain('dedupe.name is missing');
    expect(createReceiver({ secret: SECRET, dedupe: { store: shared, name: 'default' } })).toBeTypeOf('function');
  });

  it('a later change of the bytes of the secret has no effect', async () => {
    const secret = new TextEncoder().encode(SECRET);
    const secrets = [secret];
    const { receiver } = aReceiver({ secret: secrets });
    secret.fill(0);
    secrets.pop();
    expect(await answerTo(receiver)).toBe('200 handled');
  });

  it.each<[string, Partial<ReceiverOptions>, boolean, boolean]>([
    ['handlers', { on: {} }, true, false],
    ['a queue', { queue: { name: 'clips', put: async () => 'queued' } }, true, true],
    ['neither', {}, false, false],
  ])('a receiver with %s tells an adapter what it has', (_, options, hasHandlers, hasQueue) => {
    const receiver = createReceiver({ secret: SECRET, ...options });
    expect([receiver.hasHandlers, receiver.hasQueue]).toEqual([hasHandlers, hasQueue]);
  });

  it('creating a receiver does not call its store', () => {
    const store = aStore({ init: vi.fn() });
    createReceiver({ secret: SECRET, dedupe: { store } });
    expect(store.calls).toEqual([]);
    expect(store.init).not.toHaveBeenCalled();
  });

  it('with vendor.headerPrefix, only headers with that prefix are read', async () => {
    const { receiver } = aReceiver({ headerPrefix: 'X-Acme' });
    const { headers, ...rest } = aRequest();
    const renamed = Object.entries(headers).map(([name, value]) => [name.replace('service', 'acme'), value]);
    expect(inShort(await receiver({ ...rest, headers: Object.fromEntries(renamed) }))).toBe('200 handled');
    expect(await answerTo(receiver)).toBe('401 missing_signature');
  });

  it("`legacy: 'accept'` accepts a legacy signature up to its maximum age", async () => {
    const { receiver, find } = aReceiver({ legacy: 'accept' });
    expect(await answerTo(receiver, { scheme: 'legacy' })).toBe('200 handled');
    expect(find('handled').delivery.scheme).toBe('legacy');
    const late = aReceiver({ legacy: 'accept', now: () => now() + 19_171_000 });
    expect(await answerTo(late.receiver, { scheme: 'legacy' })).toBe('401 timestamp_too_old');
  });
});
