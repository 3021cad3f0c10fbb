import { once } from 'node:events';
import type { Server } from 'node:http';
import { Failure } from './failure.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: end the other program, or choose another (0 takes a free one) with',
  EACCES: 'may not be used: choose one above 1023 with',
  EADDRNOTAVAIL: 'is of no address of this machine: choose another with',
  ENOTFOUND: 'is of a host that there is not: choose another with',
};

/** Makes a server listen. @throws Failure where the port is not available */
export async function listening(server: Server, host: string, port: number): Promise<void> {
  await once(server.listen(port, host), 'listening').catch((error) => {
    throw portFailure(error, host, port);
  });
}

/** Returns why a port is not available. `option` is the option with which the user chooses the port. */
export function portFailure(error: unknown, host: string, port: number, option = '--port'): Failure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const problem = PROBLEMS[code];
  const isHost = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND';
  const says = problem === undefined ? `cannot be had: ${message}` : `${problem} ${isHost ? '--host' : option}`;
  return new Failure('network', `port ${port} of ${host} ${says}.`);
}
