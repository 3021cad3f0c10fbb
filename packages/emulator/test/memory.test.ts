import { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSocketReceiver } from './receivers.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const COUNT = 20_000;
const ONE_BYTE_CHUNKS = '1\r\nx\r\n'.repeat(COUNT);

/** Every chunk of a body that Node's HTTP parser has passed on. */
let chunks: WeakRef<object>[];
let emulator: Emulator;
beforeEach(() => {
  chunks = [];
  const { push } = IncomingMessage.prototype;
  vi.spyOn(IncomingMessage.prototype, 'push').mockImplementation(function (this: IncomingMessage, chunk, ...more) {
    if (chunk !== null) chunks.push(new WeakRef(chunk));
    return push.call(this, chunk, ...more);
  });
});
afterEach(() => emulator.close());

/** How many chunks are still in memory once all of them have arrived. */
async function chunksInMemory(): Promise<number> {
  while (chunks.length < COUNT) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  vi.mocked(IncomingMessage.prototype.push).mockClear();
  collectGarbage();
  return chunks.filter((chunk) => chunk.deref() !== undefined).length;
}

describe("bodies in chunks of one byte and the emulator's memory", () => {
  it("no chunk of a receiver's answer stays in memory", async () => {
    let end = () => {};
    const url = await startSocketReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${ONE_BYTE_CHUNKS}`);
      end = () => socket.end('0\r\n\r\n');
    });
    emulator = createEmulator({ allowLoopback: true });
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    expect(await chunksInMemory()).toBeLessThan(COUNT / 100);
    end();
    await emulator.settled();
    expect(emulator.attempts.list()[0]?.answer?.body).toBe('x'.repeat(COUNT));
  });

  it('no chunk of a request to the API stays in memory', async () => {
    emulator = createEmulator();
    const { port } = await emulator.listen();
    const head = `POST /api/v1/account/webhooks HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${emulator.apiKey}\r\n`;
    const framing = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = connect(port, '127.0.0.1', () => socket.write(head + framing + ONE_BYTE_CHUNKS));
    expect(await chunksInMemory()).toBeLessThan(COUNT / 100);
    const answered = new Promise((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.end('0\r\n\r\n');
    expect(await answered).toContain('invalid_json');
  });
});
