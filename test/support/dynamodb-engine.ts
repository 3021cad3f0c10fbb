import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

// The engine of dynalite, in memory. It has no transactions and does not return the item that failed a condition, so that is
// added here. Requests are carried out one after the other, as DynamoDB orders those on an item.

type Data = { [name: string]: unknown };
type Item = { [name: string]: { S?: string; N?: string; B?: string } };
type Action = (engine: unknown, data: Data, done: (error: EngineError | null, result?: Data) => void) => void;
interface Table {
  TableStatus: string;
  KeySchema: { AttributeName: string }[];
}
interface EngineError extends Error {
  statusCode?: number;
  body?: { __type: string; message?: string; Message?: string };
}

const require = createRequire(import.meta.url);
const db = require('dynalite/db') as {
  create(options: object): { getItemDb(table: string): unknown };
  checkConditional(data: Data, item: Item | undefined): EngineError | null | undefined;
};
const validations = require('dynalite/validations') as {
  checkTypes(data: Data, types: unknown): Data;
  checkValidations(data: Data, types: unknown, custom: unknown, engine: unknown): void;
  toLowerFirst(name: string): string;
};

const COMMON = 'com.amazonaws.dynamodb.v20120810#';

/** The answer of DynamoDB. */
export interface Reply {
  status: number;
  body: Data;
}

export function refused(type: string, more: Data = {}): Reply {
  return { status: 400, body: { __type: type, message: 'refused by the test', ...more } };
}

/** Returns how a request is carried out, after all that came before it. */
export function createEngine(): (operation: string, data: Data) => Promise<Reply> {
  const engine = db.create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const tokens = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();

  return (operation, data) => {
    const reply = last.then(async (): Promise<Reply> => {
      try {
        const body = operation === 'TransactWriteItems' ? await transact(data) : await perform(operation, data);
        return { status: 200, body };
      } catch (error) {
        const { statusCode, body } = error as EngineError;
        if (statusCode === undefined || body === undefined) throw error;
        return { status: statusCode, body };
      }
    });
    last = reply.catch(() => {});
    return reply;
  };

  function checked(operation: string, data: Data): Data {
    const { types, custom } = require(`dynalite/validations/${validations.toLowerFirst(operation)}`);
    const known = validations.checkTypes(structuredClone(data), types);
    validations.checkValidations(known, types, custom, engine);
    return known;
  }

  function act(operation: string, data: Data): Promise<Data> {
    const action: Action = require(`dynalite/actions/${validations.toLowerFirst(operation)}`);
    return new Promise((resolve, reject) => {
      action(engine, data, (error, result) => (error ? reject(error) : resolve(result ?? {})));
    });
  }

  /** DynamoDB returns the item that failed a condition to a request that asks for it. */
  async function perform(operation: string, data: Data): Promise<Data> {
    try {
      const result = await act(operation, checked(operation, data));
      if (operation === 'CreateTable') await untilActive(data['TableName']);
      return result;
    } catch (error) {
      const { body } = error as EngineError;
      const isAsked = data['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
      if (isAsked && body?.__type.endsWith('#ConditionalCheckFailedException')) {
        Object.assign(body, { Item: await stored(data) });
      }
      throw error;
    }
  }

  /** A new table takes a moment. Here its creation is answered after that, so that no test needs to wait for it. */
  async function untilActive(TableName: unknown): Promise<void> {
    while ((await tableOf(TableName)).TableStatus !== 'ACTIVE') await pause(1);
  }

  async function tableOf(TableName: unknown): Promise<Table> {
    return ((await act('DescribeTable', { TableName })) as { Table: Table }).Table;
  }

  async function stored(data: Data): Promise<Item | undefined> {
    const { TableName, Key, Item } = data as { TableName: string; Key?: Item; Item?: Item };
    const names = (await tableOf(TableName)).KeySchema.map(({ AttributeName }) => AttributeName);
    const key = Key ?? Object.fromEntries(names.map((name) => [name, (Item as Item)[name]]));
    const found = await act('GetItem', checked('GetItem', { TableName, Key: key, ConsistentRead: true }));
    return found['Item'] as Item | undefined;
  }

  /** As the documentation of TransactWriteItems describes it: all writes or none, and once for a ClientRequestToken. */
  async function transact(data: Data): Promise<Data> {
    const { TransactItems, ClientRequestToken: token } = data as {
      TransactItems: { [action: string]: Data }[];
      ClientRequestToken?: string;
    };
    const text = JSON.stringify(TransactItems);
    const known = token === undefined ? undefined : tokens.get(token);
    if (known !== undefined && known !== text) throw engineError('IdempotentParameterMismatchException');
    if (known !== undefined) return {};
    if (TransactItems.length === 0 || TransactItems.length > 100) throw engineError('ValidationException');

    const writes = TransactItems.map((one) => {
      const [[action, input] = ['', {}]] = Object.entries(one);
      // A check has the form of a removal that is not made.
      const operation = action === 'ConditionCheck' ? 'DeleteItem' : `${action}Item`;
      return { action, operation, input, data: checked(operation, input) };
    });
    const items = await Promise.all(
      writes.map(({ data: { TableName, Key, Item } }) => stored({ TableName, Key, Item })),
    );
    const places = await Promise.all(
      writes.map(({ data: { TableName, Key, Item } }) => placeOf(TableName, Key ?? Item)),
    );
    if (new Set(places).size < places.length) throw engineError('ValidationException');

    const reasons = writes.map(({ input, data }, i) => {
      if (!db.checkConditional(data, items[i])) return { Code: 'None' };
      const isAsked = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' && items[i] !== undefined;
      const reason = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };
      return isAsked ? { ...reason, Item: items[i] } : reason;
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(reasons);
    for (const { action, operation, data } of writes) if (action !== 'ConditionCheck') await act(operation, data);
    if (token !== undefined) tokens.set(token, text);
    return {};
  }

  async function placeOf(table: unknown, item: unknown): Promise<string> {
    const { KeySchema } = await tableOf(table);
    return JSON.stringify([table, ...KeySchema.map(({ AttributeName }) => (item as Item)[AttributeName])]);
  }
}

function engineError(name: string, more: Data = {}): EngineError {
  const body = { __type: `${COMMON}${name}`, message: name, ...more };
  return Object.assign(new Error(name), { statusCode: 400, body });
}

function cancelled(reasons: readonly { Code: string }[]): EngineError {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return engineError('TransactionCanceledException', { Message, CancellationReasons: reasons });
}
