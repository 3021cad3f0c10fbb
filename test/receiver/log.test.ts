import { Writable } from 'node:stream';
import Fastify from 'fastify';
import pino from 'pino';
import {
  createReceiver,
  type Logger,
  memoryStore,
  type Outcome,
  PermanentError,
  type ReceiverOptions,
  verify,
  WebhookError,
} from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import winston from 'winston';
import { createLog } from '../../src/receiver/log.js';
import { framework } from '../integration/framework.js';
import { aDelivery, aRequest, aStore, inShort, now, refusal, SECRET } from '../support/deliveries.js';
import { failing, throwing, trapped } from './traps.js';

const OTHER = 'the secret of another endpoint';
const MINUTE = 60_000;

const aReceiver = (options: Partial<ReceiverOptions> = {}) =>
  createReceiver({ secret: SECRET, now, on: { '*': () => {} }, ...options });

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type Call = [level: (typeof LEVELS)[number], message: string, fields?: Record<string, unknown>];

/** A logger of the plainest kind, and its calls. */
function aLogger() {
  const calls: Call[] = [];
  const method = (level: Call[0]) => (message: string, fields?: object) => calls.push([level, message, { ...fields }]);
  const logger = Object.fromEntries(LEVELS.map((level) => [level, method(level)])) as unknown as Logger;
  return { logger, calls };
}

/** What is used of Nest. */
interface Nest {
  ConsoleLogger: new (options: object) => object;
  Logger: { new (context?: string): Logger; overrideLogger(logger: object): void };
}

const NESTS = ['nest-11', 'nest-12'].flatMap((folder) => {
  const isInstalled = framework('reflect-metadata', folder) !== undefined; // which Nest needs first
  const nest = isInstalled ? framework<Nest>('@nestjs/common', folder) : undefined;
  return nest ? [{ version: folder.replace('nest-', ''), Logger: nest.Logger, ConsoleLogger: nest.ConsoleLogger }] : [];
});

describe('what a receiver without a logger prints to the console', () => {
  const printed: unknown[][] = [];

  beforeEach(() => {
    printed.length = 0;
    for (const level of [...LEVELS, 'log'] as const)
      vi.spyOn(console, level).mockImplementation((...args) => void printed.push([level, ...args]));
  });

  it('a refusal is one warning of one line, which ends with the code', async () => {
    await aReceiver()(aRequest({ secret: OTHER }));
    expect(printed).toEqual([
      ['warn', expect.stringMatching(/^service-webhooks: The signature does not match.*\(signature_mismatch\)$/)],
    ]);
  });

  it('a handler that throws gives one error, with the event and the indented stack', async () => {
    const request = aRequest({ headers: { 'x-service-attempt': '3' } });
    await aReceiver({ on: failing(new RangeError('full\nservice-webhooks: forged')) })(request);
    expect(printed).toHaveLength(1);
    const [[level, text] = []] = printed as string[][];
    const [entry, ...stack] = text?.split('\n') ?? [];
    expect(level).toBe('error');
    expect(entry).toMatch(
      /^service-webhooks: stt\.completed evt_1, attempt 3: Your handler failed.*\(handler_failed\)$/,
    );
    expect(stack.slice(0, 2)).toEqual(['  RangeError: full', '  service-webhooks: forged']);
    expect(stack.every((line) => line.startsWith('  '))).toBe(true);
    expect(stack.join()).toContain('log.test.ts');
  });

  it('an acknowledged delivery prints nothing', async () => {
    const receiver = aReceiver();
    await receiver(aRequest());
    await receiver(aRequest());
    await aReceiver({ on: failing(new PermanentError('no such clip')) })(aRequest());
    expect(printed).toEqual([]);
  });

  it('`logger: false` prints nothing', async () => {
    vi.stubEnv('pm_id', '0');
    const receiver = aReceiver({ logger: false, on: failing(new Error('full')) });
    await receiver(aRequest());
    await receiver(aRequest({ secret: OTHER }));
    expect(printed).toEqual([]);
  });

  it.each([
    ['pm_id', '0', 'PM2'],
    ['AWS_LAMBDA_FUNCTION_NAME', 'webhooks', 'AWS Lambda'],
  ])('a store of this process alone gives a warning where %s is set', (variable, value, runner) => {
    vi.stubEnv(variable, value);
    aReceiver();
    expect(printed).toEqual([['warn', expect.stringContaining(`${runner} runs several processes`)]]);
    expect(printed[0]?.[1]).toContain('Pass a shared store as dedupe: { store, name }.');
  });

  it.each<[string, ReceiverOptions['dedupe']]>([
    ['a shared store', { store: aStore(), name: 'clips' }],
    ['no dedupe', false],
  ])('a receiver with %s gives no warning about several processes', (_, dedupe) => {
    vi.stubEnv('pm_id', '0');
    aReceiver({ dedupe: dedupe && { ...dedupe, store: { ...memoryStore(), scope: 'shared' } } });
    expect(printed).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, ''],
    ['null', null, '\n  null'],
    ['text', 'no space', '\n  no space'],
    ['an object without a stack', { code: 'ENOSPC' }, '\n  [object Object]'],
    [
      'an error with causes',
      withStack('fetch failed', withStack('connect ECONNREFUSED', 'no route')),
      '\n  Error: fetch failed\n  Caused by: Error: connect ECONNREFUSED\n  Caused by: no route',
    ],
    ['an error that is its own cause', circular(), `\n  Error: again${'\n  Caused by: Error: again'.repeat(4)}`],
    ['an error whose cause cannot be read', unreadableCause(), '\n  Error: full'],
    ['an object that cannot be read', trapped(), '\n  The thrown value cannot be printed.'],
  ])('a handler that throws %s gives one error entry', async (_, thrown, end) => {
    await aReceiver({ on: failing(thrown) })(aRequest());
    expect(printed).toEqual([['error', expect.stringMatching(/\(handler_failed\)/)]]);
    expect(String(printed[0]?.[1]).split('(handler_failed)')[1]).toBe(end);
  });
});

