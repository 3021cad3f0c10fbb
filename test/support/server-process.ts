import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** The path of a program in one of these directories or in those of PATH. */
export function findProgram(name: string, directories: readonly string[]): string | undefined {
  const { PATH = '' } = process.env;
  return [...directories, ...PATH.split(':')].map((directory) => join(directory, name)).find(existsSync);
}

/** The ids of a server's own user, for `spawn`, where this process is root: some servers refuse to run as root. */
export function unprivilegedUser(name: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name])));
  return { uid: uid as number, gid: gid as number };
}

/** A directory for the data of a server that runs as its own user. */
export function scratchDirectory(user: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'service-webhooks-'));
  const { uid, gid } = unprivilegedUser(user);
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid);
  chmodSync(directory, 0o755);
  return directory;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
