import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Sends the requests over so many connections at once, each the next one when its answer is there; milliseconds for all.
 * A connection that the server closes is opened anew. Throws at a status that is not expected.
 *
 * It does not sleep meanwhile: whoever sleeps is woken by the answer, at the server's cost. That took 8 us of a request,
 * of those servers alone that are slower than this. With `isAwake: false` it sleeps, and leaves its core to other servers.
 *
 * `onAnswer` is called with the milliseconds from the first byte of each request to its whole answer.
 */
export async function sendAll(
  port,
  requests,
  { connections = 32, status = 200, isAwake = true, onAnswer = () => {} } = {},
) {
  const waiting = requests.values();
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const start = performance.now();
  let sending = isAwake;
  const stayAwake = () => sending && setImmediate(stayAwake);
  stayAwake();
  try {
    await Promise.all(sockets.map((socket) => sendOver(socket, waiting, { port, status, onAnswer })));
  } finally {
    sending = false;
  }
  return performance.now() - start;
}

async function open(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
}

async function sendOver(socket, waiting, { port, status, onAnswer }) {
  for (const request of waiting) {
    if (socket.destroyed || socket.readableEnded) socket = await open(port);
    const start = performance.now();
    const answer = await exchange(socket, request);
    onAnswer(performance.now() - start);
    if (!answer.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`not ${status}: ${answer.slice(0, 200)}`);
    if (/^connection: close\r$/im.test(answer)) socket.destroy();
  }
  socket.destroy();
}

/** The answer as it came, once it is whole. */
function exchange(socket, request) {
  return new Promise((resolve, reject) => {
    let received = '';
    const settle = (how, value) => {
      socket.removeAllListeners('data').removeAllListeners('error').removeAllListeners('close');
      socket.on('error', () => {});
      how(value);
    };
    socket.on('data', (chunk) => {
      received += chunk.latin1Slice();
      if (isWhole(received)) settle(resolve, received);
    });
    socket.on('error', (error) => settle(reject, error));
    socket.on('close', () => settle(reject, new Error(`closed after ${received}`)));
    socket.write(request);
  });
}

function isWhole(answer) {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = /^content-length: *(\d+)\r$/im.exec(answer.slice(0, end + 2))?.[1];
  return length === undefined ? answer.endsWith('0\r\n\r\n') : answer.length >= end + 4 + Number(length);
}
