import { GetItemCommand, PutItemCommand, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { type DynamodbInboxOptions, dynamodbInbox, dynamodbStore } from 'service-webhooks/stores/dynamodb';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, inShort, rejection } from '../support/deliveries.js';
import { type Fault, startDynamodb } from '../support/dynamodb.js';
import { deliveryOf, itRefuses, wrongInboxOptions } from './requests.js';

const server = await startDynamodb();
const client = server.open();
const table = await server.newTable();
const clips = await server.newTable();

afterEach(() => {
  server.faults = undefined;
});
afterAll(() => server.stop());

const anInbox = (options: Partial<DynamodbInboxOptions> = {}) =>
  dynamodbInbox({ dynamodb: client }, { name: 'default', table, ...options });
const inbox = anInbox();

const anId = () => `evt_${crypto.randomUUID()}`;

/** A write that counts how often it was made. */
const count = (id: string): TransactWriteItem => ({
  Update: {
    TableName: clips,
    Key: { pk: { S: id } },
    UpdateExpression: 'ADD effects :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  },
});

/** A write that fails where there is an item. */
const putNew = (id: string): TransactWriteItem => ({
  Put: { TableName: clips, Item: { pk: { S: id } }, ConditionExpression: 'attribute_not_exists(pk)' },
});

async function effectsOf(id: string): Promise<number> {
  const { Item } = await client.send(new GetItemCommand({ TableName: clips, Key: { pk: { S: id } } }));
  return Number(Item?.['effects']?.N ?? 0);
}

const done = { status: 'done' };
const duplicate = { status: 'duplicate' };

describe('dynamodbInbox', () => {
  const sender = { dynamodb: { send: async () => ({}) } };

  itRefuses(dynamodbInbox, [
    [{}, { name: 'clips' }, 'dynamodbInbox takes { dynamodb: client }'],
    ...wrongInboxOptions
      .filter(([options]) => options === null || !('waitMs' in options))
      .map(([options, says]) => [sender, options, says] as const),
    [sender, { name: 'clips', waitMs: 300 }, "nknown option 'waitMs' in dynamodbInbox"],
    [sender, { name: 'clips', Table: 'a' }, "id you mean 'table'?"],
    [sender, { name: 'clips', table: 'a b' }, 'table must be'],
  ]);

  it('an inbox makes the writes of an event once', async () => {
    const [one, two] = [anId(), anId()];
    await inbox.init();
    expect(await inbox.once(deliveryOf(one), [count(one)])).toEqual(done);
    expect(await inbox.once(deliveryOf(one), [count(one)])).toEqual(duplicate);
    expect(await inbox.once(deliveryOf(two), [count(two)])).toEqual(done);
    expect([await effectsOf(one), await effectsOf(two)]).toEqual([1, 1]);
  });

  it('an inbox records an event without writes', async () => {
    const id = anId();
    expect(await inbox.once(deliveryOf(id), [])).toEqual(done);
    expect(await inbox.once(deliveryOf(id), [])).toEqual(duplicate);
  });

  it('an inbox makes 99 writes with the record, and refuses 100 and what is no list', async () => {
    const id = anId();
    const writes = (length: number) => Array.from({ length }, (_, i) => count(`${id}-${i}`));
    for (const wrong of [writes(100), undefined, {}]) {
      const error = await rejection(inbox.once(deliveryOf(id), wrong as TransactWriteItem[]));
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(error.message).toContain('writes must be a list of at most 99 writes');
    }
    expect(await inbox.once(deliveryOf(id), writes(99))).toEqual(done);
    expect(await effectsOf(`${id}-98`)).toBe(1);
  });

  it('an inbox makes the writes once for each tenant and name, and forgets those of one', async () => {
    const id = anId();
    const once = async (tenant?: string) => (await inbox.once({ ...deliveryOf(id), tenant }, [count(id)])).status;
    expect([await once(), await once('acme'), await once('Müller'), await once('acme')]).toEqual([
      'done',
      'done',
      'done',
      'duplicate',
    ]);
    await inbox.forget(id, { tenant: 'acme' });
    expect([await once(), await once('acme'), await once('Müller')]).toEqual(['duplicate', 'done', 'duplicate']);
    expect(await anInbox({ name: 'other' }).once(deliveryOf(id), [count(id)])).toEqual(done);
    await inbox.forget(id);
    expect(await once()).toBe('done');
    expect(await effectsOf(id)).toBe(6);
  });

  it('an inbox in the table of a store shares no row with it', async () => {
    const id = anId();
    const store = dynamodbStore({ dynamodb: client }, { table });
    const request = { key: `default:${id}`, token: 't', fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 };
    await store.claim(request);
    expect(await inbox.once(deliveryOf(id), [])).toEqual(done);
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'in_progress' });
    await store.forget?.(request.key);
    expect(await inbox.once(deliveryOf(id), [])).toEqual(duplicate);
  });

  it('an event is new again after its retention', async () => {
    const id = anId();
    expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(done);
    const real = Date.now();
    const at = (hours: number) => vi.spyOn(Date, 'now').mockImplementation(() => real + hours * 3_600_000);
    at(71);
    expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(duplicate);
    at(73);
    expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(done);
  });

  it('a condition of the user that fails undoes the record, and its error has the reasons in the order of the writes', async () => {
    const id = anId();
    await client.send(new PutItemCommand({ TableName: clips, Item: { pk: { S: `${id}-taken` } } }));
    const failure = await inbox.once(deliveryOf(id), [count(id), putNew(`${id}-taken`)]).catch((error) => error);
    expect(failure).toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    });
    expect(await effectsOf(id)).toBe(0);
    expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(done);
  });

  it('a duplicate whose conditions fail as well is a duplicate', async () => {
    const id = anId();
    expect(await inbox.once(deliveryOf(id), [putNew(id)])).toEqual(done);
    expect(await inbox.once(deliveryOf(id), [putNew(id)])).toEqual(duplicate);
  });

  it('one of twenty simultaneous attempts makes the writes', async () => {
    const id = anId();
    const inboxes = Array.from({ length: 20 }, () =>
      dynamodbInbox({ dynamodb: server.open() }, { name: 'default', table }),
    );
    const answers = await Promise.all(inboxes.map((one) => one.once(deliveryOf(id), [count(id)])));
    expect(answers.filter(({ status }) => status === 'done')).toHaveLength(1);
    expect(await effectsOf(id)).toBe(1);
  });

  it.each<Fault>(['cut before the write', 'cut after the write', 'throttled', 'throughput exceeded'])(
    'an attempt whose request is %s, which the client repeats, is done once',
    async (fault) => {
      const id = anId();
      let requests = 0;
      server.faults = () => {
        requests += 1;
        return requests === 1 ? fault : undefined;
      };
      expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(done);
      expect(requests).toBe(2);
      expect(await effectsOf(id)).toBe(1);
    },
  );

  it('an attempt that finds its own record is done, also when DynamoDB no longer knows its token', async () => {
    const id = anId();
    const sent = vi.fn(async (command: { input: { TransactItems: TransactWriteItem[] } }) => {
      await client.send(command as never);
      // As a repetition is answered ten minutes later.
      const Item = command.input.TransactItems.at(-1)?.Put?.Item;
      const CancellationReasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }];
      throw Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException', CancellationReasons });
    });
    const late = dynamodbInbox({ dynamodb: { send: sent } }, { name: 'default', table });
    expect(await late.once(deliveryOf(id), [count(id)])).toEqual(done);
    expect(await inbox.once(deliveryOf(id), [count(id)])).toEqual(duplicate);
  });

  it.each([
    ['a conflict on its record', [{ Code: 'None' }, { Code: 'TransactionConflict' }], 'delivery_in_progress'],
    ['a conflict on an item of the user', [{ Code: 'TransactionConflict' }, { Code: 'None' }], 'delivery_in_progress'],
    [
      'a conflict and a failed condition',
      [{ Code: 'ConditionalCheckFailed' }, { Code: 'TransactionConflict' }],
      undefined,
    ],
    ['an item that is too large', [{ Code: 'ItemCollectionSizeLimitExceeded' }, { Code: 'None' }], undefined],
    ['reasons that are missing', undefined, undefined],
  ])('a transaction that is cancelled for %s is not a duplicate', async (_, CancellationReasons, code) => {
    const cancelled = Object.assign(new Error('cancelled'), {
      name: 'TransactionCanceledException',
      CancellationReasons,
    });
    const failing = dynamodbInbox({ dynamodb: { send: () => Promise.reject(cancelled) } }, { name: 'default', table });
    const error = await failing.once(deliveryOf(anId()), [count('a')]).catch((one) => one);
    expect(error).toMatchObject(
      code ? { code, status: 409, cause: cancelled } : { name: 'TransactionCanceledException' },
    );
  });

  it('a transaction that is still running is in progress', async () => {
    const running = Object.assign(new Error('running'), { name: 'TransactionInProgressException' });
    const failing = dynamodbInbox({ dynamodb: { send: () => Promise.reject(running) } }, { name: 'default', table });
    expect(await rejection(failing.once(deliveryOf(anId()), []))).toMatchObject({ code: 'delivery_in_progress' });
  });

  it('where the table is missing, init and forget say what to do, and once has the error of the client', async () => {
    const other = anInbox({ table: 'no_such_table' });
    for (const call of [() => other.init(), () => other.forget(anId())]) {
      const error = await rejection(call());
      expect(error).toMatchObject({ code: 'store_unavailable' });
      expect(error.message).toContain("no table 'no_such_table'");
    }
    await expect(other.once(deliveryOf(anId()), [])).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });

  it('a receiver with an inbox answers 200, 200 and, while another transaction runs, 409', async () => {
    const id = anId();
    const { receiver } = aReceiver({
      dedupe: false,
      on: {
        '*': async (_, { delivery }) => {
          await inbox.once(delivery, [count(id)]);
        },
      },
    });
    const request = () => aRequest({ event: { id } });
    expect(inShort(await receiver(request()))).toBe('200 handled');
    expect(inShort(await receiver(request()))).toBe('200 handled');
    expect(await effectsOf(id)).toBe(1);
    server.faults = () => 'conflict';
    expect(inShort(await receiver(aRequest({ event: { id: anId() } })))).toBe('409 delivery_in_progress');
  });

  it('no request of an inbox is a scan', () => {
    const operations = server.sent.map(({ operation }) => operation);
    expect(operations).toContain('TransactWriteItems');
    expect(operations).not.toContain('Scan');
  });
});
