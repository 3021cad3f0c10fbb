import {
  DeleteItemCommand,
  type DeleteItemCommandInput,
  GetItemCommand,
  type GetItemCommandOutput,
  PutItemCommand,
  type PutItemCommandInput,
  type PutItemCommandOutput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { WebhookError } from '../../errors.js';
import { clientName } from '../named-client.js';
import { type Item, LISTS, neededText, textKey } from './item.js';

/** The client of the app, under the name of its service. It is never destroyed. */
export interface DynamodbClient {
  dynamodb: DynamodbSender;
}

/** A `DynamoDBClient` or a `DynamoDB` of `@aws-sdk/client-dynamodb`. */
export interface DynamodbSender {
  send(command: never): Promise<unknown>;
}

/** A condition on the stored item, and the values that it and an update have. */
export interface Condition {
  if: string;
  values?: Item | undefined;
}

/** What a write did: it was made, in place of `old`, or its condition was not met by `found`. */
export type Written = { made: true; old?: Item | undefined } | { made: false; found: Item | undefined };

/** The part of a list that is read, in its order or from its end. */
export interface ListRange {
  list: string;
  from: string;
  to: string;
  limit: number;
  newestFirst?: boolean;
  only?: string;
}

/** The requests to one table. */
export interface Table {
  /** Reads an item as the last write left it. */
  get(key: string): Promise<Item | undefined>;
  put(item: Item, condition?: Condition): Promise<Written>;
  update(key: string, update: string, condition: Condition): Promise<Written>;
  remove(key: string): Promise<Item | undefined>;
  /** Reads items of a list, all pages of it up to the limit. */
  list(range: ListRange): Promise<Item[]>;
  /** Its errors are those of the client, as they may be about tables of the user. */
  transact(input: TransactWriteItemsCommandInput): Promise<void>;
}

/** Returns the requests to a table. @throws WebhookError `invalid_option` */
export function tableOf(subject: string, client: DynamodbClient, name: string): Table {
  clientName(subject, client, { dynamodb: { methods: ['send'], example: 'client' } });
  const { dynamodb } = client;
  const send = async <Output>(command: object) => {
    try {
      return (await dynamodb.send(command as never)) as Output;
    } catch (error) {
      throw explained(error, name);
    }
  };

  const get: Table['get'] = async (key) => {
    const input = { TableName: name, Key: textKey(key), ConsistentRead: true };
    return (await send<GetItemCommandOutput>(new GetItemCommand(input))).Item;
  };

  /** A client from before `ReturnValuesOnConditionCheckFailure` sends no item with a refusal, so the item is read. */
  async function write(key: string, command: PutItemCommand | UpdateItemCommand): Promise<Written> {
    try {
      const { Attributes } = await send<PutItemCommandOutput>(command);
      return { made: true, old: Attributes };
    } catch (error) {
      if (nameOf(error) !== 'ConditionalCheckFailedException') throw error;
      return { made: false, found: (error as { Item?: Item }).Item ?? (await get(key)) };
    }
  }

  return {
    get,

    put(item, condition) {
      const input: PutItemCommandInput = {
        TableName: name,
        Item: item,
        ReturnValues: 'ALL_OLD',
        ...checked(condition),
      };
      return write(neededText(item, 'pk'), new PutItemCommand(input));
    },

    update(key, update, condition) {
      const input: UpdateItemCommandInput = { TableName: name, Key: textKey(key), UpdateExpression: update };
      return write(key, new UpdateItemCommand({ ...input, ...checked(condition) }));
    },

    async remove(key) {
      const input: DeleteItemCommandInput = { TableName: name, Key: textKey(key), ReturnValues: 'ALL_OLD' };
      return (await send<PutItemCommandOutput>(new DeleteItemCommand(input))).Attributes;
    },

    async list({ list, from, to, limit, newestFirst = false, only }) {
      const found: Item[] = [];
      if (from > to) return found;
      let next: QueryCommandInput['ExclusiveStartKey'];
      do {
        const { Items = [], LastEvaluatedKey } = await send<QueryCommandOutput>(
          new QueryCommand({
            TableName: name,
            IndexName: LISTS,
            KeyConditionExpression: 'listName = :list AND orderKey BETWEEN :from AND :to',
            ExpressionAttributeValues: { ':list': { S: list }, ':from': { S: from }, ':to': { S: to } },
            ProjectionExpression: only,
            ScanIndexForward: !newestFirst,
            Limit: Math.min(limit - found.length, MAX_PAGE),
            ExclusiveStartKey: next,
          }),
        );
        found.push(...Items);
        next = LastEvaluatedKey;
      } while (next !== undefined && found.length < limit);
      return found;
    },

    async transact(input) {
      await dynamodb.send(new TransactWriteItemsCommand(input) as never);
    },
  };
}

/** DynamoDB ends a page after 1 MB in any case. */
const MAX_PAGE = 1_000;

function checked(condition: Condition | undefined) {
  return (
    condition && {
      ConditionExpression: condition.if,
      ExpressionAttributeValues: condition.values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }
  );
}

export function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | undefined | null)?.name);
}

/** Says what to do where the table or its index is missing, or is another one. */
function explained(error: unknown, table: string): unknown {
  const name = nameOf(error);
  const isOther =
    name === 'ValidationException' && /key element|key schema|Missing the key|specified index/.test(String(error));
  if (name !== 'ResourceNotFoundException' && !isOther) return error;
  return new WebhookError('store_unavailable', {
    message: `DynamoDB has no table '${table}' with the key pk and the index ${LISTS} in this region and account.`,
    hint: "Create it with dynamodbTable or by docs/stores.md, and check the client's region.",
    cause: error,
  });
}
