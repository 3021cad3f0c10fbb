import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { sign, type WebhookEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, NOW, now, SECRET } from '../support/deliveries.js';
import { exchange, toBytes } from '../support/raw-http.js';

const SLOW = 500;
const ROUNDS = 20;
const GOOD = 5;

describe(`a receiver with ${SLOW} senders that trickle bytes`, () => {
  const handled: string[] = [];
  const on = { '*': ({ id }: WebhookEvent) => handled.push(id) };
  const server = createServer(webhookHandler({ secret: SECRET, now, on, deadlineMs: 8_000 }));
  const portOf = () => (server.address() as AddressInfo).port;
  let slow: { socket: Socket; rest: Iterator<number>; received: () => string }[] = [];

  const aDelivery = (id: string) => {
    const body = bodyOf({ id });
    return toBytes({ headers: Object.entries(sign({ body, secret: SECRET, at: NOW })), body: Buffer.from(body) });
  };

  /** Three in four stop in the body, the others in the headers. */
  async function aSlowSender(i: number) {
    const bytes = aDelivery(`evt_slow_${i}`);
    const begun = i % 4 === 0 ? 30 : bytes.indexOf('\r\n\r\n') + 10;
    const socket = connect(portOf(), '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(bytes.subarray(0, begun));
    return { socket, rest: bytes.subarray(begun).values(), received: () => received };
  }

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    slow = await Promise.all(Array.from({ length: SLOW }, (_, i) => aSlowSender(i)));
  });

  afterAll(() => {
    for (const { socket } of slow) socket.destroy();
    server.close().closeAllConnections();
  });

  it('every valid delivery of other senders is handled', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const { socket, rest } of slow) socket.write(Uint8Array.of(rest.next().value ?? 0));
      const good = Array.from({ length: GOOD }, (_, i) => exchange(portOf(), aDelivery(`evt_${round}_${i}`)));
      expect((await Promise.all(good)).map(({ status }) => status)).toEqual(Array(GOOD).fill(200));
    }
    expect(handled).toHaveLength(ROUNDS * GOOD);
    // None waited for the slow ones to be over.
    expect(slow.filter(({ received }) => received() !== '')).toEqual([]);
    const open = await promisify(server.getConnections.bind(server))();
    expect(open).toBeGreaterThanOrEqual(SLOW);
  });

  it('a slow body is answered with 408 when its time is over', async () => {
    const inTheBody = slow.filter((_, i) => i % 4 !== 0);
    const answered = () => inTheBody.filter(({ received }) => received().includes('body_timeout'));
    await expect.poll(() => answered().length).toBe(inTheBody.length);
    expect(inTheBody).toHaveLength(375);
    expect(handled).toHaveLength(ROUNDS * GOOD);
  });
});
