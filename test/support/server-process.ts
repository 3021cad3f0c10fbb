import type { ChildProcess } from 'node:child_process';
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

export function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
