import { createReceiver, memoryStore, type ReceiverOptions } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SECRET } from '../support/deliveries.js';

const SHARED = { ...memoryStore(), scope: 'shared' as const };

/** What a receiver with these options logs when it is created. */
function loggedBy(options: Partial<ReceiverOptions>, logger = { error: vi.fn(), warn: vi.fn() }): string[] {
  createReceiver({ secret: SECRET, on: {}, logger, ...options });
  return logger.warn.mock.calls.map(([, { code }]) => code);
}

describe('the warning about a memory store in production', () => {
  beforeEach(() => {
    vi.stubEnv('NODE_ENV', 'production');
  });

  it.each<[string, Partial<ReceiverOptions>]>([
    ['no options of dedupe', {}],
    ['a name and no store', { dedupe: { name: 'billing' } }],
    ['a store that is undefined', { dedupe: { store: undefined } }],
  ])('a receiver with %s gets it', (_, options) => {
    expect(loggedBy(options)).toEqual(['memory_store']);
  });

  it.each<[string, Partial<ReceiverOptions>]>([
    ['memoryStore()', { dedupe: { store: memoryStore() } }],
    ['a store of its own', { dedupe: { store: SHARED, name: 'billing' } }],
    ['dedupe: false', { dedupe: false }],
    ['a queue', { on: undefined, queue: { name: 'queue', put: async () => 'queued' as const } }],
  ])('a receiver with %s does not get it', (_, options) => {
    expect(loggedBy(options)).toEqual([]);
  });

  it.each(['development', 'test', ''])('a receiver does not get it where NODE_ENV is %j', (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    expect(loggedBy({})).toEqual([]);
  });

  it('a logger gets it once, for all receivers that use it', () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    loggedBy({}, logger);
    expect(loggedBy({}, logger)).toEqual(['memory_store']);
  });

  it('a receiver without a logger takes the warning from no other one', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    createReceiver({ secret: SECRET, on: {}, logger: false });
    createReceiver({ secret: SECRET, on: {} });
    expect(warn.mock.calls.length).toBe(1);
  });

  it('a process next to others gets only the warning about them', () => {
    vi.stubEnv('pm_id', '0');
    expect(loggedBy({})).toEqual(['several_processes']);
  });

  it('a runtime without a global process gets none', () => {
    vi.stubGlobal('process', undefined);
    const logged = loggedBy({});
    vi.unstubAllGlobals();
    expect(logged).toEqual([]);
  });
});
