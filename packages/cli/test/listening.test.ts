import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { failureOfPromise } from '../../../test/support/failures.js';
import { listening, portFailure } from '../src/listening.js';

function aServer() {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

it('a port in use is a failure with exit code 4', async () => {
  const server = aServer();
  await listening(server, '127.0.0.1', 0);
  const { port } = server.address() as AddressInfo;
  expect(await failureOfPromise(listening(aServer(), '127.0.0.1', port))).toBe(
    `4: port ${port} of 127.0.0.1 is in use: end the other program, or choose another (0 takes a free one) with --port.`,
  );
});

it.each([
  ['EADDRINUSE', 'is in use: end the other program, or choose another (0 takes a free one) with --ui.'],
  ['EACCES', 'may not be used: choose one above 1023 with --ui.'],
  ['EADDRNOTAVAIL', 'is of no address of this machine: choose another with --host.'],
  ['ENOTFOUND', 'is of a host that there is not: choose another with --host.'],
  ['EOTHER', 'cannot be had: as it was said.'],
  [undefined, 'cannot be had: as it was said.'],
])('the error %s for a port has the message: %s', (code, words) => {
  const error = Object.assign(new Error('as it was said'), code && { code });
  expect(portFailure(error, 'localhost', 80, '--ui').message).toBe(`port 80 of localhost ${words}`);
});
