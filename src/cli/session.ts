import type { Readable } from 'node:stream';
import type { ExitCode } from './failure.js';
import type { Output, Sink } from './output.js';
import type { ReadInput } from './read-input.js';

/** What the program has of the process it runs in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the call: an open stdin is not for every command. */
  readonly stdin: () => Readable & { isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a command has to work with. */
export interface Session extends Io {
  readonly read: ReadInput;
  out: Output;
  /** How the command ended. */
  exitCode: ExitCode;
}
