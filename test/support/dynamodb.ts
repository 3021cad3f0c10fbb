import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { dynamodbTable } from 'service-webhooks/stores/dynamodb';

type Data = { [name: string]: unknown };

/** What becomes of a request, besides being carried out. */
export type Fault =
  | 'throttled'
  | 'throughput exceeded'
  | 'cut before the write'
  | 'cut after the write'
  | 'conflict'
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
  // Imported where it is used: processes that are clients alone start faster without it.
  const { createEngine, refused } = await import('./dynamodb-engine.js');
  const run = createEngine();
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
    const { status, body } = refusal ? refused(...refusal) : await run(operation, data);
    if (fault === 'cut after the write') return void request.socket.destroy();
    if (fault === 'no answer after the write') return;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(body));
  }

  return started;
}

const COMMON = 'com.amazonaws.dynamodb.v20120810#';
/** The type of a refusal, and its other members. */
const REFUSALS: { [fault: string]: [type: string, more?: Data] } = {
  throttled: ['com.amazon.coral.availability#ThrottlingException'],
  'throughput exceeded': [`${COMMON}ProvisionedThroughputExceededException`],
  conflict: [`${COMMON}TransactionCanceledException`, { CancellationReasons: [{ Code: 'TransactionConflict' }] }],
};
