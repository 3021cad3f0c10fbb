import { CreateTableCommand, DynamoDB, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createReceiver, type DedupeStore } from 'service-webhooks';
import { type DynamodbSender, dynamodbStore, dynamodbTable } from 'service-webhooks/stores/dynamodb';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aReceiver, aRequest, inShort, now, refusal, rejection, SECRET } from '../support/deliveries.js';
import { startDynamodb } from '../support/dynamodb.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses, rivalOf } from './requests.js';

const server = await startDynamodb();
const client = server.open();
const table = await server.newTable();
const store = dynamodbStore({ dynamodb: client }, { table });

afterAll(() => server.stop());

/** Sets the clock of this process apart from the real one, and forward again with the next call. */
function setClock(offsetMs: number): void {
  const real = Date.now();
  const at = performance.now();
  vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(real + offsetMs + performance.now() - at));
}

/** The operations that a call has sent, in their order. */
async function sentBy(call: () => Promise<unknown>): Promise<string[]> {
  const before = server.sent.length;
  await call();
  return server.sent.slice(before).map(({ operation }) => operation);
}

const itemOf = async (key: string) =>
  (await client.send(new GetItemCommand({ TableName: table, Key: { pk: { S: key } }, ConsistentRead: true }))).Item;

const WRONG_FENCES = [0, -1, 1.5, Number.NaN, 2 ** 53];

describe('dynamodbStore', () => {
  const sender = { send: async () => ({}) };

  itRefuses(dynamodbStore, [
    ...[undefined, {}, { dynamodb: undefined }, { dynamodb: {} }].map(
      (wrong) => [wrong, {}, 'dynamodbStore takes { dynamodb: client }'] as const,
    ),
    [{ dynamoDb: sender }, {}, "id you mean 'dynamodb'?"],
    [sender, {}, "nknown option 'send' in the client of dynamodbStore"],
    [{ dynamodb: sender }, { tableName: 'a' }, "nknown option 'tableName' in dynamodbStore"],
    ...['', 'ab', 'a b', 1, null].map((wrong) => [{ dynamodb: sender }, { table: wrong }, 'table must be'] as const),
    ...[0, -1, 1.5, '5'].map(
      (wrong) => [{ dynamodb: sender }, { clockSkewMs: wrong }, 'clockSkewMs must be a positive integer'] as const,
    ),
  ]);

  it('the table of dynamodbTable has a checked name', () => {
    expect(dynamodbTable().TableName).toBe('webhook_deliveries');
    expect(refusal(() => dynamodbTable({ table: 'a b' })).code).toBe('invalid_option');
    expect(refusal(() => dynamodbTable({ name: 'abc' } as object)).message).toContain("Unknown option 'name'");
  });

  it('an error names the wrong number, and nothing is sent', async () => {
    const send = vi.fn(sender.send);
    const refusing = dynamodbStore({ dynamodb: { send } });
    await expectRefusals(refusing);
    for (const fence of WRONG_FENCES) {
      const refused = await rejection(refusing.complete({ ...aClaim(), fence }, { retainMs: 1 }));
      expect(refused.message).toContain('fence must be a positive integer');
    }
    expect(send).not.toHaveBeenCalled();
  });

  it('a store answers each operation in each state with a whole answer', async () => {
    await expectEveryAnswer(store);
  });

  it('a store works on the client of all operations too', async () => {
    const { url } = server;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const all = new DynamoDB({ endpoint: url, region: 'us-east-1', credentials });
    onTestFinished(() => all.destroy());
    await expectEveryAnswer(dynamodbStore({ dynamodb: all }, { table }));
  });

  it('a store works on a client that sends no item with a condition that failed', async () => {
    const older: DynamodbSender = {
      send: (command) =>
        client.send(command).catch((error) => {
          expect(error).toMatchObject({ name: 'ConditionalCheckFailedException' });
          delete error.Item;
          throw error;
        }),
    };
    const other = dynamodbStore({ dynamodb: older }, { table });
    await expectEveryAnswer(other);
    const request = aClaim();
    expect(await sentBy(() => other.claim(request))).toEqual(['PutItem']);
    expect(await sentBy(() => other.claim(rivalOf(request)))).toEqual(['PutItem', 'GetItem']);
    const answers = await Promise.all([1, 2, 3].map(() => other.claim(rivalOf(aClaim(`${request.key}2`)))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['acquired', 'in_progress', 'in_progress']);
  });

  it('the longest times are stored as ones that can be read again', async () => {
    const longest = Number.MAX_SAFE_INTEGER;
    const request = aClaim(undefined, { leaseMs: longest, retainMs: longest });
    const { fence } = await store.claim(request);
    const ref = { ...request, fence };
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'in_progress', fence });
    expect(await store.extend(ref, request)).toBe('ok');
    expect(await store.complete(ref, request)).toBe('ok');
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'completed', fence });
    const name = crypto.randomUUID();
    await store.saveReport?.({ name, instance: 'one', text: '{}', ttlMs: longest });
    expect(await store.loadReports?.(name)).toEqual(['{}']);
    const record = { key: crypto.randomUUID(), version: 'v', text: '{}' };
    expect(await store.jobs?.write({ ...record, keepMs: longest }, undefined)).toBe(true);
    expect((await store.jobs?.read(record.key))?.record).toEqual(record);
  });

  it('an empty alias and an empty fingerprint are kept', async () => {
    const seen = { fingerprint: '', alias: '' };
    const request = aClaim(undefined, seen);
    await store.claim(request);
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'in_progress', seen });
    expect(await store.inspect?.(request.key)).toMatchObject(seen);
  });

  it('a client that answers something else is an error', async () => {
    const item = { pk: { S: 'a' }, rowState: { S: 'other' }, rowVersion: { S: 'v' }, fence: { N: '1' } };
    const row = { ...item, rowState: { S: 'completed' }, attempt: { N: '1' }, fingerprint: { S: 'f' } };
    for (const wrong of [
      {},
      item,
      row,
      { ...row, expiresAt: { S: '1' } },
      { ...row, expiresAt: { N: '1.5' } },
      { ...row, expiresAt: { N: '1e400' } },
      { ...row, expiresAt: { N: '1' }, alias: { N: '1' } },
    ]) {
      const other = dynamodbStore({ dynamodb: { send: async () => ({ Item: wrong }) } });
      await expect(other.inspect?.('a')).rejects.toThrow('not an item of dynamodbStore');
    }
  });

  it('a row that is no row of a store is an error, and stays', async () => {
    const { key } = aClaim();
    const foreign = { pk: { S: key }, data: { S: 'of another program' } };
    await client.send(new PutItemCommand({ TableName: table, Item: foreign }));
    const ref = { ...aClaim(key), fence: 1 };
    for (const call of [
      () => store.claim(ref),
      () => store.extend(ref, ref),
      () => store.complete(ref, ref),
      () => store.release(ref),
    ]) {
      await expect(call()).rejects.toThrow('not an item of dynamodbStore');
    }
    expect(await itemOf(key)).toEqual(foreign);
  });

  it('a store that is made twenty times on one table has one owner for each key', async () => {
    const request = aClaim();
    const stores = Array.from({ length: 20 }, () => dynamodbStore({ dynamodb: server.open() }, { table }));
    const answers = await Promise.all(stores.map((one) => one.claim(rivalOf(request))));
    expect(answers.filter(({ status }) => status === 'acquired')).toHaveLength(1);
  });
});

