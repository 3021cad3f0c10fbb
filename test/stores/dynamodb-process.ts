import { dynamodbInbox, dynamodbStore } from '../../src/stores/dynamodb.js';
import { sampleEvent } from '../../src/testing/sample-event.js';
import { openDynamodb } from '../support/dynamodb.js';

/** What another process is asked to do. */
export type Task = { url: string; table: string } & (
  | /** Says how many of its simultaneous claims of one key were acquired, by a clock that is wrong. */ {
      kind: 'claim';
      key: string;
      count: number;
      clockMs: number;
    }
  | /** Claims a key, completes it where it is told to, says so and hangs. */ {
      kind: 'hold';
      key: string;
      token: string;
      complete: boolean;
    }
  | /** Says what came of a delivery that adds 1 to an item of another table. */ {
      kind: 'inbox';
      effects: string;
      eventId: string;
    }
);

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const say = (word: unknown) => process.send?.(word);
const told = () => new Promise((resolve) => process.once('message', resolve));
const client = { dynamodb: openDynamodb(task.url) };
const { table } = task;

if (task.kind === 'claim') await claimAtOnce(task);
if (task.kind === 'hold') await hold(task);
if (task.kind === 'inbox') await deliver(task);

async function claimAtOnce({ key, count, clockMs }: Extract<Task, { kind: 'claim' }>): Promise<void> {
  const realNow = Date.now;
  Date.now = () => realNow() + clockMs;
  const store = dynamodbStore(client, { table });
  await store.init?.();
  say('ready');
  await told();
  const claims = Array.from({ length: count }, () =>
    store.claim({ key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 120_000 }),
  );
  const statuses = (await Promise.all(claims)).map(({ status }) => status);
  say({ acquired: statuses.filter((one) => one === 'acquired').length, answered: statuses.length });
  client.dynamodb.destroy();
}

async function hold({ key, token, complete }: Extract<Task, { kind: 'hold' }>): Promise<void> {
  const store = dynamodbStore(client, { table });
  const request = { key, token, fingerprint: 'f', leaseMs: 60_000, retainMs: 120_000 };
  const { fence } = await store.claim(request);
  if (complete) await store.complete({ ...request, fence }, request);
  say('held');
  await told();
}

async function deliver({ effects, eventId }: Extract<Task, { kind: 'inbox' }>): Promise<void> {
  const inbox = dynamodbInbox(client, { table, name: 'default' });
  const event = sampleEvent('stt.completed', { id: eventId });
  const { status } = await inbox.once({ event }, [
    {
      Update: {
        TableName: effects,
        Key: { pk: { S: eventId } },
        UpdateExpression: 'ADD effects :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      },
    },
  ]);
  say(status);
  client.dynamodb.destroy();
}
