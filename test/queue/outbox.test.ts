import { createReceiver } from 'service-webhooks';
import { postgresInbox } from 'service-webhooks/stores/postgres';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
// @ts-expect-error: the example is JavaScript
import * as handler from '../../examples/queues/outbox/handler.js';
// @ts-expect-error: the example is JavaScript
import * as relaying from '../../examples/queues/outbox/relay.js';
import { aDelivery, SECRET } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';

const { OUTBOX, outboxHandler } = handler;
const { relay } = relaying;
const postgres = await startPostgres();
// Every connection works in the schema of this file.
const pool = poolOf(`${postgres?.url}?options=-csearch_path%3D${postgres?.schema}`);

afterAll(async () => {
  await pool.end();
  await postgres?.stop();
});

describe.runIf(postgres)('the outbox of examples/queues', () => {
  const inbox = postgresInbox({ pg: pool }, { name: 'clips' });
  const receiver = createReceiver({
    secret: SECRET,
    dedupe: false,
    logger: false,
    on: { '*': outboxHandler(pool, inbox) },
  });

  beforeEach(async () => {
    await inbox.init();
    await pool.query(OUTBOX);
    await pool.query('TRUNCATE webhook_outbox');
  });

  async function deliver(id: string): Promise<number> {
    const { headers, body } = aDelivery({ event: { id }, at: Date.now() });
    const { status } = await receiver({ method: 'POST', headers, body });
    return status;
  }
  const waiting = async () =>
    (await pool.query('SELECT key FROM webhook_outbox ORDER BY id')).rows.map(({ key }) => key);

  it('an event leaves one message, however often it is delivered', async () => {
    const id = `evt_${crypto.randomUUID()}`;
    const statuses = await Promise.all(Array.from({ length: 10 }, () => deliver(id)));
    expect(statuses).toContain(202);
    expect(await waiting()).toEqual([id]);
    expect(await relay(pool, async () => {})).toBe(1);
    await deliver(id);
    expect(await waiting()).toEqual([]);
  });

  it('an event whose transaction failed leaves a message only after its retry', async () => {
    const id = `evt_${crypto.randomUUID()}`;
    await pool.query('ALTER TABLE webhook_outbox ADD CONSTRAINT closed CHECK (key IS NULL)');
    expect(await deliver(id)).toBe(500);
    await pool.query('ALTER TABLE webhook_outbox DROP CONSTRAINT closed');
    expect(await waiting()).toEqual([]);
    expect(await deliver(id)).toBe(202);
    expect(await waiting()).toEqual([id]);
  });

  it('two relays send each message once, also after the broker was away', async () => {
    const ids = Array.from({ length: 6 }, () => `evt_${crypto.randomUUID()}`);
    for (const id of ids) await deliver(id);
    const sent: string[] = [];
    const failing = async (key: string) => {
      if (key === ids[2]) throw new Error('the broker is away');
      sent.push(key);
    };
    await expect(relay(pool, failing)).rejects.toThrow('the broker is away');
    expect(sent).toEqual(ids.slice(0, 2));
    expect(await waiting()).toEqual(ids.slice(2));
    const send = async (key: string) => void sent.push(key);
    const counts = await Promise.all([relay(pool, send, 2), relay(pool, send, 2)]);
    expect(counts).toEqual([2, 2]);
    expect(sent.toSorted()).toEqual(ids.toSorted());
  });
});
