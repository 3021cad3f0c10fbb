import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { SECRET } from '../../../../test/support/deliveries.js';
import type {} from './build-programs.js';
import type { Cli, CliOptions } from './cli.js';
import { asked, watchCli } from './watch-cli.js';

/** The command line as it is built, in processes of its own. */
export function useCli(): Cli {
  let home = '';
  let count = 0;
  const running = new Set<ChildProcessWithoutNullStreams>();
  const cli = {
    cwd: '',
    bin: '',
    run: (args: readonly string[], options?: CliOptions) => cli.start(args, options).ended,
    start: (args: readonly string[], options?: CliOptions) =>
      launch(process.execPath, [join(cli.bin, 'service-webhooks'), ...asked(args)], options),
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
    const exitCode = once(child, 'close').then(([code]) => code);
    return {
      ...watchCli(child.stdout, child.stderr, exitCode),
      signal: (signal: NodeJS.Signals) => void child.kill(signal),
      stopReading: () => void child.stdout.destroy(),
    };
  };
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'cli-'));
    cli.bin = inject('built').bin;
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