describe('the entries that a receiver writes to a logger', () => {
  it('a logger that does not print a level gets no entry of it, and no child', async () => {
    const { logger, calls } = aLogger();
    const child = vi.fn(() => logger);
    const isLevelEnabled = vi.fn((level: string) => level !== 'debug' && level !== 'info');
    const receiver = aReceiver({ logger: { ...logger, child, isLevelEnabled } as Logger });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(child).not.toHaveBeenCalled();
    await receiver(aRequest({ secret: OTHER }));
    expect(calls.map(([level]) => level)).toEqual(['warn']);
  });

  it.each<[string, () => boolean]>([
    ['throws', throwing],
    ['refuses every level', () => false],
  ])('warnings reach a logger whose isLevelEnabled() %s', async (_, isLevelEnabled) => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger: { ...logger, isLevelEnabled } });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    await receiver(aRequest({ secret: OTHER }));
    expect(calls.filter(([level]) => level === 'warn')).toHaveLength(1);
  });

  it('a logger without child() gets the fields as its second argument, with the error', async () => {
    const { logger, calls } = aLogger();
    const thrown = new RangeError('full');
    await aReceiver({ logger, on: failing(thrown) })(aRequest({ headers: { 'x-service-attempt': '3' } }));
    const event = { eventId: 'evt_1', eventType: 'stt.completed', attempt: 3 };
    const fields = { code: 'handler_failed', ...event, err: thrown, stack: thrown.stack };
    expect(calls).toEqual([['error', expect.stringMatching(/^service-webhooks: .+ RangeError: full$/), fields]]);
  });

  it.each<[string, (write: (line: string) => void) => Logger]>([
    ['pino', (write) => pino({ level: 'debug' }, { write })],
    ['Fastify', (write) => Fastify({ logger: { level: 'debug', stream: { write } } }).log],
  ])('each entry is one line of JSON with the fields and the error, by %s', async (_, create) => {
    const lines: string[] = [];
    const logger = create((line) => lines.push(line));
    await aReceiver({ logger, on: failing(new RangeError('full')) })(aRequest());
    await aReceiver({ logger })(aRequest());
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 50,
        code: 'handler_failed',
        eventId: 'evt_1',
        eventType: 'stt.completed',
        err: { type: 'RangeError', message: 'full', stack: expect.stringContaining('log.test.ts') },
        msg: expect.stringMatching(/^service-webhooks: stt\.completed evt_1: Your handler failed/),
      },
      { level: 20, code: 'handled', msg: 'service-webhooks: stt.completed evt_1: The delivery is handled. (handled)' },
    ]);
  });

  it('each entry is one line of JSON with the error in words and its stack, by winston', async () => {
    const lines: string[] = [];
    const stream = new Writable({
      write(line, _encoding, done) {
        lines.push(String(line));
        done();
      },
    });
    const logger = winston.createLogger({ level: 'debug', transports: new winston.transports.Stream({ stream }) });
    await aReceiver({ logger, on: failing(new RangeError('full')) })(aRequest());
    await aReceiver({ logger, on: failing(new PermanentError('no such clip')) })(aRequest());
    await aReceiver({ logger })(aRequest());
    const event = { eventId: 'evt_1', eventType: 'stt.completed' };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'error',
        code: 'handler_failed',
        ...event,
        message: expect.stringMatching(/ RangeError: full$/),
        stack: expect.stringMatching(/^RangeError: full\n +at .*log\.test\.ts/),
      },
      { level: 'info', code: 'permanent_failure', ...event, message: expect.stringContaining('no such clip') },
      { level: 'debug', code: 'handled', ...event, message: expect.stringContaining('The delivery is handled.') },
    ]);
  });

  it.each(NESTS)(
    'each entry has its message and its fields, by Nest $version',
    async ({ Logger: NestLogger, ...nest }) => {
      const printed = { stdout: '', stderr: '' };
      for (const stream of ['stdout', 'stderr'] as const) {
        vi.spyOn(process[stream], 'write').mockImplementation((text) => {
          printed[stream] += text;
          return true;
        });
      }
      NestLogger.overrideLogger(new nest.ConsoleLogger({ json: true }));
      const logger = new NestLogger('webhooks');
      await aReceiver({ logger, on: failing(new RangeError('full')) })(aRequest());
      await aReceiver({ logger })(aRequest({ secret: OTHER }));
      vi.restoreAllMocks();
      // Nest 11 has the fields as an entry of their own, Nest 12 as the field `params`.
      const partsOf = (lines: string) =>
        lines
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
          .flatMap(({ message, params, ...entry }) =>
            [message, ...(params ? [params] : [])].map((of) => ({ ...entry, of })),
          );
      const fields = { code: 'handler_failed', eventId: 'evt_1', eventType: 'stt.completed' };
      expect(partsOf(printed.stderr)).toMatchObject([
        { level: 'error', context: 'webhooks', of: expect.stringMatching(/^service-webhooks: .+ RangeError: full$/) },
        { level: 'error', context: 'webhooks', of: { ...fields, err: expect.stringContaining('log.test.ts') } },
      ]);
      expect(partsOf(printed.stdout)).toMatchObject([
        { level: 'warn', context: 'webhooks', of: expect.stringMatching(/\(signature_mismatch\)$/) },
        { level: 'warn', context: 'webhooks', of: { code: 'signature_mismatch' } },
      ]);
    },
  );

  it.each<[string, () => unknown]>([
    ['throws', throwing],
    ['rejects', async () => throwing()],
  ])('a logger whose methods %s changes no answer', async (_, write) => {
    const receiver = aReceiver({ logger: { error: write, warn: write, debug: write } });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(inShort(await receiver(aRequest({ secret: OTHER })))).toBe('401 signature_mismatch');
    await new Promise(setImmediate); // Vitest fails for a rejection that nothing handles
  });

  it('a logger with only error() and warn() gets no entries of other levels', async () => {
    const { logger, calls } = aLogger();
    const { error, warn } = logger;
    const receiver = aReceiver({ logger: { error, warn } });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    await receiver(aRequest({ secret: OTHER }));
    expect(calls.map(([level]) => level)).toEqual(['warn']);
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'logger must be an object'],
    ['true', true, 'logger must be an object'],
    ['an object without error()', { warn() {} }, 'logger has no method error()'],
    ['an object without warn()', { error() {} }, 'logger has no method warn()'],
  ])('a logger that is %s is refused', (_, logger, problem) => {
    const { code, message } = refusal(() => aReceiver({ logger: logger as Logger }));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining(problem)]);
  });

  it.each<[string, Call[0], Partial<ReceiverOptions>]>([
    ['handled', 'debug', {}],
    ['ignored', 'warn', { on: {} }],
    ['permanent_failure', 'info', { on: failing(new PermanentError('no such clip')) }],
    ['handler_failed', 'error', { on: failing(new Error('full')) }],
    ['signature_mismatch', 'warn', { secret: OTHER }],
    ['unknown_version', 'warn', {}],
  ])('an entry with the code %s has the level %s', async (code, level, options) => {
    const { logger, calls } = aLogger();
    const version = code === 'unknown_version' ? { event: { version: '2027-01-01' } } : {};
    await aReceiver({ logger, ...options })(aRequest(version));
    expect(calls.map(([at, , fields]) => [at, fields?.['code']])).toContainEqual([level, code]);
  });

  it('the first event of each type without a handler is a warning that names the fix, and later ones are for debugging', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger, on: { 'stt.failed': () => {} } });
    for (const type of ['stt.completed', 'stt.completed', 'export.failed', 'stt.failed', 'stt.completed']) {
      await receiver(aRequest({ event: { type } }));
    }
    const warnings = calls.filter(([level]) => level === 'warn');
    expect(warnings.map(([, message]) => message.replace(/^.*?: .*?: /, ''))).toEqual(
      ['stt.completed', 'export.failed'].map((type) =>
        expect.stringContaining(
          `No handler for ${type}: add it or '*' to on. The event counts as done, and the service does not retry it.`,
        ),
      ),
    );
    expect(calls.filter(([level, , fields]) => level === 'debug' && fields?.['code'] === 'ignored')).toHaveLength(2);
  });

  it('the warning about a type that is new to the library offers only the handler for every type', async () => {
    const { logger, calls } = aLogger();
    await aReceiver({ logger, on: {} })(aRequest({ event: { type: 'stt.started\u001b' } }));
    expect(calls.map(([, message]) => message)).toEqual([expect.stringContaining(`": add '*' to on.`)]);
    expect(calls.join()).not.toContain('\u001b');
  });

  it('a sender that makes up types gets 100 warnings, and a known type still gets its own', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger, on: {} });
    for (let made = 0; made < 150; made += 1) await receiver(aRequest({ event: { type: `made.up.${made}` } }));
    await receiver(aRequest({ event: { type: 'export.failed' } }));
    const warnings = calls.filter(([level]) => level === 'warn');
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)?.[1]).toContain('No handler for export.failed');
  });

  it('a made-up type of great length is neither logged as a warning nor remembered', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger, on: {} });
    for (const length of [120, 121]) await receiver(aRequest({ event: { type: 'x'.repeat(length) } }));
    expect(calls.map(([level]) => level)).toEqual(['warn', 'debug']);
  });

  it('the entry of a failed store has the error', async () => {
    const { logger, calls } = aLogger();
    const down = new Error('connection refused');
    const store = { ...aStore(), claim: () => Promise.reject(down) };
    await aReceiver({ logger, dedupe: { store, name: 'clips' } })(aRequest());
    expect(calls.map(([level, , fields]) => [level, fields?.['code']])).toEqual([
      ['error', 'store_error:claim'],
      ['error', 'store_unavailable'],
    ]);
    expect(calls[0]?.[2]?.['err']).toBe(down);
  });
});

