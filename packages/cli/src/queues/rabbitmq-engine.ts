import { type RabbitmqConnection, rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { Failure } from '../failure.js';
import { needed } from '../installed.js';
import { CONNECT_TIMEOUT_MS, type QueueEngine } from './queue-engine.js';

const TAKEN = 'RabbitMQ shows a message only by taking it from its queue';

export const rabbitmqEngine: QueueEngine = {
  name: 'rabbitmq',
  says: 'the URL of RabbitMQ',
  url: { variable: 'RABBITMQ_URL', example: 'amqp://localhost', protocols: ['amqp:', 'amqps:'] },
  unlisted: { waiting: TAKEN, running: TAKEN, done: 'RabbitMQ deletes a message when its job is done' },

  async open({ address, queue: name, bodies }) {
    const amqp = needed<{ connect(url: string, socket: object): Promise<RabbitmqConnection> }>('amqplib');
    if (name === undefined) throw new Failure('usage', 'RabbitMQ does not list its queues: pass --queue <name>.');
    const connect = () => amqp.connect(address, { timeout: CONNECT_TIMEOUT_MS });
    await checkQueue(connect, `${name}.dead`);
    const queue = rabbitmqQueue({ connect, queue: name, ...bodies });
    return { queue, hasNoPages: true, close: () => queue.close() };
  },
};

/** @throws Failure where there is no such queue: an operator's typing error must not create one */
async function checkQueue(connect: () => Promise<RabbitmqConnection>, queue: string): Promise<void> {
  const connection = await connect();
  connection.on('error', () => {});
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    await channel.checkQueue(queue);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 404) throw error;
    throw new Failure('usage', `RabbitMQ has no queue '${queue}'. Check --queue, and the virtual host in the URL.`);
  } finally {
    await connection.close().catch(() => {});
  }
}
