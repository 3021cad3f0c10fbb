import { DedupeObject, type DurableObjectStorage, durableObjectStore } from 'service-webhooks/stores/durable-object';
import { type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { rejection } from '../support/deliveries.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

// What it does on Durable Objects is in test/runtimes/workers-stores.test.ts; here they are played by maps.
describe('durableObjectStore', () => {
  const namespaceOf = (fetch: () => Promise<Response>) => ({
    idFromName: (name: string) => name,
    get: () => ({ fetch }),
  });
  const namespace = namespaceOf(async () => Response.json(null));

  const takes = 'durableObjectStore takes { namespace: env.DEDUPE, a binding of DedupeObject }';
  const wrong = [undefined, null, 'DEDUPE', { get() {} }, { idFromName() {} }];
  itRefuses(durableObjectStore, [
    ...[{}, undefined, null, namespace, { durableObject: namespace }].map((other) => [other, {}, 'namespace'] as const),
    ...wrong.map((other) => [{ namespace: other }, {}, takes] as const),
  ]);

  it('a store says what to bind where the objects are of another class', async () => {
    const other = namespaceOf(async () => new Response('not found', { status: 404 }));
    const error = await rejection(durableObjectStore({ namespace: other }).claim(aClaim()));
    expect(error).toMatchObject({ code: 'store_unavailable', hint: expect.stringContaining('DedupeObject') });
    expect(error.message).toContain('404');
  });

  it('a store rejects with the error of the platform', async () => {
    const broken = namespaceOf(() => Promise.reject(new Error('Network connection lost.')));
    await expect(durableObjectStore({ namespace: broken }).release({ ...aClaim(), fence: 1 })).rejects.toThrow('lost');
  });
});

describe('durableObjectStore on objects with a clock that is set', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0) }));

  const objectsAndStore = () => {
    const objects = createObjects();
    return { ...objects, store: durableObjectStore({ namespace: objects.namespace }) };
  };

  describe('passes the suite:', () => {
    const cases = storeSuite<StoreUnderTest & { objects: Objects }>({
      make() {
        const objects = createObjects();
        const store = () => durableObjectStore({ namespace: objects.namespace });
        return { objects, store: store(), store2: store() };
      },
      advance: ({ objects }, ms) => objects.advance(ms),
      evict: ({ store }, key) => store.forget?.(key),
      raw: ({ objects }, key) => objects.storedBy(key),
      without: ['purgeExpired', 'saveReport', 'jobs'],
      rounds: 2,
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run);
  });

  it('each operation is answered with what the store knows of the event', async () => {
    const { store } = objectsAndStore();
    await expectEveryAnswer(store);
    expect(store.scope).toBe('shared');
  });

  it('an error names the wrong number, and no object is called', async () => {
    const idFromName = () => expect.unreachable('asked for an object');
    await expectRefusals(durableObjectStore({ namespace: { idFromName, get: idFromName } }));
  });

  it('each operation is one request to the object of its key', async () => {
    const { namespace } = createObjects();
    const asked: unknown[] = [];
    const get = (name: string) => ({
      fetch(url: string, init: RequestInit) {
        asked.push([name, new URL(url).protocol, init.method]);
        return namespace.get(name).fetch(url, init);
      },
    });
    const store = durableObjectStore({ namespace: { ...namespace, get } });
    await store.claim(aClaim('one'));
    await store.inspect?.('two');
    expect(asked).toEqual([
      ['one', 'https:', 'POST'],
      ['two', 'https:', 'POST'],
    ]);
  });

  it('fences grow at one instant, even after an event was forgotten', async () => {
    const { store } = objectsAndStore();
    const fences = [(await store.claim(aClaim('a'))).fence];
    await store.forget?.('a');
    fences.push((await store.claim(aClaim('a'))).fence);
    expect(fences).toEqual([Date.UTC(2026, 0) * 1_000, Date.UTC(2026, 0) * 1_000 + 1]);
  });

  describe('a Durable Object', () => {
    it('the row and the alarm are gone at the end of the retention', async () => {
      const { store, advance, storedBy, alarmOf } = objectsAndStore();
      await store.claim(aClaim('brief'));
      expect(storedBy('brief')).toEqual([['entry', expect.anything()]]);
      expect(alarmOf('brief')).toBe(Date.now() + HOUR);
      await advance(HOUR);
      expect([storedBy('brief'), alarmOf('brief')]).toEqual([[], null]);
    });

    it('the alarm is set again when it rings before the end of the retention', async () => {
      const { store, advance, storedBy, alarmOf } = objectsAndStore();
      const claim = { ...aClaim('renewed'), fence: 1 };
      await store.claim(claim);
      const first = alarmOf('renewed');
      await advance(HOUR / 2);
      await store.complete(claim, claim);
      expect(alarmOf('renewed')).toBe(first);
      await advance(HOUR / 2);
      expect(alarmOf('renewed')).toBe((first ?? 0) + HOUR / 2);
      expect(await store.inspect?.('renewed')).toMatchObject({ state: 'completed' });
      await advance(HOUR / 2);
      expect([storedBy('renewed'), alarmOf('renewed')]).toEqual([[], null]);
    });

    it('nothing is kept of an event that was forgotten or only inspected', async () => {
      const { store, storedBy, alarmOf } = objectsAndStore();
      await store.claim(aClaim('forgotten'));
      await store.forget?.('forgotten');
      await store.inspect?.('unknown');
      const unknown = { ...aClaim('unknown'), fence: 1 };
      await store.release(unknown);
      await store.extend(unknown, unknown);
      for (const key of ['forgotten', 'unknown']) expect([storedBy(key), alarmOf(key)]).toEqual([[], null]);
    });

    it('no write happens where nothing has changed', async () => {
      const { store, writesOf } = objectsAndStore();
      const ref = { ...aClaim('held'), fence: 1 };
      const other = { ...ref, token: 'other' };
      await store.claim(ref);
      expect(writesOf('held')).toBe(1);
      await store.claim(other);
      await store.extend(other, other);
      await store.complete(other, other);
      await store.release(other);
      await store.inspect?.('held');
      expect(writesOf('held')).toBe(1);
      await store.complete(ref, ref);
      await store.claim(other);
      expect(writesOf('held')).toBe(2);
    });
  });
});

