import { DeleteItemCommand, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { DedupeStore } from 'service-webhooks';
import { type DynamodbSender, dynamodbStore } from 'service-webhooks/stores/dynamodb';
import { type StoreCase, type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openDynamodb, startDynamodb } from '../support/dynamodb.js';
import { RACES } from '../support/scale.js';

const server = await startDynamodb();
const table = await server.newTable();
const [one, two] = [server.open(), server.open()];

afterAll(() => server.stop());

const pk = (key: string) => ({ TableName: table, Key: { pk: { S: key } } });

/** Clients whose clocks agree: the end of a lease is sure at once. */
const IN_REAL_TIME = { clockSkewMs: 1, rounds: 20 };

function suite(
  options: Partial<StoreSuiteOptions> & { clockSkewMs: number },
  plant: (client: DynamoDBClient) => DynamodbSender = (client) => client,
): readonly StoreCase[] {
  const { clockSkewMs } = options;
  const storeOn = (client: DynamoDBClient): DedupeStore =>
    dynamodbStore({ dynamodb: plant(client) }, { table, clockSkewMs });
  return storeSuite<StoreUnderTest>({
    without: ['purgeExpired'],
    expiresByItself: true,
    make: () => ({ store: storeOn(one), store2: storeOn(two) }),
    evict: (_, key) => one.send(new DeleteItemCommand(pk(key))),
    raw: async (_, key) => (await one.send(new GetItemCommand(pk(key)))).Item,
    restart: () => storeOn(server.open()),
    disconnect: () => server.cutConnections(),
    unreachable: () => storeOn(openDynamodb('http://127.0.0.1:1', { maxAttempts: 1 })),
    ...options,
  });
}

describe('dynamodbStore in real time, on clocks that agree', () => {
  for (const { name, skip, run } of suite({ ...IN_REAL_TIME, rounds: RACES })) it.skipIf(skip)(name, run);
});

describe('dynamodbStore with its default tolerance, on a clock that the suite moves', () => {
  const clockSkewMs = 5_000;
  const realNow = Date.now;
  let offset = 0;
  const cases = suite({
    clockSkewMs,
    rounds: 20,
    // A lease is over for the store when it has been over for as long as clocks may differ.
    advance(_, ms) {
      offset += ms + clockSkewMs;
    },
  });
  for (const { name, skip, run } of cases) {
    it.skipIf(skip)(name, async () => {
      vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offset);
      await run();
    });
  }
});

/** Makes each condition with a text one that every stored row meets. */
const ignores =
  (text: string) =>
  (client: DynamoDBClient): DynamodbSender => ({
    send(command: { input: { ConditionExpression?: string } }) {
      const { input } = command;
      const isMet = `(${text} OR attribute_exists(pk))`;
      if (input.ConditionExpression) input.ConditionExpression = input.ConditionExpression.replace(text, isMet);
      return client.send(command as never);
    },
  });

/** Bugs of a store on DynamoDB, with a case of the suite that must catch each. */
const PLANTED: readonly [bug: string, plant: (client: DynamoDBClient) => DynamodbSender, caughtBy: string][] = [
  [
    'claims a new key whether there is a row or not',
    ignores('attribute_not_exists(pk)'),
    'exactly one of 32 simultaneous claims acquires a new key',
  ],
  [
    'writes a row that was changed since it was read',
    ignores('rowVersion = :found'),
    'exactly one of 32 simultaneous claims acquires a released key',
  ],
  [
    'does not look whose row it completes',
    ignores('ownerToken = :token'),
    'a token that does not own the row is answered lost, and nothing is written',
  ],
  [
    'completes a row that was released',
    ignores('rowState = :progress AND ownerToken = :token'),
    'a complete is never undone by a release or a claim at the same time',
  ],
  [
    'lets a row end before its lease',
    ignores('expiresAt >= :leaseUntil'),
    'a row is kept for as long as the lease that extend gave it',
  ],
  [
    'writes a record of a job whatever version it replaces',
    ignores('recordVersion = :replaces'),
    'exactly one of the simultaneous writes that replace the same version is stored',
  ],
];

describe('dynamodbStore with a planted bug', () => {
  it.each(PLANTED)('the suite catches a store that %s', async (_, plant, caughtBy) => {
    const found = suite(IN_REAL_TIME, plant).find(({ name }) => name === caughtBy);
    await expect(found?.run()).rejects.toThrow(/\(R\d+: /);
  });
});

it('no request of the suite is a scan', () => {
  const operations = new Set(server.sent.map(({ operation }) => operation));
  expect([...operations].toSorted()).toEqual([
    'CreateTable',
    'DeleteItem',
    'GetItem',
    'PutItem',
    'Query',
    'UpdateItem',
  ]);
});
