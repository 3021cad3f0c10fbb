import { WebhookError } from 'service-webhooks';
import { type Call, LATEST_EFFECT_MS } from './calls.js';
import type { Database, Transaction } from './contract.js';
import type { InboxRecord } from './inbox-record.js';
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
  /** What the work is about that has opened it; undefined outside of one. */
  readonly subject: string | undefined;
  /** Undefined once it has ended. */
  writes: Write[] | undefined;
  /** The rows of the inbox that it has locked and will record. */
  readonly locked: Set<string>;
  isInInbox: boolean;
}

interface Write {
  what: string;
  isUnderInbox: boolean;
  effect: (() => void) | undefined;
}

export interface DatabaseParts {
  time: VirtualTime;
  call: Call;
  record: WorldRecord;
  inboxes: InboxRecord;
}

/** Creates the database of a world, whose inbox locks the row of an event until its transaction ends. */
export function createDatabase({ time, call, record, inboxes }: DatabaseParts): Database {
  /** The subject for which each row of the inbox was recorded. */
  const recorded = new Map<string, string | undefined>();
  const owners = new Map<string, OpenTransaction>();
  const opened = new WeakMap<Transaction, OpenTransaction>();

  function end(one: OpenTransaction): void {
    one.writes = undefined;
    for (const key of one.locked) owners.delete(key);
  }

  function commit(one: OpenTransaction): void {
    const { subject, locked, writes = fail('the transaction was aborted') } = one;
    for (const key of locked) recorded.set(key, subject);
    if (subject !== undefined) inboxes.committed({ subject, isRecord: locked.size > 0, writes });
    end(one);
    for (const { effect } of writes) effect?.();
  }

  /** Runs a statement of a transaction, whose failure aborts it. */
  async function statement<T>(one: OpenTransaction, what: string, effect: () => T | Promise<T>): Promise<T> {
    try {
      return await call(
        what,
        () => (one.writes ? effect() : fail('the transaction was aborted')),
        FAULTS_OF_STATEMENTS,
      );
    } catch (error) {
      end(one);
      throw error;
    }
  }

  /** Locks a row, once no other transaction has it. */
  async function lock(one: OpenTransaction, key: string): Promise<'locked' | 'recorded' | 'busy'> {
    const until = time.elapsed() + WAIT_MS;
    while (owners.has(key) && time.elapsed() < until) await new Promise<void>((resolve) => time.after(50, resolve));
    if (one.writes === undefined) return fail('the transaction was aborted');
    if (recorded.has(key)) return 'recorded';
    if (owners.has(key)) return 'busy';
    owners.set(key, one);
    one.locked.add(key);
    return 'locked';
  }

  return {
    async transaction(work) {
      const one: OpenTransaction = {
        subject: record.currentSubject(),
        writes: [],
        locked: new Set(),
        isInInbox: false,
      };
      currentProcess()?.onKilled(() => time.after(ABANDONED_MS, () => end(one)));
      const tx: Transaction = {
        async write(what, effect) {
          if (one.subject !== undefined) inboxes.tries(one.subject);
          const { isInInbox } = one;
          await statement(one, `write ${what}`, () => void one.writes?.push({ what, isUnderInbox: isInInbox, effect }));
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
      try {
        await call('commit', () => commit(one), FAULTS_OF_COMMITS);
      } catch (error) {
        time.after(LATEST_EFFECT_MS, () => end(one)); // until then it may still be committed
        throw error;
      }
      return result;
    },

    inbox: {
      async once(tx, { event, tenant }, work) {
        const one = opened.get(tx) ?? fail('once() was called without an open transaction');
        const key = JSON.stringify([tenant, event.id]);
        const found = await statement(one, 'inbox.once', () => lock(one, key));
        if (found === 'recorded') {
          const other = recorded.get(key);
          if (one.subject !== undefined && other !== undefined && other !== one.subject) {
            inboxes.takesFor(one.subject, other);
          }
          return { status: 'duplicate' };
        }
        if (found === 'busy') throw new WebhookError('delivery_in_progress');
        const before = one.writes?.length;
        one.isInInbox = true;
        try {
          return { status: 'done', result: await work() };
        } catch (error) {
          one.writes?.splice(before ?? 0);
          one.locked.delete(key);
          owners.delete(key);
          throw error;
        } finally {
          one.isInInbox = false;
        }
      },
    },
  };
}

function fail(message: string): never {
  throw new Error(message);
}