const HOUR = 3_600_000;

type Objects = ReturnType<typeof createObjects>;

/** A namespace whose objects have what is used of theirs: a storage, an alarm, and one request at a time. */
function createObjects() {
  const objects = new Map<string, ReturnType<typeof createObject>>();
  const objectOf = (name: string) => {
    const object = objects.get(name) ?? createObject();
    objects.set(name, object);
    return object;
  };
  return {
    namespace: {
      idFromName: (name: string) => name,
      get: (name: string) => ({
        fetch: (url: string, init: RequestInit) => objectOf(name).fetch(new Request(url, init)),
      }),
    },
    async advance(ms: number) {
      vi.setSystemTime(Date.now() + ms);
      for (const object of objects.values()) await object.ring();
    },
    storedBy: (name: string) => [...objectOf(name).stored],
    alarmOf: (name: string) => objectOf(name).alarm(),
    writesOf: (name: string) => objectOf(name).writes(),
  };
}

function createObject() {
  const stored = new Map<string, unknown>();
  let [alarm, writes, before]: [number | null, number, Promise<unknown>] = [null, 0, Promise.resolve()];
  const storage: DurableObjectStorage = {
    get: async <T>(key: string) => structuredClone(stored.get(key)) as T | undefined,
    async put(key, value) {
      writes += 1;
      stored.set(key, structuredClone(value));
    },
    deleteAll: async () => stored.clear(),
    getAlarm: async () => alarm,
    async setAlarm(time) {
      alarm = time;
    },
    async deleteAlarm() {
      alarm = null;
    },
  };
  const object = new DedupeObject({ storage });
  return {
    stored,
    alarm: () => alarm,
    writes: () => writes,
    fetch(request: Request): Promise<Response> {
      const answer = before.then(() => object.fetch(request));
      before = answer.catch(() => {});
      return answer;
    },
    async ring() {
      if (alarm === null || alarm > Date.now()) return;
      alarm = null;
      await object.alarm();
    },
  };
}
