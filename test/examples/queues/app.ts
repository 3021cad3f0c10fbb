import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { freePort } from '../../support/server-process.js';
import { SECRET } from './event.js';
import { folder } from './example.js';

/** For what another process does at its own pace. */

/** A program of the examples, as `node <script>` starts it. */
export interface App {
  /** Asks it to end, as a deployment does, and waits until it has. */
  end(): Promise<void>;
  /** It runs no more, until it is thawed. */
  freeze(): void;
  thaw(): void;
}

export interface Receiver extends App {
  /** Sends an attempt of an event, and gives the status of the answer. */
  deliver(body: string, headers: Record<string, string>): Promise<number>;
}

export interface Worker extends App {
  /** How often it did the work of the event so far. */
  runs(eventId: string): number;
}

export async function startReceiver(recipe: string, env: Record<string, string>): Promise<Receiver> {
  const port = String(await freePort());
  const { app } = await start(`${recipe}/receiver.js`, { ...env, PORT: port }, `receiving on port ${port}`);
  return {
    ...app,
    async deliver(body, headers) {
      const response = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    },
  };
}

export async function startWorker(recipe: string, env: Record<string, string>): Promise<Worker> {
  const { app, lines } = await start(`${recipe}/worker.js`, env, 'working');
  return { ...app, runs: (eventId) => lines.filter((line) => line === `done ${eventId}`).length };
}

const loader = new URL('../from-sources.mjs', import.meta.url).href;

async function start(script: string, env: Record<string, string>, ready: string) {
  const child = spawn(process.execPath, ['--import', loader, script], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: SECRET, ...env },
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const app: App = {
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    async end() {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
  try {
    await vi.waitFor(() => expect(lines, script).toContain(ready), PATIENTLY);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { app, lines };
}
