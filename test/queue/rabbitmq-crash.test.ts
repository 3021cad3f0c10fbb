import { type RabbitmqQueueOptions, rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { PATIENTLY } from '../support/patiently.js';
import { openRabbitmq, startPrivateRabbitmq } from '../support/rabbitmq.js';
import { aQueued } from './queued.js';
import { failingForGood, recorded, untilStats } from './runs.js';

const server = await startPrivateRabbitmq();
afterAll(() => server?.stop());

describe.runIf(server)('rabbitmqQueue after RabbitMQ was killed and started again', () => {
  it('puts, stats, lists and retries answer, and nothing that was acknowledged is lost', async () => {
    const connect: RabbitmqQueueOptions['connect'] = () => openRabbitmq(server?.url ?? '');
    const queue = rabbitmqQueue({ connect, queue: 'webhooks' });
    await queue.init?.();
    await queue.put(aQueued({ eventId: 'evt_dead' }));
    const first = queue.work({ on: { '*': failingForGood }, logger: false });
    await untilStats(queue, { depth: 0, dead: 1 });
    await first.stop();
    await queue.put(aQueued({ eventId: 'evt_before' }));

    await server?.crash();
    const put = () => queue.put(aQueued({ eventId: 'evt_after' }));
    await vi.waitFor(async () => expect(await put()).toBe('queued'), PATIENTLY);
    const stats = async () => expect(await queue.stats()).toMatchObject({ depth: 2, dead: 1 });
    await vi.waitFor(stats, PATIENTLY); // the counts of quorum queues come some seconds after the start
    const [letter] = await queue.deadLetters();
    const followed = await queue.retryAndFollow?.(letter?.id ?? '');
    const handler = recorded(() => {});
    const second = queue.work({ on: handler.on, logger: false });
    await vi.waitFor(async () => expect(await followed?.state()).toBe('done'), PATIENTLY);
    await vi.waitUntil(() => handler.runs.length === 3, PATIENTLY);
    await followed?.close();
    await second.stop();
    await queue.close();
  });
});