describe('the table of dynamodbStore', () => {
  it.each([
    ['is missing', async () => 'no_such_table'],
    [
      'has another key',
      async () => {
        const other = `other-${crypto.randomUUID()}`;
        const AttributeDefinitions = [{ AttributeName: 'id', AttributeType: 'S' as const }];
        const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' as const }];
        const BillingMode = 'PAY_PER_REQUEST' as const;
        await client.send(new CreateTableCommand({ TableName: other, AttributeDefinitions, KeySchema, BillingMode }));
        return other;
      },
    ],
  ])('where it %s, init says what to do and a delivery is answered 503', async (_, make) => {
    const other = dynamodbStore({ dynamodb: client }, { table: await make() });
    const error = await rejection(other.init?.() as Promise<void>);
    expect(error).toMatchObject({ code: 'store_unavailable', cause: expect.any(Error) });
    expect(`${error.message} ${error.hint}`).toMatch(/no table '.*dynamodbTable or by docs\/stores\.md/);
    const { receiver, find } = aReceiver({ dedupe: { store: other, name: 'default' } });
    expect(inShort(await receiver(aRequest()))).toBe('503 store_unavailable');
    expect(find('store_error')).toMatchObject({ operation: 'claim' });
  });

  it('where it has no index, events are handled, and jobs and reports say what is missing', async () => {
    const other = `other-${crypto.randomUUID()}`;
    const { GlobalSecondaryIndexes: _, ...input } = dynamodbTable({ table: other });
    const AttributeDefinitions = input.AttributeDefinitions?.slice(0, 1);
    await client.send(new CreateTableCommand({ ...input, AttributeDefinitions }));
    const bare = dynamodbStore({ dynamodb: client }, { table: other });
    await bare.init?.();
    await expectEveryAnswer(bare);
    for (const call of [() => bare.loadReports?.('clips'), () => bare.jobs?.init?.(), () => bare.jobs?.count()]) {
      expect(await rejection(call() as Promise<unknown>)).toMatchObject({ code: 'store_unavailable' });
    }
  });
});

describe('what dynamodbStore sends', () => {
  it('a delivery is two writes, and a duplicate is one that is refused', async () => {
    const { receiver } = aReceiver({ dedupe: { store, name: 'default' } });
    await receiver(aRequest({ event: { id: 'evt_init' } }));
    const event = { id: `evt_${crypto.randomUUID()}` };
    expect(await sentBy(() => receiver(aRequest({ event })))).toEqual(['PutItem', 'UpdateItem']);
    expect(await sentBy(() => receiver(aRequest({ event })))).toEqual(['PutItem']);
  });

  it('a takeover, a late extension and a release are these requests', async () => {
    const request = aClaim();
    const ref = { ...request, fence: 1 };
    expect(await sentBy(() => store.claim(request))).toEqual(['PutItem']);
    expect(await sentBy(() => store.claim(rivalOf(request)))).toEqual(['PutItem']);
    expect(await sentBy(() => store.extend(ref, request))).toEqual(['UpdateItem']);
    expect(await sentBy(() => store.release(ref))).toEqual(['UpdateItem']);
    expect(await sentBy(() => store.claim(rivalOf(request)))).toEqual(['PutItem', 'PutItem']);
    expect(await sentBy(() => store.complete(ref, request))).toEqual(['UpdateItem']);
    expect(await sentBy(async () => store.inspect?.(request.key))).toEqual(['GetItem']);
    expect(await sentBy(async () => store.forget?.(request.key))).toEqual(['UpdateItem']);
    expect(await sentBy(async () => store.forget?.('absent'))).toEqual(['UpdateItem', 'GetItem']);
    expect(await itemOf('absent')).toBeUndefined();
  });

  it('each read of a row is strongly consistent, and nothing is a scan', () => {
    expect(server.sent.map(({ operation }) => operation)).not.toContain('Scan');
    const reads = server.sent.filter(({ operation }) => operation === 'GetItem');
    expect(reads.length).toBeGreaterThan(5);
    expect(reads.filter(({ data }) => data['ConsistentRead'] !== true)).toEqual([]);
  });

  it('two receivers see the reports of each other', async () => {
    const name = `clips-${crypto.randomUUID()}`.slice(0, 40);
    const receiverOf = () =>
      createReceiver({
        secret: SECRET,
        now,
        on: { '*': () => {} },
        logger: false,
        dedupe: { store: dynamodbStore({ dynamodb: server.open() }, { table }), name },
      });
    const [one, two] = [receiverOf(), receiverOf()];
    await one(aRequest());
    await two(aRequest({ secret: 'a guess' }));
    await Promise.all([one.health(), two.health()]); // each writes its report
    for (const health of await Promise.all([one.health(), two.health()])) {
      expect(health).toMatchObject({ receivers: 2, lastRefused: { code: 'signature_mismatch' } });
    }
  });
});

describe('the records of jobs of dynamodbStore', () => {
  it('a list reads on where records of it have lost a part of their text', async () => {
    const tableOfJobs = await server.newTable();
    const own = dynamodbStore({ dynamodb: client }, { table: tableOfJobs }).jobs as Required<DedupeStore>['jobs'];
    const long = `"${'x'.repeat(300_000)}"`;
    for (const [i, key] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
      const text = ['a', 'b', 'd', 'e'].includes(key) ? long : '{}';
      await own.write({ key, version: `v${key}`, text, dueAt: 100 + i }, undefined);
    }
    const losing: DynamodbSender = {
      async send(command: { input: { Key?: Record<string, { S?: string }> } }) {
        const isPart = command.input.Key?.['pk']?.S?.startsWith(':part:');
        return isPart ? {} : client.send(command as never);
      },
    };
    const { list } = dynamodbStore({ dynamodb: losing }, { table: tableOfJobs }).jobs as typeof own;
    const keysOf = async (page: Parameters<typeof list>[0]) => (await list(page)).map(({ key }) => key);
    expect(await keysOf({ limit: 1, overdue: true })).toEqual(['c']);
    expect(await keysOf({ limit: 2, overdue: true })).toEqual(['c', 'f']);
    expect(await keysOf({ limit: 3, overdue: false })).toEqual(['c', 'f']);
    expect(await keysOf({ limit: 2, overdue: true, after: { dueAt: 102, key: 'c' } })).toEqual(['f']);
  });

  it('a list after a place that is no time is refused', async () => {
    for (const dueAt of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY]) {
      const listing = store.jobs?.list({ limit: 1, overdue: false, after: { dueAt, key: 'a' } });
      expect(await rejection(listing as Promise<unknown>)).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('after.dueAt must be a time'),
      });
    }
  });
});