describe('the log entry of an outcome', () => {
  const delivery = verify({ ...aDelivery(), secret: SECRET, now });
  const cause = new Error('no disk');
  const dead = { kind: 'dead_letter', type: 'stt.completed', reason: 'no disk', name: 'clips', delivery } as const;

  it.each<[string, Call[0], string, string, Outcome]>([
    [
      'a handler at the deadline',
      'warn',
      'handler_timeout',
      'Your handler is still running. It goes on. (handler_timeout)',
      {
        kind: 'past_deadline',
        delivery,
        error: new WebhookError('handler_timeout', { message: 'Your handler is still running.', hint: 'It goes on.' }),
      },
    ],
    [
      'a handler that fails after the deadline',
      'error',
      'late_result',
      'Your handler or route ended after its delivery was answered: failed. (late_result) Error: no disk',
      { kind: 'late_result', delivery, result: 'failed', error: new WebhookError('handler_failed', { cause }) },
    ],
    [
      'a handler that ends after the deadline',
      'info',
      'late_result',
      'Your handler or route ended after its delivery was answered: handled. (late_result)',
      { kind: 'late_result', delivery, result: 'handled' },
    ],
    [
      'a failed call of the store',
      'error',
      'store_error:release',
      'The dedupe store failed at release(). (store_error:release) Error: no disk',
      { kind: 'store_error', delivery, operation: 'release', error: cause },
    ],
    [
      'a lost lease',
      'warn',
      'lease_lost',
      'Another receiver claimed the event, so that its handler may run twice: this process was paused, or could not reach the store, for longer than leaseMs. (lease_lost)',
      { kind: 'lease_lost', delivery },
    ],
    [
      'other content of the event',
      'warn',
      'payload_mismatch',
      'The event was delivered before with other content, and is treated as the same event. (payload_mismatch)',
      { kind: 'payload_mismatch', delivery },
    ],
    [
      'another Idempotency-Key',
      'warn',
      'idempotency_key_mismatch',
      'The event was delivered before with another Idempotency-Key. The signed event id decides: nothing is lost. (idempotency_key_mismatch)',
      { kind: 'idempotency_key_mismatch', delivery },
    ],
    [
      'another version of the event',
      'warn',
      'unknown_version',
      'The event has another version than 2026-07-11, which the types describe. Branch on event.version. (unknown_version)',
      { kind: 'unknown_version', delivery },
    ],
    [
      'a dead letter after 1 attempt',
      'error',
      'dead_letter',
      'The delivery is a dead letter after 1 attempt. Remove the cause, then retry or discard it (npx service-webhooks-cli queue). Its reason: no disk (dead_letter)',
      { ...dead, attempts: 1 },
    ],
  ])('the entry of %s has the level %s and the code %s', (_, level, code, text, outcome) => {
    const { logger, calls } = aLogger();
    createLog(logger).outcome(outcome);
    expect(calls).toEqual([
      [level, `service-webhooks: stt.completed evt_1: ${text}`, expect.objectContaining({ code, eventId: 'evt_1' })],
    ]);
  });

  it.each<[number, string, Outcome]>([
    [1, 'failure before a delivery was verified', { kind: 'failed', error: new WebhookError('secret_unavailable') }],
    [2, 'failure of a handler', { kind: 'failed', delivery, error: new WebhookError('handler_failed') }],
    [1, 'failed call of the store', { kind: 'store_error', delivery, operation: 'claim', error: cause }],
    [1, 'lost lease', { kind: 'lease_lost', delivery }],
    [1, 'unknown version', { kind: 'unknown_version', delivery }],
    [2, 'dead letter', { ...dead, attempts: 1 }],
  ])('%i of 2 entries in a minute is written for a %s', (written, _, outcome) => {
    vi.useFakeTimers();
    const { logger, calls } = aLogger();
    const log = createLog(logger);
    for (let i = 0; i < 2; i += 1) log.outcome(outcome);
    expect(calls).toHaveLength(written);
  });

  it('the warning about several processes has a code', () => {
    vi.stubEnv('pm_id', '0');
    const { logger, calls } = aLogger();
    aReceiver({ logger });
    expect(calls).toEqual([['warn', expect.stringContaining('PM2 runs several'), { code: 'several_processes' }]]);
  });
});

