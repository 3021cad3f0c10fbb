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

describe('the flow of a Node stream', () => {
  it('the flow of a Node stream brings every chunk, then the end', async () => {
    const [stream, consumer] = [new PassThrough(), aConsumer()];
    startFlow(stream, consumer);
    for (const chunk of ['a', 'b', 'c']) stream.write(chunk);
    stream.end();
    expect(await consumer.ended).toBe('end');
    expect(consumer.seen).toEqual(['a', 'b', 'c']);
  });

  it('the flow of a Node stream stops where the consumer wants no more', async () => {
    const [stream, consumer] = [new PassThrough(), aConsumer(2)];
    startFlow(stream, consumer);
    for (const chunk of ['a', 'b', 'c']) stream.write(chunk);
    await vi.waitFor(() => expect(stream.isPaused()).toBe(true), PATIENTLY);
    expect(consumer.seen).toEqual(['a', 'b']);
  });

  it('the flow of a Node stream fails where the sender breaks off, before or while it is read', async () => {
    const [stream, consumer, late] = [new PassThrough(), aConsumer(), aConsumer()];
    startFlow(stream, consumer);
    stream.write('a');
    stream.destroy();
    expect(await consumer.ended).toBe('fail');
    startFlow(stream, late);
    expect(await late.ended).toBe('fail');
  });

  it('the flow of a Node stream ends at once where the stream was read to its end', async () => {
    const [stream, consumer, late] = [new PassThrough(), aConsumer(), aConsumer()];
    startFlow(stream, consumer);
    stream.end();
    await consumer.ended;
    startFlow(stream, late);
    expect(await late.ended).toBe('end');
  });

  it('the flow of a Node stream destroys the stream when it is cut off', () => {
    const stream = new PassThrough();
    startFlow(stream, aConsumer()).cutOff();
    expect(stream.destroyed).toBe(true);
  });

  it('the flow of a Node stream leaves the connection alone when it is cut off after the whole request has arrived', async () => {
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
