import { createReceiver, type DeliveryQueue } from 'service-webhooks';
import { cloudflareQueue } from 'service-webhooks/queue/cloudflare';
import { natsQueue } from 'service-webhooks/queue/nats';
import { type Overflow, postgresOverflow, r2Overflow, sqliteOverflow } from 'service-webhooks/queue/overflow';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { refusal, SECRET } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { anOverflow } from './overflows.js';

const { newFile, open } = sqliteFiles();
const postgres = await startPostgres();
const pool = postgres && poolOf(postgres.url);
afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

/** A bucket as the binding of R2 is. */
function aBucket() {
  const objects = new Map<string, Uint8Array>();
  return {
    objects,
    put: async (key: string, value: Uint8Array) => objects.set(key, value.slice()),
    async get(key: string) {
      const found = objects.get(key);
      return found ? { arrayBuffer: async () => found.slice().buffer } : null;
    },
    delete: async (key: string) => objects.delete(key),
  };
}

/** Each with a table of its own. */
const postgresForm = () => {
  tables += 1;
  return postgresOverflow({ pg: pool as NonNullable<typeof pool> }, { table: `bodies_${tables}` });
};
let tables = 0;

const forms: (readonly [name: string, make: () => Overflow])[] = [
  ['r2Overflow', () => r2Overflow(aBucket())],
  ...libraries.map(
    ([name, driver]) =>
      [`sqliteOverflow on ${name}`, () => sqliteOverflow(clientOf(driver, open(driver, newFile())))] as const,
  ),
  ...(pool ? [['postgresOverflow', postgresForm] as const] : []),
];

describe.each(forms)('%s', (_, make) => {
  let overflow: Overflow;
  beforeEach(() => {
    overflow = make();
  });

  const ID = 'ab'.repeat(32);
  const bytes = async () => {
    const body = await overflow.get(ID);
    return body && Buffer.from(body instanceof ArrayBuffer ? new Uint8Array(body) : body);
  };

  it('a body of any bytes is the same when it is read', async () => {
    const body = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256);
    await overflow.put(ID, body);
    expect((await bytes())?.equals(body)).toBe(true);
  });

  it('a body that is put again replaces the first', async () => {
    await overflow.put(ID, new Uint8Array([1]));
    await overflow.put(ID, new Uint8Array([1, 2]));
    expect(await bytes()).toEqual(Buffer.from([1, 2]));
  });

  it('a body that was deleted is gone, and may be deleted again', async () => {
    await overflow.put(ID, new Uint8Array(0));
    expect(await bytes()).toEqual(Buffer.alloc(0));
    await overflow.delete(ID);
    await overflow.delete(ID);
    expect((await overflow.get(ID)) ?? undefined).toBeUndefined();
  });

  it('calls at the same time create one table', async () => {
    const others = Array.from({ length: 4 }, () => overflow);
    await Promise.all(others.map((one, i) => one.put(`${i}`.repeat(64), new Uint8Array([i]))));
    expect(await overflow.get('3'.repeat(64))).toBeDefined();
  });
});

describe('the ready overflows', () => {
  it.each<[string, () => unknown, string]>([
    ['r2Overflow without a bucket', () => r2Overflow(undefined as never), 'binding of Cloudflare R2'],
    ['sqliteOverflow without a handle', () => sqliteOverflow({} as never), 'sqliteOverflow takes { betterSqlite3'],
    ['postgresOverflow of a bare pool', () => postgresOverflow({ query() {} } as never), 'postgresOverflow'],
    [
      'postgresOverflow with another table',
      () => postgresOverflow({ pg: { query() {} } } as never, { table: 'a b' }),
      'table',
    ],
  ])('%s is refused', (_, make, message) => {
    expect(refusal(make).message).toContain(message);
  });

  it('objects of R2 have the prefix', async () => {
    const bucket = aBucket();
    await r2Overflow(bucket, { prefix: 'clips/' }).put('id', new Uint8Array([1]));
    expect([...bucket.objects.keys()]).toEqual(['clips/id']);
  });
});

describe('a receiver in front of a queue with a limit', () => {
  const binding = { send: async () => {} };
  const jetstream = { publish() {}, jetstreamManager() {}, nc: { info: { max_payload: 1_048_576 } } } as never;
  const queues: [name: string, make: (overflow?: Overflow) => DeliveryQueue, most: number][] = [
    ['Cloudflare Queues', (overflow) => cloudflareQueue({ queue: binding, name: 'clips', overflow }), 95_175],
    ['NATS', (overflow) => natsQueue({ jetstream, stream: 'clips', overflow }), 778_770],
  ];

  it.each(queues)('of %s refuses a maxBodyBytes that does not fit, also the default', (_, make, most) => {
    const created = (maxBodyBytes?: number) => () => createReceiver({ secret: SECRET, queue: make(), maxBodyBytes });
    for (const [make, bytes] of [
      [created(), 5_242_880],
      [created(most + 1), most + 1],
    ] as const) {
      const { code, problem, hint } = refusal(make);
      expect(code).toBe('invalid_option');
      expect(problem).toBe(`maxBodyBytes is ${bytes}, and a job of the queue holds a body of at most ${most} bytes.`);
      expect(hint).toContain('Pass overflow to the queue');
    }
    expect(created(most)).not.toThrow();
  });

  it.each(queues)('of %s takes every body with an overflow', (_, make) => {
    const queue = make(anOverflow());
    expect(queue.maxBodyBytes).toBeUndefined();
    expect(() => createReceiver({ secret: SECRET, queue })).not.toThrow();
  });
});
