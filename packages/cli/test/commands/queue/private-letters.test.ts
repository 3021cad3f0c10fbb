import { PermanentError } from 'service-webhooks';
import { toQueued } from 'service-webhooks/queue';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { anEvent } from '../../../../../test/support/deliveries.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { useCli } from '../../support/cli.js';
import { everyEngine } from './every-engine.js';
import { fileOverflow } from './file-overflow.js';
import { queueServers } from './queue-servers.js';
import { summedUp } from './summed-up.js';

const cli = useCli();
const servers = await queueServers();
const key = (seed: number) => Buffer.from(Array.from({ length: 32 }, (_, n) => n + seed)).toString('base64');
const KEYS = { WEBHOOK_QUEUE_KEYS: `${key(1)},\n${key(0)}` };
const EMAIL = 'bob@example.com';

/** A delivery whose body goes to the overflow where it is large. */
function aDelivery(eventId: string, { isLarge = false } = {}) {
  const event = { ...anEvent({ id: eventId }), data: { email: EMAIL, text: isLarge ? 'x'.repeat(400_000) : 'short' } };
  const body = new TextEncoder().encode(JSON.stringify(event));
  const delivery = { event, body, scheme: 'v2', signedAt: 1, secretIndex: 0, tenant: 'acme', unsigned: {} };
  return toQueued(delivery as never, `clips:tenant=acme:${eventId}`, Date.now());
}

describe.each(everyEngine(cli, servers, `private-${process.pid}`))('private dead letters of $name', (engine) => {
  const queue = async (...words: string[]) =>
    summedUp(await cli.run(['queue', ...words, ...engine.place, '--json'], { env: { ...engine.env, ...KEYS } }));

  it('they are listed without a key, shown and sent with it, and a body outside is deleted with its letter', async () => {
    const { overflow, module, left } = fileOverflow(cli.cwd);
    const bodies = { encrypt: key(0), overflow };
    const fixture = await engine.open(bodies);
    onTestFinished(() => fixture.close());
    await fixture.queue.init?.();
    const handler = () => Promise.reject(new PermanentError(`no user ${EMAIL}`));
    fixture.work({ on: { '*': handler }, logger: false, ...bodies });
    await fixture.queue.put(aDelivery('evt_small'));
    await fixture.queue.put(aDelivery('evt_large', { isLarge: true }));
    await vi.waitUntil(async () => (await fixture.queue.stats()).dead === 2, PATIENTLY);
    expect(left()).toHaveLength(1);

    const closed = await queue('list');
    expect(closed.records.map(({ eventId, tenant }) => [eventId, tenant]).toSorted()).toEqual([
      ['evt_large', 'acme'],
      ['evt_small', 'acme'],
    ]);
    const notShown = 'The body is encrypted: pass --decrypt.';
    expect((await queue('show', 'evt_small')).records).toMatchObject([
      { notShown, key: 'clips:tenant=acme:evt_small' },
    ]);
    const outside = 'The body is kept outside of the queue: pass --overflow.';
    expect((await queue('show', 'evt_large', '--decrypt')).records).toMatchObject([{ notShown: outside }]);

    const open = ['--decrypt', '--overflow', module];
    for (const eventId of ['evt_small', 'evt_large']) {
      const [shown] = (await queue('show', eventId, ...open)).records;
      expect(JSON.parse(String(shown?.['body']))).toMatchObject({ id: eventId, data: { email: EMAIL } });
      expect(shown).not.toHaveProperty('notShown');
    }
    const redacted = await queue('show', 'evt_small', ...open, '--redact', 'data.email');
    expect(redacted.stdout).not.toContain(EMAIL);
    expect(redacted.records).toMatchObject([{ reason: expect.stringContaining('no user redacted') }]);

    const refused = await queue('discard', 'evt_small', 'evt_large');
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('pass --overflow. Nothing is changed.'),
    });
    expect((await fixture.queue.stats()).dead).toBe(2);
    expect(await queue('retry', '--all', '--wait', '50s')).toMatchObject({ sum: { retried: 2, deadAgain: 2 } });
    expect(await queue('discard', 'evt_small')).toMatchObject({ exitCode: 0 });
    expect(await queue('discard', 'evt_large', ...open)).toMatchObject({ exitCode: 0 });
    expect(left()).toEqual([]);
    expect((await fixture.queue.stats()).dead).toBe(0);
  });
});

const listing = everyEngine(cli, servers, `waiting-${process.pid}`).filter(({ name }) => name !== 'rabbitmq');

describe.each(listing)('private jobs of $name', (engine) => {
  it('a job that waits is listed by its event, and with the key by its type', async () => {
    const fixture = await engine.open({ encrypt: key(0) });
    onTestFinished(() => fixture.close());
    await fixture.queue.init?.();
    await fixture.queue.put(aDelivery('evt_w'));
    const list = async (...words: string[]) => {
      const all = ['queue', 'list', '--state', 'waiting', ...words, ...engine.place, '--json'];
      return summedUp(await cli.run(all, { env: { ...engine.env, ...KEYS } })).records;
    };
    expect(await list()).toMatchObject([{ eventId: 'evt_w', tenant: 'acme', notShown: expect.any(String) }]);
    const [job] = await list('--decrypt');
    expect(job).toMatchObject({ eventId: 'evt_w', type: 'stt.completed', bytes: expect.any(Number) });
    expect(job).not.toHaveProperty('notShown');
  });
});