describe('a log entry of a receiver that holds text of a sender', () => {
  const logged = async (id: string, tenant?: string) => {
    const { logger, calls } = aLogger();
    const secret = tenant === undefined ? SECRET : { [tenant]: SECRET };
    await aReceiver({ logger, secret, on: failing('full') })(aRequest({ event: { id } }));
    const [[, text, fields] = []] = calls;
    return { text: text?.slice(0, text.indexOf(': Your handler failed')), fields };
  };

  it.each<[string, string, string | undefined, string, string]>([
    [
      'control characters are escaped',
      'evt_1\nservice-webhooks: forged\u001b[2J\u2028\u202e',
      undefined,
      '"evt_1\\nservice-webhooks: forged\\u001b[2J\\u2028\\u202e"',
      'evt_1\\nservice-webhooks: forged\\u001b[2J\\u2028\\u202e',
    ],
    ['a tenant stays on its line', 'evt_1', 'acme\nforged', 'evt_1 of "acme\\nforged"', 'evt_1'],
    [
      'an id of several words is quoted, so that it names no tenant',
      'evt_1\\" of "globex": Your handler',
      'acme',
      '"evt_1\\\\\\" of \\"globex\\": Your handler" of acme',
      'evt_1\\" of "globex": Your handler',
    ],
    [
      'an id is cut after 120 characters',
      `evt_${'x'.repeat(5_000)}`,
      undefined,
      `evt_${'x'.repeat(116)}`,
      `evt_${'x'.repeat(116)}`,
    ],
  ])('%s', async (_, id, tenant, shown, eventId) => {
    const { text, fields } = await logged(id, tenant);
    expect(text).toBe(`service-webhooks: stt.completed ${shown}`);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    expect(fields).toMatchObject({ eventId, ...(tenant !== undefined && { tenant: tenant.replace('\n', '\\n') }) });
  });
});

