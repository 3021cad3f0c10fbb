import { check, checkPositiveInteger } from '../check.js';
import { WebhookError } from '../errors.js';
import type { ClaimRef, ClaimRequest, ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';
import { claimEntry, completeEntry, type Entry, extendEntry, newEntry, recordOf, releaseEntry } from './entry.js';

/** The binding of the class, named for what it is. */
export interface DurableObjectClient {
  namespace: DurableObjectNamespace;
}

/** What is used of a `DurableObjectNamespace`; that of a jurisdiction fits, too. */
export interface DurableObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): {
    fetch(
      url: string,
      init: { method: string; body: string },
    ): Promise<{ ok: boolean; status: number; json(): Promise<unknown> }>;
  };
}

/** What is used of a `DurableObjectStorage`, with SQLite or without. */
export interface DurableObjectStorage {
  get<T>(key: string): Promise<T | undefined>;
  put<T>(key: string, value: T): Promise<void>;
  deleteAll(): Promise<void>;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/** One operation, as it travels to the object of its key. */
type Call =
  | readonly ['claim', ClaimRequest]
  | readonly ['extend', ClaimRef, { leaseMs: number }]
  | readonly ['complete', ClaimRef, { retainMs: number }]
  | readonly ['release', ClaimRef]
  | readonly ['inspect']
  | readonly ['forget'];

/**
 * Remembers events in Durable Objects, for all Workers that are bound to them: one {@link DedupeObject} for each event,
 * so that no event waits for another and there is no number of shards to choose. The object's clock counts; each
 * operation is one request to it. An object removes itself when its event is to be forgotten, so there is nothing to
 * purge.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * export { DedupeObject } from 'service-webhooks/stores/durable-object';
 * createReceiver({ secret, on, dedupe: { store: durableObjectStore({ namespace: env.DEDUPE }) } });
 */
export function durableObjectStore(client: DurableObjectClient): DedupeStore {
  const { namespace } = client ?? {};
  check(isNamespace(namespace), 'client must be { namespace: env.DEDUPE }, a binding of DedupeObject');

  /** By a stub of its own: one that has failed goes on failing. */
  async function ask<Answer>(key: string, ...call: Call): Promise<Answer> {
    const object = namespace.get(namespace.idFromName(key) as never);
    const response = await object.fetch('https://dedupe/', { method: 'POST', body: JSON.stringify(call) });
    if (!response.ok) {
      const hint = 'Bind the namespace to DedupeObject, or to what extends it.';
      throw new WebhookError('store_unavailable', 503, hint, `the object answered ${response.status}`);
    }
    return (await response.json()) as Answer;
  }

  return {
    scope: 'shared',

    async claim(request) {
      checkPositiveInteger('leaseMs', request.leaseMs);
      checkPositiveInteger('retainMs', request.retainMs);
      return ask<ClaimResult>(request.key, 'claim', request);
    },

    async extend(claim, { leaseMs }) {
      checkPositiveInteger('leaseMs', leaseMs);
      return ask<Mutation>(claim.key, 'extend', claim, { leaseMs });
    },

    async complete(claim, { retainMs }) {
      checkPositiveInteger('retainMs', retainMs);
      return ask<Mutation>(claim.key, 'complete', claim, { retainMs });
    },

    release: (claim) => ask<Mutation>(claim.key, 'release', claim),

    async inspect(key) {
      return (await ask<DedupeRecord | null>(key, 'inspect')) ?? undefined;
    },

    async forget(key) {
      await ask(key, 'forget');
    },
  };
}

/**
 * The object of one event. Export it from the Worker, and bind the class there. It is a class, where the rest of the
 * library has functions, since that is what the platform makes its objects from.
 */
export class DedupeObject {
  readonly #storage: DurableObjectStorage;

  constructor(state: { readonly storage: DurableObjectStorage }) {
    this.#storage = state.storage;
  }

  /** Takes the operations of {@link durableObjectStore}. */
  async fetch(request: { json(): Promise<unknown> }): Promise<Response> {
    const call = (await request.json()) as Call;
    return Response.json((await this.#run(call)) ?? null);
  }

  /** When the event is to be forgotten, or was when this was set. */
  async alarm(): Promise<void> {
    const entry = await this.#storage.get<Entry>(ENTRY);
    if (entry && entry.expiresAt > Date.now()) await this.#storage.setAlarm(entry.expiresAt);
    else await this.#storage.deleteAll();
  }

  async #run(call: Call): Promise<ClaimResult | Mutation | DedupeRecord | undefined> {
    // While an object waits for its storage nothing else reaches it, and from here to the writes it waits for nothing:
    // that makes the operation atomic. What it answers is held back until the writes are durable.
    const [stored, alarm] = await Promise.all([this.#storage.get<Entry>(ENTRY), this.#storage.getAlarm()]);
    const time = Date.now();
    const found = stored && stored.expiresAt > time ? stored : undefined;
    const keep = async <Answer>(entry: Entry | undefined, answer: Answer, changed: boolean): Promise<Answer> => {
      if (!entry || !changed) return answer;
      // An alarm that comes too early sets itself anew: that is cheaper than to move it each time.
      const alarmed = alarm ?? this.#storage.setAlarm(entry.expiresAt);
      await Promise.all([this.#storage.put(ENTRY, entry), alarmed]);
      return answer;
    };
    switch (call[0]) {
      case 'claim': {
        const entry = found ?? newEntry(call[1]);
        const result = claimEntry(entry, call[1], time);
        return keep(entry, result, result.status === 'acquired');
      }
      case 'extend': {
        const extended = extendEntry(found, call[1].token, call[2].leaseMs, time);
        return keep(found, extended, extended === 'ok');
      }
      case 'complete': {
        const entry = found ?? newEntry(call[1], call[1].token, call[1].fence);
        const completed = completeEntry(entry, call[1].token, call[2].retainMs, time);
        return keep(entry, completed, completed === 'ok');
      }
      case 'release': {
        const released = releaseEntry(found, call[1].token);
        return keep(found, released, released === 'ok');
      }
      case 'inspect':
        return found && recordOf(found, time);
      case 'forget':
        await Promise.all([this.#storage.deleteAlarm(), this.#storage.deleteAll()]);
        return undefined;
    }
  }
}

const ENTRY = 'entry';

function isNamespace(namespace: DurableObjectNamespace | undefined): namespace is DurableObjectNamespace {
  return typeof namespace?.idFromName === 'function' && typeof namespace.get === 'function';
}
