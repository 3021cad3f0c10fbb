import { readFileSync } from 'node:fs';
import { PermanentError, sign } from 'service-webhooks';
import { fromQueued } from 'service-webhooks/queue';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { compileSources } from '../sources.js';
import { type Receiver, startReceiver } from './app.js';
import { anEvent, SECRET } from './event.js';
import { folder } from './example.js';
import { type Gate, startGate } from './gate.js';
import { createPostgresDatabase } from './servers.js';
import { type SqsMessage, startSqs } from './sqs-server.js';

const MAX_BODY = 750_000; // as the receiver of the recipe has it
const MAX_BODY_256_KIB = 180_000; // as the page has it, for a queue of 256 KiB
const MAX_RECEIVES = 3;

const sqs = await startSqs();
const postgres = sqs && (await createPostgresDatabase());

afterAll(async () => {
  await postgres?.drop();
  await sqs?.stop();
});

it.each(['receiver.js', 'worker.js'])('docs/queue-recipes.md shows %s of the SQS recipe as it is', (file) => {
  const page = readFileSync(new URL('../../../docs/queue-recipes.md', import.meta.url), 'utf8');
  expect(page).toContain(`\`\`\`js no-run\n${readFileSync(`${folder}sqs/${file}`, 'utf8')}\`\`\`\n`);
});

