import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NodeBody } from '../../adapters/shared/node-body.js';
import { listenNode } from './mounts/listen.js';

const setUp = () => {
  const stream = new PassThrough();
  const seen: string[] = [];
  return { stream, seen, body: new NodeBody(stream), take: (chunk: unknown) => void seen.push(String(chunk)) };
};

/** To the end, or to what it failed with. */
const pump = (body: NodeBody, take: (chunk: unknown) => void) =>
  new Promise<void>((end, fail) => body.pump({ take, end, fail }));

describe('the body of a Node request', () => {
  it('is given chunk by chunk, until the end', async () => {
    const { stream, seen, body, take } = setUp();
    const pumped = pump(body, take);
    stream.write('a');
    stream.write('b');
    stream.end('c');
    await pumped;
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('waits where a chunk was refused, and goes on behind it', async () => {
    const { stream, seen, body, take } = setUp();
    const refused = pump(body, (chunk) => {
      take(chunk);
      throw new Error('too much');
    });
    stream.write('a');
    await expect(refused).rejects.toThrow('too much');
    stream.end('b');
    expect(seen).toEqual(['a']);
    await pump(body, take);
    expect(seen).toEqual(['a', 'b']);
  });

  it('gives each chunk once where somebody else takes over meanwhile', async () => {
    const { stream, seen, body, take } = setUp();
    pump(body, () => seen.push('given to nobody')).catch(() => {});
    const second = pump(body, take);
    stream.end('a');
    await second;
    expect(seen).toEqual(['a']);
  });

  it('fails where the sender breaks off, before or meanwhile', async () => {
    const { stream, body, take } = setUp();
    const pumped = pump(body, take);
    stream.write('a');
    stream.destroy();
    await expect(pumped).rejects.toThrow('the upload was aborted');
    await expect(pump(body, take)).rejects.toThrow('the upload was aborted');
  });

  it('is over at once where it has been read to its end', async () => {
    const { stream, body, take } = setUp();
    const first = pump(body, take);
    stream.end();
    await first;
    await pump(body, take);
  });

  it('is destroyed by whoever does not want to wait for it', () => {
    const { stream, body } = setUp();
    body.destroy();
    expect(stream.destroyed).toBe(true);
  });

  it('does not take its connection with it where all of it has come', async () => {
    let complete: boolean | undefined;
    const { port, close } = await listenNode(async (req, res) => {
      const body = new NodeBody(req);
      const refuse = () => {
        throw new Error('too much');
      };
      if (req.url === '/refused') {
        await pump(body, refuse).catch(() => {});
        await new Promise(setImmediate); // until the parser is through
        complete = req.complete;
        body.destroy();
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
