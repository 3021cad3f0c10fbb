import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { fileOf, isInstalled } from '../../integration/file-of.js';
import { endServer, freePort, untilAnswers } from '../../support/server-process.js';
import { folder } from './example.js';

/** A server that speaks the protocol of SQS, in a process of its own. */
export interface TestSqs {
  /** The variables from which the AWS client takes a region and credentials. It takes the server from the URL of a queue. */
  env: Record<string, string>;
  client: SqsClient;
  url: string;
  /** Stops answering without closing a connection. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** The part of the class `SQS` of `@aws-sdk/client-sqs` that the tests use. */
export interface SqsClient {
  createQueue(input: { QueueName: string; Attributes?: Record<string, string> }): Promise<{ QueueUrl: string }>;
  setQueueAttributes(input: { QueueUrl: string; Attributes: Record<string, string> }): Promise<unknown>;
  getQueueAttributes(input: { QueueUrl: string; AttributeNames: string[] }): Promise<{
    Attributes: Record<string, string>;
  }>;
  deleteQueue(input: { QueueUrl: string }): Promise<unknown>;
  purgeQueue(input: { QueueUrl: string }): Promise<unknown>;
  sendMessage(input: { QueueUrl: string; MessageBody: string }): Promise<unknown>;
  receiveMessage(input: object): Promise<{ Messages?: SqsMessage[] }>;
  deleteMessageBatch(input: { QueueUrl: string; Entries: { Id: string; ReceiptHandle: string }[] }): Promise<unknown>;
  destroy(): void;
}

export interface SqsMessage {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  Attributes: { ApproximateReceiveCount: string };
}

const directory = `${folder}sqs/`;
const runtimes = fileURLToPath(new URL('../../runtimes/', import.meta.url));

/** Undefined where the example is not installed, or no Node that the server runs on. */
export async function startSqs(): Promise<TestSqs | undefined> {
  const node = isInstalled('examples/queues/sqs') && nodeOfServer();
  if (!node) return undefined;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(node, [`${directory}node_modules/fauxqs/dist/server.js`], {
    env: { ...process.env, FAUXQS_PORT: String(port) },
    stdio: 'ignore',
  });
  await untilAnswers(server, () => answers(url));
  const { SQS } = createRequire(`${directory}package.json`)('@aws-sdk/client-sqs');
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client: SqsClient = new SQS({ endpoint: url, region: 'us-east-1', credentials });
  return {
    env: {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    client,
    url,
    freeze: () => server.kill('SIGSTOP'),
    thaw: () => server.kill('SIGCONT'),
    async stop() {
      client.destroy();
      await endServer(server);
    },
  };
}

/** This Node where it has `node:sqlite`, which the server imports, and otherwise Node 22 of the runtimes. */
function nodeOfServer(): string | undefined {
  if (process.getBuiltinModule('node:sqlite')) return process.execPath;
  return fileOf(
    'node-22',
    'node test/integration/install.mjs test/runtimes',
    `${runtimes}node_modules/node-22/bin/node`,
  );
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
