import { Queue } from 'bullmq';
import { bullmqQueue } from 'service-webhooks/queue/bullmq';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../support/patiently.js';
import { canStartRedis, DURABLE, openIoredis, type PrivateRedis, startRedis } from '../support/redis.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { aQueued } from './queued.js';

const PUTS = 30;

function queueOn({ port }: PrivateRedis) {
  const queue = new Queue('webhooks', { connection: { port, enableOfflineQueue: false, maxRetriesPerRequest: 1 } });
  queue.on('error', () => {});
  return queue;
}

/** A primary with a replica that is cut off, and what became of puts that were sent to the primary, after a failover. */
async function failOver(...settings: string[]) {
  const primary = await startRedis(...DURABLE, ...settings);
  onTestFinished(primary.stop);
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: primary.port });
  onTestFinished(proxy.stop);
  const replica = await startRedis(...DURABLE, '--replicaof', `127.0.0.1 ${proxy.port}`);
  onTestFinished(replica.stop);
  const [onPrimary, onReplica] = [openIoredis(primary.url), openIoredis(replica.url)];
  onTestFinished(() => {
    onPrimary.disconnect();
    onReplica.disconnect();
  });
  const replication = async (client = onPrimary) => String(await client.info('replication'));
  await vi.waitUntil(async () => /slave0:.*state=online/.test(await replication()), PATIENTLY);
  await vi.waitUntil(async () => (await replication(onReplica)).includes('master_link_status:up'), PATIENTLY);
  const before = queueOn(primary);
  onTestFinished(() => before.disconnect());
  await before.waitUntilReady();

  proxy.pause();
  if (settings.length > 0) {
    await vi.waitUntil(async () => (await replication()).includes('min_slaves_good_slaves:0'), PATIENTLY);
  }
  const { put } = bullmqQueue({ queue: before });
  const puts = await Promise.allSettled(Array.from({ length: PUTS }, () => put(aQueued())));
  proxy.cut();
  await proxy.stop();
  await onReplica.replicaof('NO', 'ONE');
  const after = queueOn(replica);
  onTestFinished(() => after.close());
  const { depth } = await bullmqQueue({ queue: after }).stats();
  return { acknowledged: puts.filter(({ status }) => status === 'fulfilled').length, depth, puts };
}

describe.runIf(canStartRedis())('the failover of Redis to a replica that was cut off', () => {
  it('every acknowledged job is lost by default', async () => {
    expect(await failOver()).toMatchObject({ acknowledged: PUTS, depth: 0 });
  });

  it('with min-replicas-to-write 1, no job is acknowledged that would be lost', async () => {
    const settings = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1'];
    const { acknowledged, depth, puts } = await failOver(...settings);
    expect({ acknowledged, depth }).toEqual({ acknowledged: 0, depth: 0 });
    expect(puts[0]).toMatchObject({ reason: { message: expect.stringContaining('NOREPLICAS') } });
  });
});
