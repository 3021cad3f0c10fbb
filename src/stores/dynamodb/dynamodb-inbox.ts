import type { TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { endpointKey } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import type { AnyEvent } from '../../event.js';
import { check, checkKnownOptions } from '../../option-checks.js';
import type { Delivery } from '../../verify/verify.js';
import { type InboxOptions, type InboxResult, inboxSettings } from '../inbox.js';
import { type DynamodbClient, nameOf, tableOf } from './client.js';
import { checkTable } from './dynamodb-table.js';
import { endOf, type Item, ofNumber, ofText, textKey, textOf } from './item.js';

/** Options of {@link dynamodbInbox}: those of every inbox but `waitMs`, because no transaction waits for another one. */
export interface DynamodbInboxOptions extends Omit<InboxOptions, 'table' | 'waitMs'> {
  /** The table: that of the store, or another one like it. Default: `'webhook_deliveries'`. */
  table?: string | undefined;
}

/**
 * An inbox whose `once` takes writes. It has no `work`, as other inboxes have: DynamoDB has no open transactions, and a
 * transaction is one request with all of its writes.
 */
export interface DynamodbInbox {
  /** Checks that the table is there. It may be called several times. */
  init(): Promise<void>;
  /**
   * Records the event and makes the writes in one transaction, up to 99 of them, on tables of the same region and account.
   * If the event is already recorded, no write is made. The writes are those of `TransactWriteItemsCommand`.
   *
   * @throws WebhookError `delivery_in_progress` where another transaction is changing one of the items: if your handler
   *   rethrows it, the delivery is answered 409. `invalid_option` for more than 99 writes.
   *   Another `TransactionCanceledException` is thrown as it is. Its `CancellationReasons` are in the order of your writes.
   */
  once(
    delivery: Pick<Delivery<AnyEvent>, 'event' | 'tenant'>,
    writes: NonNullable<TransactWriteItemsCommandInput['TransactItems']>,
  ): Promise<{ status: InboxResult<never>['status'] }>;
  /** Removes the record of an event, of a tenant's where there are tenants, so that a redelivery is handled again. */
  forget(eventId: string, options?: { tenant?: string | undefined }): Promise<void>;
}

const MAX_WRITES = 99;

/**
 * Returns an inbox, which records each event in the transaction of the writes it causes: both are made or neither is,
 * whenever the process dies, so that the effects happen exactly once. With an inbox a receiver needs no other dedupe.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = dynamodbInbox({ dynamodb: client }, { name: 'clips' });
 * createReceiver({
 *   secret,
 *   dedupe: false,
 *   on: {
 *     'generation.completed': async ({ data }, { delivery }) => {
 *       await inbox.once(delivery, [{ Put: { TableName: 'clips', Item: { id: { S: data.clipId } } } }]);
 *     },
 *   },
 * });
 */
export function dynamodbInbox(client: DynamodbClient, options: DynamodbInboxOptions): DynamodbInbox {
  const { name, retainMs } = inboxSettings('dynamodbInbox', options);
  checkKnownOptions('dynamodbInbox', options, ['name', 'table', 'retainMs']);
  const { table: tableName = 'webhook_deliveries' } = options;
  checkTable(tableName);
  const table = tableOf('dynamodbInbox', client, tableName);
  const keyOf = async (eventId: string, tenant: string | undefined) =>
    `:inbox:${await endpointKey(name, eventId, tenant)}`;

  return {
    async init() {
      await table.get(':init');
    },

    async once({ event, tenant }, writes) {
      check(
        Array.isArray(writes) && writes.length <= MAX_WRITES,
        `writes must be a list of at most ${MAX_WRITES} writes`,
      );
      const now = Date.now();
      const token = crypto.randomUUID();
      const record = {
        Put: {
          TableName: tableName,
          Item: { ...textKey(await keyOf(event.id, tenant)), ownerToken: ofText(token), ...endOf(now + retainMs, now) },
          ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
          ExpressionAttributeValues: { ':now': ofNumber(now) },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        },
      };
      try {
        // The record is the last one, so that the reasons of a cancellation are in the order of the user's writes.
        await table.transact({ TransactItems: [...writes, record], ClientRequestToken: token });
        return { status: 'done' };
      } catch (error) {
        const recorded = recordedBy(error, writes.length);
        if (recorded === undefined) throw asInProgress(error);
        return { status: recorded === token ? 'done' : 'duplicate' };
      }
    },

    async forget(eventId, { tenant } = {}) {
      await table.remove(await keyOf(eventId, tenant));
    },
  };
}

interface Reason {
  Code?: string;
  Item?: Item;
}

function reasonsOf(error: unknown): readonly Reason[] {
  const { CancellationReasons: reasons } = error as { CancellationReasons?: unknown };
  return nameOf(error) === 'TransactionCanceledException' && Array.isArray(reasons) ? reasons : [];
}

/** Returns the token of the attempt that has recorded the event; undefined where that did not cancel the transaction. */
function recordedBy(error: unknown, place: number): string | undefined {
  const { [place]: reason } = reasonsOf(error);
  if (reason?.Code !== 'ConditionalCheckFailed') return undefined;
  return (reason.Item && textOf(reason.Item, 'ownerToken')) ?? '';
}

/** Another transaction is changing an item of this one. A condition of the user's that failed comes first. */
function asInProgress(cause: unknown): unknown {
  const codes = reasonsOf(cause).map(({ Code }) => Code);
  const isConflict = codes.includes('TransactionConflict') && !codes.includes('ConditionalCheckFailed');
  if (!isConflict && nameOf(cause) !== 'TransactionInProgressException') return cause;
  return new WebhookError('delivery_in_progress', {
    message: 'Another transaction is changing an item of this one.',
    cause,
  });
}
