import { WebhookError } from '../errors.js';
import { checkPositiveInteger } from '../option-checks.js';
import type { ClaimRef, ClaimRequest, ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';
import {
  claimEntry,
  completeEntry,
  type Entry,
  extendEntry,
  lostEntry,
  newEntry,
  nextFence,
  recordOf,
  releaseEntry,
} from './entry.js';
import { clientName } from './named-client.js';

/** A binding of {@link DedupeObject}, under the name `namespace`. */
export interface DurableObjectClient {
  namespace: DurableObjectNamespace;
}

/** The part of a `DurableObjectNamespace` that is used, also of a jurisdiction. */
export interface DurableObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): {
    fetch(
      url: string,
      init: { method: string; body: string },
    ): Promise<{ ok: boolean; status: number; json(): Promise<unknown> }>;
  };
}

/** The part of a `DurableObjectStorage` that is used, with or without SQLite. */
export interface DurableObjectStorage {
  get<T>(key: string): Promise<T | undefined>;
  put<T>(key: string, value: T): Promise<void>;
  deleteAll(): Promise<void>;
  getAlarm(): Promise<number | null>;
  setAlarm(time: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/** One operation, as it is sent to the object of its key. */
type Call =
  | readonly ['claim', ClaimRequest]
  | readonly ['extend', ClaimRef, { leaseMs: number }]
  | readonly ['complete', ClaimRef, { retainMs: number }]
  | readonly ['release', ClaimRef]
  | readonly ['inspect']
  | readonly ['forget'];

/**
 * Returns a store that remembers events in Durable Objects, for all Workers that are bound to them. Each event has its
 * own {@link DedupeObject}, so no event waits for another. The store uses the clock of the object, and each operation
 * is one request to it. An object deletes itself at the end of its retention, so there is nothing to purge.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * export { DedupeObject } from 'service-webhooks/stores/durable-object';
 * const store = durableObjectStore({ namespace: env.DEDUPE });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function durableObjectStore(client: DurableObjectClient): DedupeStore {
  clientName('durableObjectStore', client, {
    namespace: { methods: ['idFromName', 'get'], example: 'env.DEDUPE, a binding of DedupeObject' },
  });
  const { namespace } = client;

  /** Sends an operation to a new stub, because a stub that has failed once keeps failing. */
  async function ask<Answer>(key: string, ...call: Call): Promise<Answer> {
    const object = namespace.get(namespace.idFromName(key) as never);
    const response = await object.fetch('https://dedupe/', { method: 'POST', body: JSON.stringify(call) });
    if (!response.ok) {
      throw new WebhookError('store_unavailable', {
        message: `The Durable Object answered ${response.status}.`,
        hint: 'Bind the namespace to DedupeObject or to a subclass of it.',
      });
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

/** The object of one event: a class, as the platform requires. Export it from the Worker that the binding names. */
export class DedupeObject {
  readonly #storage: DurableObjectStorage;
  /** In memory, so that fences also grow after the event is forgotten. */
  #lastFence = 0;

  constructor(state: { readonly storage: DurableObjectStorage }) {
    this.#storage = state.storage;
  }

  /** Runs one operation of {@link durableObjectStore}. */
  async fetch(request: { json(): Promise<unknown> }): Promise<Response> {
    const call = (await request.json()) as Call;
    return Response.json((await this.#run(call)) ?? null);
  }

  /** Deletes the event if its retention is over, and otherwise sets the alarm to its new end. */
  async alarm(): Promise<void> {
    const entry = await this.#storage.get<Entry>(ENTRY);
    if (entry && entry.expiresAt > Date.now()) await this.#storage.setAlarm(entry.expiresAt);
    else await this.#storage.deleteAll();
  }

  async #run(call: Call): Promise<ClaimResult | Mutation | DedupeRecord | undefined> {
    // The operation is atomic: an object gets no other request while it waits for its storage, and nothing else is
    // awaited before the writes. The platform sends the answer when the writes are durable.
    const [stored, alarm] = await Promise.all([this.#storage.get<Entry>(ENTRY), this.#storage.getAlarm()]);
    const time = Date.now();
    const found = stored && stored.expiresAt > time ? stored : undefined;
    const keep = async <Answer>(entry: Entry | undefined, answer: Answer, changed: boolean): Promise<Answer> => {
      if (!entry || !changed) return answer;
      // An alarm that fires too early sets itself again, which is cheaper than moving it each time.
      const alarmed = alarm ?? this.#storage.setAlarm(entry.expiresAt);
      await Promise.all([this.#storage.put(ENTRY, entry), alarmed]);
      return answer;
    };
    switch (call[0]) {
      case 'claim': {
        const entry = found ?? newEntry(call[1]);
        this.#lastFence = nextFence(Math.max(this.#lastFence, stored?.fence ?? 0), time);
        const result = claimEntry(entry, call[1], time, this.#lastFence);
        return keep(entry, result, result.status === 'acquired');
      }
      case 'extend': {
        const extended = extendEntry(found, call[1].token, call[2].leaseMs, time);
        return keep(found, extended, extended === 'ok');
      }
      case 'complete': {
        const entry = found ?? lostEntry(call[1], stored?.fence);
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