describe('the clocks of dynamodbStore', () => {
  it('a receiver whose clock is 5 s ahead takes no key from an owner whose lease is running', async () => {
    const request = aClaim(undefined, { leaseMs: 2_000 });
    await store.claim(request);
    setClock(5_000);
    const rival = await store.claim(rivalOf(request));
    expect(rival).toMatchObject({ status: 'in_progress', retryAfterMs: expect.any(Number) });
    setClock(5_000 + 2_100 - 5_000);
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'acquired', attempt: 2 });
  });

  it('the wait of a rival is the rest of the lease, and then the rest of the tolerance', async () => {
    const request = aClaim(undefined, { leaseMs: 10_000 });
    await store.claim(request);
    const waitOf = async () => (await store.claim(rivalOf(request))) as { retryAfterMs: number };
    const within = async (least: number, most: number) => {
      const { retryAfterMs } = await waitOf();
      expect([retryAfterMs >= least, retryAfterMs <= most]).toEqual([true, true]);
    };
    await within(1, 10_000);
    setClock(10_000);
    await within(1, 5_000);
  });

  it('the fence of a key grows though the clock of the next owner is behind', async () => {
    for (const forget of [false, true]) {
      const request = aClaim();
      setClock(60_000);
      const first = await store.claim(request);
      setClock(-60_000);
      if (forget) await store.forget?.(request.key);
      else await store.release({ ...request, fence: first.fence });
      vi.restoreAllMocks();
      const second = await store.claim(rivalOf(request));
      expect(second).toMatchObject({ status: 'acquired', attempt: forget ? 1 : 2 });
      expect(second.fence).toBeGreaterThan(first.fence);
    }
  });

  it('a forgotten row is absent for a receiver whose clock is behind', async () => {
    const request = aClaim();
    const { fence } = await store.claim(request);
    await store.complete({ ...request, fence }, request);
    await store.forget?.(request.key);
    setClock(-600_000);
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'acquired', attempt: 1 });
  });
});

