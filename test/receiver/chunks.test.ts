import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startFlow } from '../../src/receiver/chunks.js';
import { listenNode } from '../adapters/mounts/listen.js';
import { later } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

/** A consumer that reads on until it has been called `limit` times. */
const aConsumer = (limit = Number.POSITIVE_INFINITY) => {
  const seen: string[] = [];
  const end = later<string>();
  return {
    seen,
    ended: end.promise,
    chunk: (chunk: unknown) => seen.push(String(chunk)) < limit,
    end: () => end.resolve('end'),
    fail: () => end.resolve('fail'),
  };
};

describe('a Node stream that a receiver reads in chunks', () => {
  /** A stream, what its flow brings, and the flow. */
  const started = (stream = new PassThrough(), consumer = aConsumer()) => {
    const flow = startFlow(stream, consumer);
    return { stream, consumer, flow };
  };

  it('the consumer gets every chunk, then the end', async () => {
    const { stream, consumer } = started();
    for (const chunk of ['a', 'b', 'c']) stream.write(chunk);
    stream.end();
    expect(await consumer.ended).toBe('end');
    expect(consumer.seen).toEqual(['a', 'b', 'c']);
    expect(await started(stream).consumer.ended).toBe('end'); // and at once for a stream that was read
  });

  it('the stream is paused where the consumer asks for no more', async () => {
    const { stream, consumer } = started(undefined, aConsumer(2));
    for (const chunk of ['a', 'b', 'c']) stream.write(chunk);
    await vi.waitFor(() => expect(stream.isPaused()).toBe(true), PATIENTLY);
    expect(consumer.seen).toEqual(['a', 'b']);
  });

  it('the consumer gets an error where the sender disconnects, before or while it reads', async () => {
    const { stream, consumer } = started();
    stream.write('a');
    stream.destroy();
    expect(await consumer.ended).toBe('fail');
    expect(await started(stream).consumer.ended).toBe('fail');
  });

  it('cutting off destroys the stream of a body that has not arrived whole', () => {
    const { stream, flow } = started();
    flow.cutOff();
    expect(stream.destroyed).toBe(true);
  });

  it('cutting off keeps the connection of a request that has arrived whole', async () => {
    let complete: boolean | undefined;
    const { port, close } = await listenNode(async (req, res) => {
      if (req.url === '/refused') {
        const flow = startFlow(req, aConsumer(1));
        await new Promise(setImmediate); // until the parser is through
        complete = req.complete;
        flow.cutOff();
      }
      res.end(req.url);
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => close().finally(() => agent.destroy()));
    const ask = async (path: string) => {
      const call = request({ port, host: '127.0.0.1', agent, path, method: 'POST' }).end('x'.repeat(1_000));
      const [response] = await once(call, 'response');
      return [await text(response), call.reusedSocket];
    };
    expect(await ask('/refused')).toEqual(['/refused', false]);
    expect(complete).toBe(true);
    expect(await ask('/next')).toEqual(['/next', true]);
  });
});