describe('the queue recipe for SQS', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (!sqs || !postgres) return it.skip('no test runs without the servers of the recipe', () => {});
  const { client, url, env } = sqs;
  const queueUrl = `${url}/000000000000/webhooks`;
  const deadUrl = `${url}/000000000000/webhooks-dead`;
  const createDeadQueue = () => client.createQueue({ QueueName: 'webhooks-dead' });

  let gate: Gate;
  let sources: ReturnType<typeof compileSources>;
  let receivers: [Receiver, Receiver];

  beforeAll(async () => {
    await createDeadQueue();
    const { QueueArn } = await attributesOf(deadUrl);
    const redrive = { deadLetterTargetArn: QueueArn, maxReceiveCount: MAX_RECEIVES };
    const Attributes = { VisibilityTimeout: '1', RedrivePolicy: JSON.stringify(redrive) };
    await client.createQueue({ QueueName: 'webhooks', Attributes });
    gate = await startGate(url, 80);
    sources = compileSources();
    const addresses = { QUEUE_URL: queueUrl.replace(`${url}/`, gate.url), POSTGRES_URL: postgres.url };
    const variables = { ...env, ...addresses, SOURCES: sources.folder };
    receivers = [await startReceiver('sqs', variables), await startReceiver('sqs', variables)];
  });
  afterAll(async () => {
    for (const receiver of receivers) await receiver.end();
    await gate.close();
    sources.remove();
  });
  beforeEach(async () => {
    for (const [name, value] of Object.entries({ ...env, DEAD_URL: deadUrl })) vi.stubEnv(name, value);
    for (const QueueUrl of [queueUrl, deadUrl]) await client.purgeQueue({ QueueUrl });
  });

  async function attributesOf(QueueUrl: string): Promise<Record<string, string>> {
    return (await client.getQueueAttributes({ QueueUrl, AttributeNames: ['All'] })).Attributes;
  }

  /** How many messages the queue has, with those that a worker has received. */
  async function waiting(): Promise<number> {
    const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = await attributesOf(queueUrl);
    return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
  }

  /** Sends one attempt of the event to a receiver, and gives the status of the answer. */
  function attempt(id: string, { receiver = 0, bytes }: { receiver?: 0 | 1; bytes?: number } = {}): Promise<number> {
    const event = { ...anEvent(id), data: { text: '' } };
    event.data.text = 'x'.repeat(Math.max(0, (bytes ?? 0) - JSON.stringify(event).length));
    const body = JSON.stringify(event);
    return receivers[receiver].deliver(body, { 'content-type': 'application/json', ...sign({ body, secret: SECRET }) });
  }

  async function receive(QueueUrl: string): Promise<SqsMessage[]> {
    const options = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'], WaitTimeSeconds: 1 };
    return (await client.receiveMessage({ QueueUrl, ...options })).Messages ?? [];
  }

  async function remove(QueueUrl: string, messages: SqsMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const Entries = messages.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle }));
    await client.deleteMessageBatch({ QueueUrl, Entries });
  }

  /** Calls the function with one batch, as the event source mapping of Lambda does, and returns its messages. */
  async function poll(): Promise<{ body: string; count: number }[]> {
    // @ts-expect-error: the example is JavaScript
    const { handler } = await import('../../../examples/queues/sqs/worker.js');
    const messages = await receive(queueUrl);
    const Records = messages.map(({ MessageId: messageId, Body: body, Attributes: attributes }) => {
      return { messageId, body, attributes };
    });
    const { batchItemFailures } = await handler({ Records });
    const failed = batchItemFailures.map(({ itemIdentifier }: { itemIdentifier: string }) => itemIdentifier);
    await remove(
      queueUrl,
      messages.filter(({ MessageId }) => !failed.includes(MessageId)),
    );
    return messages.map(({ Body, Attributes }) => ({ body: Body, count: Number(Attributes.ApproximateReceiveCount) }));
  }

  /** Polls until the queue is empty, and returns the receive counts of all messages in the order of their runs. */
  async function pollAll(): Promise<number[]> {
    const counts: number[] = [];
    await vi.waitFor(async () => {
      counts.push(...(await poll()).map(({ count }) => count));
      expect(await waiting()).toBe(0);
    }, PATIENTLY);
    return counts;
  }

  /** Takes the messages out of the dead queue. */
  async function deadLetters(): Promise<string[]> {
    const messages = await receive(deadUrl);
    await remove(deadUrl, messages);
    return messages.map(({ Body }) => Body);
  }
  const deadEvents = async () => (await deadLetters()).map((body) => fromQueued(JSON.parse(body)).event.id);

  /** The handler of the recipe prints the id of its event; here it also does what a test wants. Returns the printed ids. */
  function handleWith(handle: (id: string) => void = () => {}): string[] {
    const handled: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((id: string) => {
      handled.push(id);
      handle(id);
    });
    return handled;
  }
  const throwing = (error: Error) => () => {
    throw error;
  };

  it('a delivery is answered with 202, and the worker handles its event', async () => {
    const handled = handleWith();
    const id = newId();
    expect(await attempt(id)).toBe(202);
    expect(await pollAll()).toEqual([1]);
    expect(handled).toEqual([id]);
  });

  it('a redelivery to any receiver is a duplicate, before and after the worker has handled the event', async () => {
    const handled = handleWith();
    const id = newId();
    expect(await attempt(id)).toBe(202);
    expect(await attempt(id, { receiver: 1 })).toBe(200);
    expect(await pollAll()).toEqual([1]);
    expect(await attempt(id, { receiver: 1 })).toBe(200);
    expect(await waiting()).toBe(0);
    expect(handled).toEqual([id]);
  });

  it('a handler that throws is run again until SQS moves the message to the dead queue', async () => {
    const handled = handleWith(throwing(new Error('no disk')));
    const id = newId();
    await attempt(id);
    expect(await pollAll()).toEqual([1, 2, 3]);
    expect(handled).toEqual([id, id, id]);
    expect(await deadEvents()).toEqual([id]);
  });

  it('a PermanentError sends the event to the dead queue after one run, and its reason to the log', async () => {
    const handled = handleWith(throwing(new PermanentError('the clip is gone')));
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const id = newId();
    await attempt(id);
    expect(await pollAll()).toEqual([1]);
    expect(handled).toEqual([id]);
    expect(await deadEvents()).toEqual([id]);
    expect(log.mock.lastCall?.join(' ')).toContain('the clip is gone');
  });

  it('a failed message of a batch is run again without the others', async () => {
    const ids = [newId(), newId(), newId()];
    for (const id of ids) await attempt(id);
    const handled = handleWith((id) => {
      if (id === ids[1] && handled.filter((one) => one === id).length === 1) throw new Error('no disk');
    });
    expect(await poll()).toHaveLength(3);
    expect(await pollAll()).toEqual([2]);
    expect(handled.toSorted()).toEqual([...ids, ids[1]].toSorted());
    expect(await deadEvents()).toEqual([]);
  });

  it('a message stays in the queue while its dead letter cannot be sent, and the others of its batch are done', async () => {
    const ids = [newId(), newId()];
    for (const id of ids) await attempt(id);
    const handled = handleWith((id) => {
      if (id === ids[0]) throw new PermanentError('the clip is gone');
    });
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await client.deleteQueue({ QueueUrl: deadUrl });
    onTestFinished(async () => void (await createDeadQueue())); // also where this fails
    expect(await poll()).toHaveLength(2);
    await createDeadQueue();
    expect(await pollAll()).toEqual([2]);
    expect(handled.toSorted()).toEqual([ids[0], ids[0], ids[1]].toSorted());
    expect(await deadEvents()).toEqual([ids[0]]);
  });

  it('a message whose worker died is run by another worker, as the next attempt', async () => {
    const handled = handleWith();
    const id = newId();
    await attempt(id);
    expect(await receive(queueUrl)).toHaveLength(1);
    expect(await pollAll()).toEqual([2]);
    expect(handled).toEqual([id]);
  });

  it.each(['no JSON', '{"v":2}'])(
    'the message %j, which is no delivery of this version, ends in the dead queue',
    async (body) => {
      const handled = handleWith();
      await client.sendMessage({ QueueUrl: queueUrl, MessageBody: body });
      expect(await pollAll()).toEqual([1, 2, 3]);
      expect(handled).toEqual([]);
      expect(await deadLetters()).toEqual([body]);
    },
  );

  it('a delivery is answered with 503 while SQS is down, and its retry is queued', async () => {
    const handled = handleWith();
    const id = newId();
    await gate.close();
    expect(await attempt(id)).toBe(503);
    await gate.open();
    expect(await attempt(id)).toBe(202);
    await pollAll();
    expect(handled).toEqual([id]);
  });

  it('a delivery is answered with 503 while SQS does not answer, and its retry is queued', async () => {
    const handled = handleWith();
    const id = newId();
    sqs.freeze();
    const status = await attempt(id).finally(sqs.thaw);
    expect(status).toBe(503);
    expect(await attempt(id)).toBe(202);
    await pollAll();
    // SQS may have read a request that the receiver no longer waited for.
    expect(new Set(handled)).toEqual(new Set([id]));
  });

  it('a body of maxBodyBytes fits into a message, and a larger one is answered with 413', async () => {
    const handled = handleWith();
    const id = newId();
    expect(await attempt(newId(), { bytes: MAX_BODY + 1 })).toBe(413);
    expect(await attempt(id, { bytes: MAX_BODY })).toBe(202);
    expect(await pollAll()).toEqual([1]);
    expect(handled).toEqual([id]);
  });

  it('a body over the limit of its queue is answered with 503, and is queued once the limit is raised', async () => {
    const handled = handleWith();
    const id = newId();
    const setLimit = (MaximumMessageSize: string) =>
      client.setQueueAttributes({ QueueUrl: queueUrl, Attributes: { MaximumMessageSize } });
    onTestFinished(async () => void (await setLimit('1048576')));
    await setLimit('262144');
    expect(await attempt(id, { bytes: 200_000 })).toBe(503);
    expect(await waiting()).toBe(0);
    expect(await attempt(newId(), { bytes: MAX_BODY_256_KIB })).toBe(202);
    await setLimit('1048576');
    expect(await attempt(id, { bytes: 200_000 })).toBe(202);
    expect(await pollAll()).toEqual([1, 1]);
    expect(handled).toContain(id);
  });

  it('a request with a wrong signature queues nothing', async () => {
    const body = JSON.stringify(anEvent(newId()));
    expect(await receivers[0].deliver(body, { ...sign({ body, secret: 'a guess' }) })).toBe(401);
    expect(await waiting()).toBe(0);
  });
});

function newId(): string {
  return `evt_${crypto.randomUUID()}`;
}
