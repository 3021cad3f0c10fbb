import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { Failure } from '../../failure.js';
import { shortened } from '../../output.js';

/** The event that an observer is asked about. */
export interface ObservedEvent {
  id: string;
  type: string;
}

/** A command of the user that prints how many effects there have been. */
export interface Observer {
  /** Runs it. @throws Failure where it fails, does not end, or prints anything else than one number. */
  count(event: ObservedEvent): Promise<number>;
  /** Returns the failure of an observer that cannot be used, with its command. */
  failure(problem: string): Failure;
}

export interface ObserverOptions {
  /** The environment of the command, to which the event is added. */
  env: Readonly<Record<string, string | undefined>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Texts that are not repeated, such as the signing secret: a command may print its environment. */
  hidden: readonly string[];
}

const MAX_BYTES = 64 * 1024;
const WHAT_TO_PRINT = 'It must print one whole number, such as 3, and nothing else.';

/** `command`: a line for the shell. */
export function createObserver(command: string, options: ObserverOptions): Observer {
  const { env, timeoutMs, hidden } = options;
  const shown = (text: string, length = 160) => shortened(withoutSecrets(text, hidden), length);
  const failure = (problem: string) => new Failure('usage', `--observer: ${problem} The command: ${shown(command)}`);
  const printed = (...outputs: string[]) => {
    const text = outputs.map((output) => output.trim()).find(Boolean);
    return text === undefined ? 'printed nothing' : `printed "${shown(text)}"`;
  };

  async function count({ id, type }: ObservedEvent): Promise<number> {
    const withEvent = { ...env, WEBHOOK_EVENT_ID: id, WEBHOOK_EVENT_TYPE: type };
    const { how, stdout, stderr } = await endOf(command, { ...options, env: withEvent });
    const isNumber = /^\d{1,15}$/.test(stdout.trim());
    switch (how) {
      case 0:
        if (isNumber) return Number(stdout);
        throw failure(`the command ${printed(stdout, stderr)}. ${WHAT_TO_PRINT}`);
      case 'timeout':
        throw failure(
          `the command did not end within ${timeoutMs / 1000} s, and ${printed(stderr, stdout)}. It must end by itself: look for a question that it asks, or a process that it leaves in the background.`,
        );
      case 'flood':
        throw failure(
          `the command printed more than ${MAX_BYTES / 1024} KiB, which begin with "${shown(stdout, 20)}". ${WHAT_TO_PRINT}`,
        );
      default: {
        const advice = isNumber
          ? 'Its number counts only with exit code 0. If it is grep -c, which ends with 1 where it finds nothing, add "|| true".'
          : 'Run it in this folder until it prints a number.';
        throw failure(`the command ended with ${how}, and ${printed(stderr, stdout)}. ${advice}`);
      }
    }
  }

  return { count, failure };
}

interface Ended {
  /** Its exit code, or why there is none. */
  how: 0 | 'timeout' | 'flood' | string;
  stdout: string;
  stderr: string;
}

/** Runs the command until it ends, or is ended. Rejects when `signal` is aborted. */
function endOf(command: string, { env, timeoutMs, signal }: ObserverOptions): Promise<Ended> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // In a process group of its own, so that all that it starts can be ended. Without stdin, which could be a secret.
    const detached = process.platform !== 'win32';
    const child = spawn(command, { shell: true, detached, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout = beginningOf(child.stdout, () => end('flood'));
    const stderr = beginningOf(child.stderr, () => {});
    const timer = setTimeout(end, timeoutMs, 'timeout');
    const abort = () => {
      reject(signal.reason);
      end('stop');
    };
    signal.addEventListener('abort', abort);
    child.on('error', ({ message }) => done(`an error of the shell (${message})`));
    child.on('close', (code, name) =>
      done(code === 0 ? 0 : code === null ? `the signal ${name}` : `exit code ${code}`),
    );

    /** Does not wait for `close`: a process that has left the group may keep the output open. */
    function end(how: Ended['how']) {
      endGroup(child);
      done(how);
    }
    function done(how: Ended['how']) {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ how, stdout: stdout(), stderr: stderr() });
    }
  });
}

/** Collects the beginning of an output. Returns what there is of it. */
function beginningOf(stream: Readable, tooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) tooMuch();
  });
  return () => Buffer.concat(chunks).toString();
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return; // it was not started
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {} // it has ended
}

/** Removes the texts to hide, and the passwords in URLs. */
function withoutSecrets(text: string, hidden: readonly string[]): string {
  const without = hidden.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return without.replace(/(:\/\/[^\s:@/]*):[^\s@]*@/g, '$1:[secret]@');
}
