import { jobReader } from 'service-webhooks/queue';
import { type SqliteClient, sqliteQueue } from 'service-webhooks/queue/sqlite';
import { describe, expect, it } from 'vitest';
import { newBodyId } from '../../src/queue/packed-delivery.js';
import { connect } from '../integration/sqlite.js';
import { libraries } from '../integration/sqlite-libraries.js';
import { aQueued } from './queued.js';

const KEY = Buffer.from(Array.from({ length: 32 }, (_, n) => n)).toString('base64');
const OTHER_KEY = Buffer.from(Array.from({ length: 32 }, (_, n) => n + 1)).toString('base64');
const DELIVERY = aQueued({ eventId: 'evt_a', tenant: 'acme' });
const ID = 'a'.repeat(64);

/** Returns the job that a queue stores. */
async function stored(options: object): Promise<unknown> {
  const [, driver] = libraries[0] ?? expect.fail('no library');
  const handle = connect(driver, ':memory:');
  const client = { [driver.client]: handle } as unknown as SqliteClient;
  const queue = sqliteQueue(client, { name: 'clips', ...options });
  await queue.init();
  await queue.put(DELIVERY);
  const { job } = handle.prepare('SELECT job FROM webhook_queue').get() as { job: string };
  handle.close();
  return JSON.parse(job);
}

describe('a reader of jobs', () => {
  it('a job of version 1 is read as it is, and another value is none', async () => {
    const read = jobReader();
    expect(await read(DELIVERY)).toEqual({ delivery: DELIVERY });
    for (const value of [undefined, null, 'job', 7, {}, { ...DELIVERY, v: 3 }])
      expect(await read(value)).toEqual({ delivery: undefined });
  });

  it.runIf(libraries.length > 0)(
    'an encrypted job is read with its key, also where another key is the first',
    async () => {
      const job = await stored({ encrypt: KEY });
      expect((await jobReader({ encrypt: [OTHER_KEY, KEY] })(job)).delivery).toEqual(DELIVERY);
    },
  );

  it.runIf(libraries.length > 0).each([
    [{}, 'encrypt is not set', 'encrypt'],
    [{ encrypt: OTHER_KEY }, 'which is not in encrypt', 'key'],
  ])('without its key the event is known by its key in the queue: %o', async (options, why, needs) => {
    const { delivery, unopened } = await jobReader(options)(await stored({ encrypt: KEY }));
    expect(delivery).toBeUndefined();
    expect(unopened).toEqual({ key: DELIVERY.key, tenant: 'acme', why: expect.stringContaining(why), needs });
  });

  it('an id of another form than the library writes never reaches an overflow', async () => {
    const own = await newBodyId('clips:evt_a');
    const asked: string[] = [];
    const asks = async (id: string) => void asked.push(id);
    const read = jobReader({ overflow: { put: asks, get: asks, delete: asks } as never });
    for (const id of [ID, '../../etc/passwd', '', ID.toUpperCase(), `${ID}\n`, 7, null])
      expect(await read({ v: 2, key: 'clips:evt_a', overflow: { id, hash: ID } })).toMatchObject({
        unopened: { key: 'clips:evt_a', why: expect.stringContaining('another form') },
      });
    expect(asked).toEqual([]);
    await read({ v: 2, key: 'clips:evt_a', overflow: { id: own, hash: ID } });
    expect(asked).toEqual([own]);
  });

  it('an unknown option is refused', () => {
    expect(() => jobReader({ decrypt: KEY } as never)).toThrow('encrypt');
  });
});
