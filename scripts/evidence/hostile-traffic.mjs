import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a stranger sends, and the status it is answered with; undefined where the sender is gone before. */
export function hostileTraffic({ port, sign, secret }) {
  const body = JSON.stringify({
    id: 'evt_hostile',
    type: 'stt.completed',
    version: '2026-07-11',
    jobId: null,
    data: {},
  });
  const signed = (text, options) => Object.entries(sign({ body: text, secret, ...options }));
  const head = (headers, length, method = 'POST') =>
    [`${method} / HTTP/1.1`, 'Host: receiver', `Content-Length: ${length}`, ...headers.map((pair) => pair.join(': '))]
      .concat('', '')
      .join('\r\n');
  const whole = (headers, text, method) => ask(head(headers, Buffer.byteLength(text), method) + text);

  /** The status of the answer to some bytes; further ones may follow. */
  async function ask(bytes, more) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    try {
      const answer = new Promise((resolve, reject) => {
        socket.once('data', (text) => resolve(Number(text.split(' ')[1])));
        socket.once('error', reject);
        socket.once('close', () => resolve(undefined));
      });
      socket.write(bytes);
      const [status] = await Promise.all([answer, more?.(socket)]);
      return status;
    } finally {
      socket.destroy();
    }
  }

  async function trickle(socket) {
    while (!socket.destroyed && socket.bytesRead === 0) {
      socket.write(' ');
      await sleep(200);
    }
  }

  const old = { at: Date.now() - 3_600_000 };
  return {
    'another secret': [401, () => whole(Object.entries(sign({ body, secret: 'another one' })), body)],
    'a changed body': [401, () => whole(signed(body), `${body} `)],
    'no signature': [401, () => whole([], body)],
    'the legacy signature alone': [401, () => whole(signed(body, { scheme: 'legacy' }), body)],
    'an old delivery': [401, () => whole(signed(body, old), body)],
    'a malformed header': [401, () => whole([['x-service-signature-v2', 'a=,'.repeat(1_000)]], body)],
    'a header twice': [401, () => whole([...signed(body), ...signed(body)], body)],
    'signed, and no event': [400, () => whole(signed(body), body)],
    'signed, and no JSON': [400, () => whole(signed('{'.repeat(9_999)), '{'.repeat(9_999))],
    'another method': [405, () => whole(signed(body), body, 'PUT')],
    'a compressed body': [415, () => whole([...signed(body), ['content-encoding', 'gzip']], body)],
    'a length over the limit': [413, () => ask(head(signed(body), 2 ** 30))],
    'a body over the limit': [
      413,
      () => ask(head([...signed(body), ['x', 'y']], 6 * 2 ** 20), (s) => s.write('x'.repeat(99_999))),
    ],
    'a body that trickles': [408, () => ask(head(signed(body), 9_999), trickle)],
    'one that leaves in the body': [
      undefined,
      () => ask(`${head(signed(body), 999)}x`, (socket) => socket.resetAndDestroy()),
    ],
    'one that leaves in the headers': [
      undefined,
      () => ask('POST / HTTP/1.1\r\nx', (socket) => socket.resetAndDestroy()),
    ],
    'one that ends in the headers': [400, () => ask('POST / HTTP/1.1\r\nx', (socket) => socket.end())],
  };
}

/** Sends one kind after the other until it is told to stop; resolves with what was answered otherwise than it should. */
export async function sendUntil(signal, traffic, first) {
  const kinds = Object.entries(traffic);
  const wrong = [];
  let sent = 0;
  for (let i = first; !signal.aborted; i++, sent++) {
    const [name, [expected, send]] = kinds[i % kinds.length];
    const status = await send().catch((error) => (expected === undefined ? undefined : error.code));
    if (status !== expected) wrong.push(`${name}: ${status}`);
    await sleep(5);
  }
  return { sent, wrong };
}
