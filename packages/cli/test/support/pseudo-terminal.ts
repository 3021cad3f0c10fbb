import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { SECRET } from '../../../../test/support/deliveries.js';
import type { Cli } from './cli.js';

/** A command in a pseudo-terminal of its own, which `script` of util-linux makes. Ended with the test. */
export function inTerminal(cli: Cli, args: readonly string[], env: Record<string, string> = {}) {
  const line = ['exec', 'service-webhooks', ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
  return lineInTerminal(cli, line, env);
}

/** A line of a shell, in the same way. */
export function lineInTerminal(cli: Cli, line: string, env: Record<string, string> = {}) {
  const variables = Object.entries({ TERM: 'xterm', WEBHOOK_SECRET: SECRET, ...env }).filter(
    ([, value]) => value !== '',
  );
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    cwd: cli.cwd,
    env: { PATH: `${cli.bin}:${process.env['PATH']}`, ...Object.fromEntries(variables) },
  }) as ChildProcessWithoutNullStreams;
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  let over = false;
  const ended = once(child, 'close').then(([exitCode]) => {
    over = true;
    return { exitCode, shown };
  });
  return {
    ended,
    text: () => shown,
    type: (keys: string) => child.stdin.write(keys),
    async shows(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(shown);
        if (found) return found;
        if (over) throw new Error(`${pattern} is not in ${JSON.stringify(shown)}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
    },
  };
}
