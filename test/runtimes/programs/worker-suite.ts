import { env } from 'cloudflare:workers';
import type { DedupeStore } from 'service-webhooks';
import { d1Store } from 'service-webhooks/stores/d1';
import { type DurableObjectNamespace, durableObjectStore } from 'service-webhooks/stores/durable-object';
import { type StoreCase, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import type { Stored } from './worker-objects.js';

/** How one case ended here: `'passed'`, why it was skipped, or how it failed. */
export type SuiteResults = Record<string, string>;

const ROUNDS = 20;

const suites: Record<string, readonly StoreCase[]> = {
  '/suite/d1': storeSuite({
    make: () => ({ store: d1Store({ d1: env.DB }), store2: d1Store({ d1: env.DB2 }) }),
    evict: ({ store }, key) => store.forget?.(key),
    async raw(_, key) {
      const row = env.DB2.prepare('SELECT * FROM webhook_deliveries WHERE key = ?').bind(key);
      return (await env.DB2.batch([row])).map(({ results }) => results);
    },
    rounds: ROUNDS,
  }),
  '/suite/sqlite-objects': suiteOf(env.SQLITE_OBJECTS),
  '/suite/kv-objects': suiteOf(env.KV_OBJECTS),
};

/** By way of `store2`, whose objects are the same. */
function suiteOf(namespace: DurableObjectNamespace): readonly StoreCase[] {
  return storeSuite<StoreUnderTest & { names: Set<string> }>({
    make() {
      const names = new Set<string>();
      const idFromName = (name: string) => {
        names.add(name);
        return namespace.idFromName(name);
      };
      const store = durableObjectStore({ namespace: { idFromName, get: (id) => namespace.get(id) } });
      return { names, store, store2: durableObjectStore({ namespace }) };
    },
    evict: ({ store }, key) => store.forget?.(key),
    raw: async (_, key) => (await stored(namespace, key)).entries,
    disconnect: ({ names }) => killAll(namespace, names),
    async restart({ names }): Promise<DedupeStore> {
      await killAll(namespace, names);
      return durableObjectStore({ namespace });
    },
    unreachable: () => durableObjectStore({ namespace: env.DEAD_OBJECTS }),
    without: ['purgeExpired', 'saveReport', 'jobs'],
    rounds: ROUNDS,
  });
}

async function runSuite(cases: readonly StoreCase[]): Promise<SuiteResults> {
  const results: SuiteResults = {};
  for (const { name, skip, run } of cases) {
    results[name] = skip ?? (await run().then(() => 'passed', String));
  }
  return results;
}

/** Nothing is left of an object but what it has stored. */
async function killAll(namespace: DurableObjectNamespace, names: ReadonlySet<string>): Promise<void> {
  for (const name of names) await ask(namespace, name, '/die').catch(() => {});
}

async function stored(namespace: DurableObjectNamespace, name: string): Promise<Stored> {
  return (await ask(namespace, name, '/stored')).json() as Promise<Stored>;
}

function ask(namespace: DurableObjectNamespace, name: string, path: string) {
  return namespace
    .get(namespace.idFromName(name) as never)
    .fetch(`https://object${path}`, { method: 'POST', body: '' });
}

export default {
  /** A suite; what an object has stored; a delivery that its sender gives up soon; or one operation, `[method, ...what it takes]`, on the objects. */
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const cases = suites[pathname];
    if (cases) return Response.json(await runSuite(cases));
    if (pathname.startsWith('/stored/')) {
      return Response.json(await stored(env.SQLITE_OBJECTS, pathname.slice('/stored/'.length)));
    }
    if (pathname === '/slow') {
      const init = { method: 'POST', headers: request.headers, body: await request.text() };
      const delivery = new Request(request.url, { ...init, signal: AbortSignal.timeout(200) });
      return env.RECEIVERS.fetch(delivery).catch((error) => new Response(String(error)));
    }
    const [method, ...args] = (await request.json()) as [keyof DedupeStore, ...unknown[]];
    const store = durableObjectStore({ namespace: env.SQLITE_OBJECTS });
    return Response.json((await (store[method] as (...args: unknown[]) => unknown)(...args)) ?? null);
  },
};
