import { WebhookError } from 'service-webhooks';
import type { Call } from './calls.js';
import type { Database, Transaction } from './contract.js';
import { currentProcess } from './processes.js';
import type { WorldRecord } from './record.js';
import type { VirtualTime } from './virtual-time.js';

/** How long `once` waits for another transaction, as the inboxes of the library do by default, in milliseconds. */
const WAIT_MS = 300;
/** When the database notices that the process of a transaction has died, in milliseconds. */
const ABANDONED_MS = 1_000;
/** A cut connection breaks its transaction, so that no statement of it takes effect late. */
const FAULTS_OF_STATEMENTS = ['refused call', 'slow call'] as const;
const FAULTS_OF_COMMITS = ['refused call', 'lost answer', 'slow call'] as const;

interface OpenTransaction {
  /** Undefined once it has ended. */
  effects: (() => void)[] | undefined;
  readonly locked: Set<string>;
}

/** Creates the database of a world, whose inbox locks the row of an event until its transaction ends. */
export function createDatabase(time: VirtualTime, call: Call, record: WorldRecord): Database {
  const recorded = new Set<string>();
  const owners = new Map<string, OpenTransaction>();
  const opened = new WeakMap<Transaction, OpenTransaction>();

  function end(one: OpenTransaction): void {
    one.effects = undefined;
    for (const key of one.locked) owners.delete(key);
  }

  function commit(one: OpenTransaction): void {
    const { effects = fail('the transaction was aborted') } = one;
    for (const key of one.locked) recorded.add(key);
    end(one);
    for (const effect of effects) effect();
  }

  /** Runs a statement of a transaction, whose failure aborts it. */
  async function statement<T>(one: OpenTransaction, what: string, effect: () => T | Promise<T>): Promise<T> {
    try {
      return await call(
        what,
        () => (one.effects ? effect() : fail('the transaction was aborted')),
        FAULTS_OF_STATEMENTS,
      );
    } catch (error) {
      end(one);
      throw error;
    }
  }

  /** Resolves to whether the row is this transaction's now, or is recorded. Waits for another transaction. */
  async function lock(one: OpenTransaction, key: string): Promise<'locked' | 'recorded' | 'busy'> {
    const until = time.elapsed() + WAIT_MS;
    while (owners.has(key) && time.elapsed() < until) await new Promise<void>((resolve) => time.after(50, resolve));
    if (recorded.has(key)) return 'recorded';
    if (owners.has(key)) return 'busy';
    owners.set(key, one);
    one.locked.add(key);
    return 'locked';
  }

  return {
    async transaction(work) {
      const one: OpenTransaction = { effects: [], locked: new Set() };
      currentProcess()?.onKilled(() => time.after(ABANDONED_MS, () => end(one)));
      const tx: Transaction = {
        async write(what, effect) {
          const takesEffect = record.tries(what);
          await statement(one, `write ${what}`, () => {
            one.effects?.push(() => {
              takesEffect();
              effect?.();
            });
          });
        },
      };
      opened.set(tx, one);
      let result: Awaited<ReturnType<typeof work>>;
      try {
        result = await work(tx);
      } catch (error) {
        end(one);
        throw error;
      }
      await call('commit', () => commit(one), FAULTS_OF_COMMITS); // it may take effect although it rejects
      return result;
    },

    inbox: {
      async once(tx, { event, tenant }, work) {
        const one = opened.get(tx) ?? fail('once() was called without an open transaction');
        const key = JSON.stringify([tenant, event.id]);
        record.usesInbox();
        const found = await statement(one, 'inbox.once', () => lock(one, key));
        if (found === 'recorded') return { status: 'duplicate' };
        if (found === 'busy') throw new WebhookError('delivery_in_progress');
        const before = one.effects?.length;
        try {
          return { status: 'done', result: await work() };
        } catch (error) {
          one.effects?.splice(before ?? 0);
          one.locked.delete(key);
          owners.delete(key);
          throw error;
        }
      },
    },
  };
}

function fail(message: string): never {
  throw new Error(message);
}
