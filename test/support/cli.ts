import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { commandLine, page } from '../../tsup.config.js';
import { SECRET } from './deliveries.js';

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
  readonly child: ChildProcessWithoutNullStreams;
}

/** The command line as it is built, in a directory of its own for each test. */
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

/** To be called once in a test file. What is still running at the end of a test is killed. */
export function useCli({ withPage = false } = {}): Cli {
  let home = '';
  let count = 0;
  const running = new Set<ChildProcessWithoutNullStreams>();
  const cli = {
    cwd: '',
    bin: '',
    run: (args: readonly string[], options?: CliOptions) => cli.start(args, options).ended,
    start: (args: readonly string[], options?: CliOptions) =>
      launch(process.execPath, [join(cli.bin, 'service-webhooks'), ...args], options),
    shell: (line: string, options?: CliOptions) => launch('bash', ['--norc', '-c', line], options).ended,
  };
  const launch = (program: string, args: readonly string[], { env, stdin }: CliOptions = {}) => {
    const child = spawn(program, args, {
      cwd: cli.cwd,
      env: { PATH: `${cli.bin}:${process.env['PATH']}`, HOME: cli.cwd, WEBHOOK_SECRET: SECRET, ...env },
    });
    running.add(child);
    child.on('close', () => running.delete(child));
    child.stdin.on('error', () => {}); // not every command reads it
    child.stdin.end(stdin);
    return watch(child);
  };
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'cli-'));
    cli.bin = join(home, 'bin');
    await build({ ...commandLine, outDir: join(home, 'dist'), config: false, silent: true });
    if (withPage) await build({ ...page, outDir: join(home, 'page'), config: false, silent: true });
    mkdirSync(cli.bin);
    symlinkSync(join(home, 'dist/service-webhooks.js'), join(cli.bin, 'service-webhooks'));
  });
  beforeEach(() => {
    for (const child of running) child.kill('SIGKILL');
    count += 1;
    cli.cwd = join(home, `test-${count}`);
    mkdirSync(cli.cwd);
  });
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  return cli;
}

function watch(child: ChildProcessWithoutNullStreams): RunningCli {
  let stdout = '';
  let stderr = '';
  let taken = 0;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([exitCode]): Ended => {
    return { exitCode, stdout, stderr, records: recordsIn(stdout) };
  });
  let hasEnded = false;
  ended.then(() => {
    hasEnded = true;
  });
  const next = async (kind: string): Promise<Fields> => {
    for (;;) {
      const found = recordsIn(stdout).findIndex((record, index) => index >= taken && record['kind'] === kind);
      if (found >= 0) {
        taken = found + 1;
        return recordsIn(stdout)[found] ?? {};
      }
      if (hasEnded) throw new Error(`no ${kind} in ${JSON.stringify(await ended)}`);
      await Promise.race([once(child.stdout, 'data'), ended]);
    }
  };
  return { next, ended, child, signal: (signal) => void child.kill(signal) };
}

/** Whole lines that are JSON. */
function recordsIn(stdout: string): Fields[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}
