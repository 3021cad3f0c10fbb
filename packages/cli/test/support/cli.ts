/** What became of a command. */
export interface Ended {
  /** Null where a signal ended it. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** stdout, where it is JSON lines. */
  records: Fields[];
}

export type Fields = { [name: string]: unknown };

export interface CliOptions {
  /** Beside `WEBHOOK_SECRET`, which is set. */
  env?: Record<string, string | undefined>;
  stdin?: string | Uint8Array;
}

/** A command that is running. */
export interface RunningCli {
  /** The next record of that kind. Rejects with all that was printed where it ends without one. */
  next(kind: string): Promise<Fields>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
  /** As whoever reads the output does that goes away. */
  stopReading(): void;
}

/** The command line, in a directory of its own for each test. */
export interface Cli {
  /** Of this test, and empty at its beginning. */
  readonly cwd: string;
  /** The program as an installed package has it: on the PATH. */
  readonly bin: string;
  run(args: readonly string[], options?: CliOptions): Promise<Ended>;
  start(args: readonly string[], options?: CliOptions): RunningCli;
  /** A line of a shell. */
  shell(line: string, options?: CliOptions): Promise<Ended>;
}

/**
 * Whether commands run inside the process of the tests, where a change of the source can be seen: `npm run
 * test:mutation`. There is no shell then, and nothing that a signal could kill.
 */
export const inside = process.env['CLI'] === 'inside';

/** To be called once in a test file. What is still running at the end of a test is ended. */
export const { useCli } = await (inside ? import('./cli-inside.js') : import('./cli-program.js'));
