import { Writable } from 'node:stream';
import Fastify from 'fastify';
import pino from 'pino';
import { createReceiver, type Logger, memoryStore, PermanentError, type ReceiverOptions } from 'service-webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import winston from 'winston';
import { framework } from '../integration/framework.js';
import { aRequest, aStore, inShort, now, refusal, SECRET } from '../support/deliveries.js';

const OTHER = 'the secret of another endpoint';
const MINUTE = 60_000;

const aReceiver = (options: Partial<ReceiverOptions> = {}) =>
  createReceiver({ secret: SECRET, now, on: { '*': () => {} }, ...options });

const failing = (thrown: unknown) => ({
  '*': () => {
    throw thrown;
  },
});

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

describe('without a logger, the console', () => {
  const printed: unknown[][] = [];

  beforeEach(() => {
    printed.length = 0;
    for (const level of [...LEVELS, 'log'] as const)
      vi.spyOn(console, level).mockImplementation((...args) => void printed.push([level, ...args]));
  });

  it('without a logger, the console has a refusal as one warning of one line, which ends with the code', async () => {
    await aReceiver()(aRequest({ secret: OTHER }));
    expect(printed).toEqual([
      ['warn', expect.stringMatching(/^service-webhooks: The signature does not match.*\(signature_mismatch\)$/)],
    ]);
  });

  it('without a logger, the console has a handler that threw as one error, with the event and the indented stack', async () => {
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

  it('without a logger, the console has nothing of a delivery that was handled, ignored, a duplicate or discarded', async () => {
    const receiver = aReceiver();
    await receiver(aRequest());
    await receiver(aRequest());
    await aReceiver({ on: {} })(aRequest());
    await aReceiver({ on: failing(new PermanentError('no such clip')) })(aRequest());
    expect(printed).toEqual([]);
  });

  it('without a logger, the console has nothing with logger: false', async () => {
    vi.stubEnv('pm_id', '0');
    const receiver = aReceiver({ logger: false, on: failing(new Error('full')) });
    await receiver(aRequest());
    await receiver(aRequest({ secret: OTHER }));
    expect(printed).toEqual([]);
  });

  it.each([
    ['pm_id', '0', 'PM2'],
    ['AWS_LAMBDA_FUNCTION_NAME', 'webhooks', 'AWS Lambda'],
  ])('without a logger, the console has a warning about a private store where %s is set', (variable, value, runner) => {
    vi.stubEnv(variable, value);
    aReceiver();
    expect(printed).toEqual([['warn', expect.stringContaining(`${runner} runs several processes`)]]);
    expect(printed[0]?.[1]).toContain('Pass a shared store as dedupe: { store, name }.');
  });

  it.each<[string, ReceiverOptions['dedupe']]>([
    ['a shared store', { store: aStore(), name: 'clips' }],
    ['no dedupe', false],
  ])('without a logger, the console has no such warning with %s', (_, dedupe) => {
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
      'an object that cannot be read',
      new Proxy({}, { get: () => expect.unreachable() }),
      '\n  The thrown value cannot be printed.',
    ],
  ])('without a logger, the console has an entry where the handler threw %s', async (_, thrown, end) => {
    await aReceiver({ on: failing(thrown) })(aRequest());
    expect(printed).toEqual([['error', expect.stringMatching(/\(handler_failed\)/)]]);
    expect(String(printed[0]?.[1]).split('(handler_failed)')[1]).toBe(end);
  });
});

describe('a logger', () => {
  it('a logger has the tenant of a delivery in its message and its fields, and no line of its own by it', async () => {
    const { logger, calls } = aLogger();
    await aReceiver({ logger, secret: { 'acme\nforged': SECRET }, on: failing(new Error('full')) })(aRequest());
    const [, message, fields] = calls[0] as [string, string, object];
    expect(message).toMatch(/^service-webhooks: stt\.completed evt_1 of "acme\\nforged": Your handler failed/);
    expect(fields).toMatchObject({ tenant: 'acme\\nforged' });
  });

  it('a logger has an id that is more than a word in quotes, so that it names no other tenant', async () => {
    const { logger, calls } = aLogger();
    const id = 'evt_1\\" of "globex": Your handler';
    await aReceiver({ logger, secret: { acme: SECRET }, on: failing(new Error('full')) })(aRequest({ event: { id } }));
    expect(calls[0]?.[1]).toMatch(
      /^service-webhooks: stt\.completed "evt_1\\\\\\" of \\"globex\\": Your handler" of acme: /,
    );
  });

  it('a logger without child() has the fields as second argument, and the error among them', async () => {
    const { logger, calls } = aLogger();
    const thrown = new RangeError('full');
    await aReceiver({ logger, on: failing(thrown) })(aRequest({ headers: { 'x-service-attempt': '3' } }));
    const event = { eventId: 'evt_1', eventType: 'stt.completed', attempt: 3 };
    const fields = { code: 'handler_failed', ...event, err: thrown, stack: thrown.stack };
    expect(calls).toEqual([['error', expect.stringMatching(/^service-webhooks: .+ RangeError: full$/), fields]]);
  });

  it.each<[string, (write: (line: string) => void) => Logger]>([
    ['of pino', (write) => pino({ level: 'debug' }, { write })],
    ['of Fastify', (write) => Fastify({ logger: { level: 'debug', stream: { write } } }).log],
  ])('%s has one line of JSON for each entry, with the fields and the error', async (_, create) => {
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
      { level: 20, code: 'handled', msg: 'service-webhooks: stt.completed evt_1: The delivery is handled.' },
    ]);
  });

  it('a logger of winston has one line of JSON for each entry, with the fields, the error in words and its stack', async () => {
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
    'a logger of Nest $version has the message and the fields of each entry',
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

  it('a logger that rejects or throws does no harm', async () => {
    const rejects = async () => Promise.reject(new Error('the log is full'));
    const throws = () => {
      throw new Error('the log is full');
    };
    for (const write of [rejects, throws]) {
      const answer = await aReceiver({ logger: { error: write, warn: write } })(aRequest({ secret: OTHER }));
      expect(answer.status).toBe(401);
    }
    await new Promise(setImmediate); // Vitest fails for a rejection that nothing handles
  });

  it('a logger with only error() and warn() has no entry of another level', async () => {
    const { logger, calls } = aLogger();
    const { error, warn } = logger;
    const receiver = aReceiver({ logger: { error, warn } });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    await receiver(aRequest({ secret: OTHER }));
    expect(calls.map(([level]) => level)).toEqual(['warn']);
  });

  it('a logger that throws changes no answer', async () => {
    const throws = () => {
      throw new Error('the disk is full');
    };
    const receiver = aReceiver({ logger: { error: throws, warn: throws, debug: throws } });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(inShort(await receiver(aRequest({ secret: OTHER })))).toBe('401 signature_mismatch');
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'logger must be an object'],
    ['true', true, 'logger must be an object'],
    ['without error()', { warn() {} }, 'logger has no method error()'],
    ['without warn()', { error() {} }, 'logger has no method warn()'],
  ])('%s is refused', (_, logger, problem) => {
    const { code, message } = refusal(() => aReceiver({ logger: logger as Logger }));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining(problem)]);
  });

  it.each<[string, Call[0], Partial<ReceiverOptions>]>([
    ['handled', 'debug', {}],
    ['ignored', 'debug', { on: {} }],
    ['permanent_failure', 'info', { on: failing(new PermanentError('no such clip')) }],
    ['handler_failed', 'error', { on: failing(new Error('full')) }],
    ['signature_mismatch', 'warn', { secret: OTHER }],
    ['unknown_version', 'warn', {}],
  ])('a logger has %s at the level %s', async (code, level, options) => {
    const { logger, calls } = aLogger();
    const version = code === 'unknown_version' ? { event: { version: '2027-01-01' } } : {};
    await aReceiver({ logger, ...options })(aRequest(version));
    expect(calls.map(([at, , fields]) => [at, fields?.['code']])).toContainEqual([level, code]);
  });

  it('a logger has a failure of the store with its error, and not the handled event', async () => {
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

describe('what a sender controls', () => {
  it('an entry with text of a sender is one line: control characters of an event are escaped', async () => {
    const { logger, calls } = aLogger();
    const id = 'evt_1\nservice-webhooks: forged\u001b[2J\u2028\u202e';
    await aReceiver({ logger, on: failing('full') })(aRequest({ event: { id } }));
    const [[, text = '', fields] = []] = calls;
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    expect(text).toContain('"evt_1\\nservice-webhooks: forged\\u001b[2J\\u2028\\u202e": ');
    expect(fields?.['eventId']).toBe('evt_1\\nservice-webhooks: forged\\u001b[2J\\u2028\\u202e');
  });

  it('an entry with text of a sender is short: an id has at most 120 characters', async () => {
    const { logger, calls } = aLogger();
    await aReceiver({ logger })(aRequest({ event: { id: `evt_${'x'.repeat(5_000)}` } }));
    expect(calls[0]?.[2]?.['eventId']).toBe(`evt_${'x'.repeat(116)}`);
  });
});

describe('refusals', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const textsOf = (calls: readonly Call[]) => calls.map(([, message]) => message.replace(/^.*\((\w+)\)$/, '$1'));

  it('refusals have the first of each code in a minute, and then a count', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger });
    for (let i = 0; i < 5; i += 1) await receiver(aRequest({ secret: OTHER }));
    for (let i = 0; i < 2; i += 1) await receiver({ ...aRequest(), headers: {} });
    await receiver({ ...aRequest(), method: 'GET' });
    expect(textsOf(calls)).toEqual(['signature_mismatch', 'missing_signature', 'method_not_allowed']);

    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(textsOf(calls).slice(3)).toEqual([
      'service-webhooks: 4 more of signature_mismatch in a minute.',
      'service-webhooks: 1 more of missing_signature in a minute.',
    ]);
    expect(calls.slice(3).map(([level, , fields]) => [level, fields?.['code']])).toEqual([
      ['warn', 'signature_mismatch'],
      ['warn', 'missing_signature'],
    ]);
  });

  it('refusals are logged again in the next minute', async () => {
    const { logger, calls } = aLogger();
    const receiver = aReceiver({ logger });
    await receiver(aRequest({ secret: OTHER }));
    await vi.advanceTimersByTimeAsync(MINUTE);
    await receiver(aRequest({ secret: OTHER }));
    expect(textsOf(calls)).toEqual(['signature_mismatch', 'signature_mismatch']);
  });

  it('refusals do not hide the failures of a handler, each of which is logged', async () => {
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
