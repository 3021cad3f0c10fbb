import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { type DynamodbClient, dynamodbTable } from 'service-webhooks/stores/dynamodb';

// The engine of dynalite, in memory, behind a server of its own: dynalite has no transactions, does not return the item that
// failed a condition, and never fails. Requests are carried out one after the other, as DynamoDB orders those on an item.

type Data = { [name: string]: unknown };
type Item = { [name: string]: { S?: string; N?: string; B?: string } };
type Action = (engine: unknown, data: Data, done: (error: EngineError | null, result?: Data) => void) => void;
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

/** What becomes of a request, besides being carried out. */
export type Fault =
  | 'throttled'
  | 'throughput exceeded'
  | 'cut before the write'
  | 'cut after the write'
  | 'no answer after the write'
  | 'no answer before the write'
  | { pauseMs: number };

/** Says which fault a request has; undefined for none. */
export type Faults = (operation: string, data: Data) => Fault | undefined;

export interface TestDynamodb {
  url: string;
  /** The requests that came, in their order. */
  sent: { operation: string; data: Data }[];
  /** The faults of requests to come. */
  faults: Faults | undefined;
  open(config?: DynamoDBClientConfig): DynamoDBClient;
  /** Cuts the connections of all clients. */
  cutConnections(): void;
  /** Creates a table with a name of its own. */
  newTable(): Promise<string>;
  stop(): Promise<void>;
}

/** Returns a client of a local server. */
export function openDynamodb(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, ...config });
}

export async function startDynamodb(): Promise<TestDynamodb> {
  const engine = db.create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  const run = inOrder(engine);
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  const sockets = new Set<import('node:net').Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: DynamoDBClient[] = [];
  const started: TestDynamodb = {
    url,
    sent: [],
    faults: undefined,
    open(config) {
      const client = openDynamodb(url, config);
      clients.push(client);
      return client;
    },
    cutConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async newTable() {
      const table = `test-${crypto.randomUUID()}`;
      await started.open().send(new CreateTableCommand(dynamodbTable({ table })));
      return table;
    },
    async stop() {
      for (const client of clients) client.destroy();
      started.cutConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const data: Data = JSON.parse(Buffer.concat(chunks).toString());
    started.sent.push({ operation, data });
    const fault = started.faults?.(operation, structuredClone(data));
    if (typeof fault === 'object') await pause(fault.pauseMs);
    if (fault === 'cut before the write') return void request.socket.destroy();
    if (fault === 'no answer before the write') return;
    const refusal = typeof fault === 'string' ? REFUSALS[fault] : undefined;
    const { status, body } = refusal ? refused(refusal) : await run(operation, data);
    if (fault === 'cut after the write') return void request.socket.destroy();
    if (fault === 'no answer after the write') return;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(body));
  }

  return started;
}

const COMMON = 'com.amazonaws.dynamodb.v20120810#';
const REFUSALS: { [fault: string]: string } = {
  throttled: 'com.amazon.coral.availability#ThrottlingException',
  'throughput exceeded': `${COMMON}ProvisionedThroughputExceededException`,
};

interface Reply {
  status: number;
  body: Data;
}

function refused(type: string, more: Data = {}): Reply {
  return { status: 400, body: { __type: type, message: 'refused by the test', ...more } };
}

/** Returns how a request is carried out, after all that came before it. */
function inOrder(engine: unknown): (operation: string, data: Data) => Promise<Reply> {
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
      return await act(operation, checked(operation, data));
    } catch (error) {
      const { body } = error as EngineError;
      const isAsked = data['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
      if (isAsked && body?.__type.endsWith('#ConditionalCheckFailedException')) {
        Object.assign(body, { Item: await stored(data) });
      }
      throw error;
    }
  }

  async function stored(data: Data): Promise<Item | undefined> {
    const { TableName, Key, Item } = data as { TableName: string; Key?: Item; Item?: Item };
    const { Table } = (await act('DescribeTable', { TableName })) as {
      Table: { KeySchema: { AttributeName: string }[] };
    };
    const names = Table.KeySchema.map(({ AttributeName }) => AttributeName);
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
    const items = await Promise.all(writes.map(({ data: { TableName, Key, Item } }) => stored({ TableName, Key, Item })));
    const places = await Promise.all(writes.map(({ data: { TableName, Key, Item } }) => placeOf(TableName, Key ?? Item)));
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
    const { Table } = (await act('DescribeTable', { TableName: table })) as {
      Table: { KeySchema: { AttributeName: string }[] };
    };
    return JSON.stringify([table, ...Table.KeySchema.map(({ AttributeName }) => (item as Item)[AttributeName])]);
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

/** Returns a client as the store takes it. */
export function clientOf(server: TestDynamodb, config?: DynamoDBClientConfig): DynamodbClient {
  return { dynamodb: server.open(config) };
}