describe('the rows of dynamodbStore', () => {
  it('DynamoDB may remove a row an hour after its end, and not before, in each state', async () => {
    const request = aClaim();
    const isRight = async () => {
      const { removeAt, expiresAt } = (await itemOf(request.key)) ?? {};
      const end = Math.max(Number(expiresAt?.N), Date.now());
      const later = Number(removeAt?.N) * 1_000 - end;
      expect(Number.isSafeInteger(Number(removeAt?.N))).toBe(true);
      expect([later > 3_590_000, later < 3_610_000]).toEqual([true, true]);
    };
    const { fence } = await store.claim(request);
    const ref = { ...request, fence };
    await isRight();
    await store.extend(ref, { leaseMs: 2 * request.retainMs });
    await isRight();
    await store.release(ref);
    await isRight();
    const second = rivalOf(request);
    const taken = await store.claim(second);
    await store.complete({ ...second, fence: taken.fence }, { retainMs: 10 * request.retainMs });
    await isRight();
    await store.forget?.(request.key);
    await isRight();
  });

  it('a row has the size that the documentation says, below 1 KB in each state', async () => {
    // A key of 49 characters, as those of the other stores are measured with.
    const request = aClaim(`storage:${crypto.randomUUID()}-evt1`, {
      token: 'a'.repeat(32),
      fingerprint: 'f'.repeat(64),
      alias: 'k'.repeat(36),
      retainMs: 259_200_000,
    });
    const largest = aClaim('x'.repeat(200), { alias: 'k'.repeat(255), fingerprint: 'f'.repeat(64) });
    const { fence } = await store.claim(request);
    await store.claim(largest);
    const sizes = [await sizeOf(request.key), await sizeOf(largest.key)];
    await store.complete({ ...request, fence }, request);
    expect([...sizes, await sizeOf(request.key)]).toEqual([346, 720, 326]);
    expect(request.key).toHaveLength(49);
  });
});

/** By the rule of AWS: the bytes of names and texts, and of a number one for each two digits, and one more. */
async function sizeOf(key: string): Promise<number> {
  const attributes = Object.entries((await itemOf(key)) ?? {});
  return attributes.reduce(
    (sum, [name, { S, N = '' }]) => sum + name.length + (S?.length ?? Math.ceil(N.length / 2) + 1),
    0,
  );
}
