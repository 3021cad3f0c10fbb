import { checkKnownOptions, checkPositiveInteger, integers } from '../../option-checks.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from '../contract.js';
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
} from '../entry.js';
import { type DynamodbClient, tableOf } from './client.js';
import { checkTable } from './dynamodb-table.js';
import { endOf, type Item, ofNumber, ofText } from './item.js';
import { jobsInDynamodb } from './job-records.js';
import { reportsInDynamodb } from './reports.js';
import { rowOf } from './row.js';
import { type Decision, decide, updateRow } from './row-changes.js';

/** Options of {@link dynamodbStore}. */
export interface DynamodbStoreOptions {
  /** The table. Default: `'webhook_deliveries'`. A name or an ARN. */
  table?: string | undefined;
  /**
   * How far apart the clocks of receivers may be, in milliseconds. A key is taken from a silent owner so long after the end
   * of its lease. Default: 5 000.
   */
  clockSkewMs?: number | undefined;
}

/**
 * Returns a store that remembers events in a table of Amazon DynamoDB, for all receivers in a region. A claim of a new event
 * is one conditional write, and so is its end. A table is never scanned.
 *
 * DynamoDB tells no time, so the store goes by the clocks of the receivers and tolerates that they differ by
 * `clockSkewMs`. It creates no table: see `dynamodbTable`, and `docs/stores.md` for CDK, SAM and Terraform. `init()` reads
 * one item, to say where the table is missing. DynamoDB removes expired rows itself where time to live is switched on for
 * the attribute `removeAt`.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = dynamodbStore({ dynamodb: new DynamoDBClient() }, { table: 'webhook_deliveries' });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function dynamodbStore(client: DynamodbClient, options: DynamodbStoreOptions = {}): DedupeStore {
  checkKnownOptions('dynamodbStore', options, ['table', 'clockSkewMs']);
  const { table: name = 'webhook_deliveries' } = options;
  checkTable(name);
  const { clockSkewMs } = integers(options, { clockSkewMs: 5_000 });
  const table = tableOf('dynamodbStore', client, name);
  /** A lease is stored with the time for which its end is not sure. */
  const stored = (leaseMs: number) => leaseMs + clockSkewMs;

  return {
    scope: 'shared',

    async init() {
      await table.get(':init');
    },

    async claim(request) {
      const { key, leaseMs, retainMs } = request;
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      return decide<ClaimResult>(table, key, undefined, (found, now) => {
        const entry = live(found, now) ?? newEntry(request);
        const fence = nextFence(found?.fence ?? 0, now);
        const answer = claimEntry(entry, { ...request, leaseMs: stored(leaseMs) }, now, fence);
        if (answer.status === 'acquired') return { answer, write: entry };
        if (answer.status === 'completed' || answer.retryAfterMs <= clockSkewMs) return { answer };
        return { answer: { ...answer, retryAfterMs: answer.retryAfterMs - clockSkewMs } };
      });
    },

    async extend({ key, token }, { leaseMs }) {
      checkPositiveInteger('leaseMs', leaseMs);
      const own = await updateRow(table, key, {
        set: { leaseUntil: ofNumber(Date.now() + stored(leaseMs)) },
        if: `${IN_PROGRESS} AND expiresAt >= :leaseUntil`,
        values: ownValues(token),
      });
      return own.made
        ? 'ok'
        : decide(table, key, own.found, (found, now) => {
            const entry = live(found, now);
            return change(entry, extendEntry(entry, token, stored(leaseMs), now));
          });
    },

    async complete(claim, { retainMs }) {
      checkPositiveInteger('retainMs', retainMs);
      checkPositiveInteger('fence', claim.fence);
      const { key, token } = claim;
      const now = Date.now();
      const own = await updateRow(table, key, {
        set: { rowState: ofText('completed'), ...endOf(now + retainMs, now) },
        remove: 'leaseUntil',
        if: `${IN_PROGRESS} AND expiresAt > :now`,
        values: { ...ownValues(token), ':now': ofNumber(now) },
      });
      return own.made
        ? 'ok'
        : decide(table, key, own.found, (found, now) => {
            const entry = live(found, now) ?? lostEntry(claim, found?.fence);
            return change(entry, completeEntry(entry, token, retainMs, now));
          });
    },

    async release({ key, token }) {
      const own = await updateRow(table, key, {
        set: { rowState: ofText('released') },
        remove: 'leaseUntil, ownerToken',
        if: `${IN_PROGRESS} AND expiresAt > :now`,
        values: { ...ownValues(token), ':now': ofNumber(Date.now()) },
      });
      return own.made
        ? 'ok'
        : decide(table, key, own.found, (found, now) => {
            const entry = live(found, now);
            const isFree = entry === undefined || entry.state === 'released';
            return isFree ? { answer: 'ok' } : change(entry, releaseEntry(entry, token));
          });
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const item = await table.get(key);
      const now = Date.now();
      const entry = live(item && rowOf(item).entry, now);
      return entry && recordOf({ ...entry, leaseUntil: entry.leaseUntil && entry.leaseUntil - clockSkewMs }, now);
    },

    /** The row stays for its fence, as one that has expired. */
    async forget(key) {
      await updateRow(table, key, { set: endOf(0, Date.now()), if: 'attribute_exists(pk)' });
    },

    ...reportsInDynamodb(table),

    jobs: jobsInDynamodb(table),
  };
}

function live(entry: Entry | undefined, now: number): Entry | undefined {
  return entry && entry.expiresAt > now ? entry : undefined;
}

function change(entry: Entry | undefined, answer: Mutation): Decision<Mutation> {
  return answer === 'ok' ? { answer, write: entry } : { answer };
}

const IN_PROGRESS = 'rowState = :progress AND ownerToken = :token';

const ownValues = (token: string): Item => ({ ':progress': ofText('in_progress'), ':token': ofText(token) });
