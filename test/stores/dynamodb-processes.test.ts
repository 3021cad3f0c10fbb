import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamodbStore } from 'service-webhooks/stores/dynamodb';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { later } from '../support/deliveries.js';
import { type Fault, startDynamodb } from '../support/dynamodb.js';
import { buildProgram } from '../support/processes.js';
import { ATTEMPTS } from '../support/scale.js';
import type { Task } from './dynamodb-process.js';
import { aClaim } from './requests.js';

const server = await startDynamodb();
const { url } = server;
const client = server.open();
const table = await server.newTable();
const program = await buildProgram('test/stores/dynamodb-process.ts');
const start = (task: Task) => program.start(task);
const store = dynamodbStore({ dynamodb: client }, { table });

afterEach(() => {
  server.faults = undefined;
});
afterAll(async () => {
  program.remove();
  await server.stop();
});

/** Lets the next request of an operation hang, and resolves when it has come. */
function hangAt(wanted: string, fault: Fault): Promise<void> {
  const { promise, resolve } = later();
  server.faults = (operation) => {
    if (operation !== wanted) return undefined;
    server.faults = undefined;
    resolve();
    return fault;
  };
  return promise;
}

describe('several processes on one table of DynamoDB', () => {
  it(`one of ${ATTEMPTS} attempts in four processes acquires an event, on clocks that are 4 s apart`, async () => {
    const { key } = aClaim();
    const processes = [-2_000, 0, 0, 2_000].map((clockMs) =>
      start({ kind: 'claim', url, table, key, count: ATTEMPTS / 4, clockMs }),
    );
    expect(await Promise.all(processes.map((one) => one.next()))).toEqual(Array(4).fill('ready'));
    for (const one of processes) one.go();
    const answers = (await Promise.all(processes.map((one) => one.next()))) as { acquired: number; answered: number }[];
    expect(answers.map(({ answered }) => answered)).toEqual(Array(4).fill(ATTEMPTS / 4));
    expect(answers.reduce((sum, { acquired }) => sum + acquired, 0)).toBe(1);
    expect(await store.inspect?.(key)).toMatchObject({ state: 'in_progress', attempt: 1 });
  });

  it.each([
    [false, 'in_progress'],
    [true, 'completed'],
  ] as const)('a row stays when the process that wrote it was killed (completed: %s)', async (complete, status) => {
    const { key, token } = aClaim();
    const killed = start({ kind: 'hold', url, table, key, token, complete });
    expect(await killed.next()).toBe('held');
    await killed.kill();
    expect(await store.claim(aClaim(key))).toMatchObject({ status });
  });

  it.each([
    ['no answer before the write', 'acquired'],
    ['no answer after the write', 'in_progress'],
  ] as const)(
    'a process is killed in a claim that has %s, and the next claim is answered %s',
    async (fault, status) => {
      const { key, token } = aClaim();
      const hung = hangAt('PutItem', fault);
      const killed = start({ kind: 'hold', url, table, key, token, complete: false });
      await hung;
      await killed.kill();
      expect(await store.claim(aClaim(key))).toMatchObject({ status });
    },
  );

  it.each([
    ['no answer before the write', 'in_progress'],
    ['no answer after the write', 'completed'],
  ] as const)(
    'a process is killed in a completion that has %s, and the next claim is answered %s',
    async (fault, status) => {
      const { key, token } = aClaim();
      const hung = hangAt('UpdateItem', fault);
      const killed = start({ kind: 'hold', url, table, key, token, complete: true });
      await hung;
      await killed.kill();
      expect(await store.claim(aClaim(key))).toMatchObject({ status });
    },
  );

  it.each(['no answer before the write', 'no answer after the write'] as const)(
    'dynamodbInbox has effects exactly once though a process is killed in a transaction that has %s',
    async (fault) => {
      const [effects, eventId] = [await server.newTable(), `evt_${crypto.randomUUID()}`];
      const task: Task = { kind: 'inbox', url, table, effects, eventId };
      const hung = hangAt('TransactWriteItems', fault);
      const killed = start(task);
      await hung;
      await killed.kill();
      const retries = [start(task), start(task), start(task)];
      const answers = await Promise.all(retries.map((retry) => retry.next()));
      const isMade = fault === 'no answer after the write';
      expect(answers.sort()).toEqual([isMade ? 'duplicate' : 'done', 'duplicate', 'duplicate']);
      const { Item } = await client.send(new GetItemCommand({ TableName: effects, Key: { pk: { S: eventId } } }));
      expect(Item?.['effects']).toEqual({ N: '1' });
    },
  );
});
