import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Ends a server that a test has started, and resolves when it has ended, also where it had before. */
export async function endServer(server: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (hasEnded(server)) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

/** Waits for a server that starts at its own pace. Rejects where it ends before it answers. */
export async function untilAnswers(server: ChildProcess, answers: () => Promise<boolean>): Promise<void> {
  while (!(await answers())) {
    if (hasEnded(server)) {
      throw new Error(`${server.spawnfile} ended with ${server.exitCode ?? server.signalCode}`);
    }
    await pause(50);
  }
}

/**
 * A port for a program that is about to start. It lies below those that the system hands out by itself, to connections
 * and to servers that ask for any port: one of these could take it before the program listens.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = randomInt(12_000, 32_000);
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return freePort();
    throw error;
  }
  server.close();
  await once(server, 'close');
  return port;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
