import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attempt } from 'service-webhooks-emulator';
import { expect, it, onTestFinished } from 'vitest';
import { aDelivery, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { sendAgain } from '../../../src/page/emulator/emulator-actions.js';

const LATER = NOW + 3_600_999;

interface Arrived {
  method: string | undefined;
  path: string | undefined;
  /** Names as they came, and every value of a name. */
  headers: [name: string, value: string][];
  body: string;
}

/** A receiver that answers so, and a way to send again what failed there. */
async function receiver(answer: RequestListener) {
  const arrived: Arrived[] = [];
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    const names = req.rawHeaders.filter((_, i) => i % 2 === 0);
    const headers = names.map((name, i): [string, string] => [name, req.rawHeaders[2 * i + 1] ?? '']);
    arrived.push({ method: req.method, path: req.url, headers, body });
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?a=1`;
  const again = (secret: string | undefined, prefix = 'x-service', headerPrefix = prefix) =>
    sendAgain(attemptTo(url, prefix), { secret, headerPrefix, now: () => LATER });
  return { url, arrived, again };
}

/** One whose connection was reset by a fault. */
function attemptTo(url: string, prefix: string): Attempt {
  const { headers: signed, body } = aDelivery();
  const renamed = Object.entries(signed).map(([name, value]) => [name.replace('x-service', prefix), value]);
  const own = { [`${prefix}-timestamp`]: String(NOW / 1000), [`${prefix}-attempt`]: '3' };
  const headers = { ...Object.fromEntries(renamed), ...own };
  return {
    ...{ seq: 7, deliveryId: 'dlv_1', endpointId: 'wh_1', eventId: 'evt_1', type: 'stt.completed' },
    ...{ number: 3, redelivery: 1, duplicate: true, at: NOW, endedAt: NOW, faults: ['reset'] },
    request: { method: 'POST', url, headers, body: Buffer.from(body) },
    answer: undefined,
    ...{ outcome: 'failed', reason: 'connection_error', error: 'reset', state: 'waiting', nextAt: LATER },
  };
}

it.each([
  [200, 'acknowledged', '2xx'],
  [204, 'acknowledged', '2xx'],
  [299, 'acknowledged', '2xx'],
  [300, 'failed', 'non-2xx'],
  [500, 'failed', 'non-2xx'],
] as const)('a replay by the emulator page that gets the status %i is %s', async (status, outcome, reason) => {
  const { again } = await receiver((_, res) => res.writeHead(status, { 'x-a': '1' }).end());
  const answer = { status, headers: expect.objectContaining({ 'x-a': '1' }), body: '' };
  expect(await again(SECRET)).toMatchObject({ outcome, reason, answer, error: undefined });
});

it('a replay that gets a status outside of HTTP is a connection error', async () => {
  const { again } = await receiver(({ socket }) => socket.end('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'));
  const error = expect.stringContaining('status 99, which is no answer of HTTP');
  expect(await again(SECRET)).toMatchObject({ outcome: 'failed', reason: 'connection_error', error });
});

it('a replay that gets no answer is a connection error', async () => {
  const { again } = await receiver((_, res) => res.destroy());
  const reason = expect.stringContaining('closed without an answer');
  expect(await again(SECRET)).toMatchObject({
    ...{ outcome: 'failed', reason: 'connection_error', answer: undefined, error: reason },
  });
});

it('a replay sends the same attempt of the same delivery, without faults', async () => {
  const { again, url, arrived } = await receiver((_, res) => res.end());
  expect(await again(SECRET)).toMatchObject({
    ...{ deliveryId: 'dlv_1', endpointId: 'wh_1', eventId: 'evt_1', number: 3, redelivery: 1 },
    ...{ duplicate: false, faults: [], at: LATER, endedAt: LATER, request: { url, method: 'POST' } },
  });
  expect(arrived).toMatchObject([{ method: 'POST', path: '/hooks?a=1', body: aDelivery().body }]);
});

it('a replay without a secret sends the attempt unchanged', async () => {
  const { again, arrived, url } = await receiver((_, res) => res.end());
  const { request } = await again(undefined);
  const { headers } = attemptTo(url, 'x-service').request;
  expect(request.headers).toEqual(headers);
  const sent = arrived[0]?.headers.map(([name, value]) => [name.toLowerCase(), value]);
  expect(sent).toEqual(expect.arrayContaining(Object.entries(headers)));
});

it.each([
  ['x-service', 'x-service'],
  ['x-acme', 'x-acme'],
  ['x-acme', 'X-Acme'],
])('a replay is signed with the present time, under the prefix %s, given as %s', async (prefix, given) => {
  const { again, arrived } = await receiver((_, res) => res.end());
  const { request } = await again(SECRET, prefix, given);
  const signed = Object.entries(aDelivery({ at: LATER }).headers);
  const renamed = signed.map(([name, value]) => [name.replace('x-service', prefix), value]);
  const expected = {
    ...Object.fromEntries(renamed),
    [`${prefix}-timestamp`]: String(Math.floor(LATER / 1000)),
    [`${prefix}-attempt`]: '3',
  };
  expect(request.headers).toEqual(expected);
  const own = arrived[0]?.headers.filter(([name]) => name.toLowerCase().startsWith(prefix)) ?? [];
  expect(own).toHaveLength(Object.keys(expected).length);
  expect(own.map(([name]) => name)).toContainEqual(expect.stringMatching(/^X-\w+-Attempt$/));
});
