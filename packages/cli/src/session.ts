import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { ExitCode } from './failure.js';
import type { Output, Sink } from './output.js';
import type { ProjectConfig } from './project-config.js';
import type { ReadInput } from './read-input.js';

/** The parts of the process that the program uses. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the call, because not every command may open stdin. */
  readonly stdin: () => Readable & { isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
}

/** The context of a command. */
export interface Session extends Io {
  /** The configuration of the current directory. */
  readonly config: ProjectConfig;
  /** The names in `env` whose values are those of the directory's `.env`. */
  readonly fileOf: ReadonlyMap<string, string>;
  readonly read: ReadInput;
  out: Output;
  /** The exit code of the command. */
  exitCode: ExitCode;
}

/** Resolves when the signal is aborted: by Ctrl+C, where it is that of the session. */
export async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
  return undefined;
}