describe('many refusals of a receiver in its log', () => {
  beforeEach(() => void vi.useFakeTimers());

  const textsOf = (calls: readonly Call[]) => calls.map(([, message]) => message.replace(/^.*\((\w+)\)$/, '$1'));

  it('the first refusal of each code in a minute is logged, and then a count', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger });
    for (let i = 0; i < 5; i += 1) await receiver(aRequest({ secret: OTHER }));
    for (let i = 0; i < 2; i += 1) await receiver({ ...aRequest(), headers: {} });
    await receiver({ ...aRequest(), method: 'GET' });
    expect(textsOf(calls)).toEqual(['signature_mismatch', 'missing_signature', 'method_not_allowed']);

    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(calls.slice(3).map(([, message]) => message)).toEqual([
      'service-webhooks: 4 more in a minute. (signature_mismatch)',
      'service-webhooks: 1 more in a minute. (missing_signature)',
    ]);
    expect(calls.slice(3).map(([level, , fields]) => [level, fields?.['code']])).toEqual([
      ['warn', 'signature_mismatch'],
      ['warn', 'missing_signature'],
    ]);
  });

  it('the first refusal of the next minute is logged again', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger });
    await receiver(aRequest({ secret: OTHER }));
    await vi.advanceTimersByTimeAsync(MINUTE);
    await receiver(aRequest({ secret: OTHER }));
    expect(textsOf(calls)).toEqual(['signature_mismatch', 'signature_mismatch']);
  });

  it('each failure of a handler is logged, however many there are', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger, on: failing('full') });
    for (let i = 0; i < 3; i += 1) await receiver(aRequest({ event: { id: `evt_${i}` } }));
    expect(calls.map(([level, , fields]) => [level, fields?.['eventId']])).toEqual([
      ['error', 'evt_0'],
      ['error', 'evt_1'],
      ['error', 'evt_2'],
    ]);
  });
});

function withStack(message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { stack: `Error: ${message}` });
}

function circular(): Error {
  const error = withStack('again', undefined);
  return Object.assign(error, { cause: error });
}

function unreadableCause(): Error {
  const get = () => {
    throw new Error('not to be read');
  };
  return Object.defineProperty(withStack('full', undefined), 'cause', { get });
}
