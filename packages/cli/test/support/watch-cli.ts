import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Ended, Fields, RunningCli } from './cli.js';

/** Asks for JSON lines, from which `records` are read, unless the arguments say what is printed. */
export function asked(args: readonly string[]): readonly string[] {
  const isSaid = args.length === 0 || args.some((arg) => ['--json', '--text', '--help', '-h'].includes(arg));
  return isSaid ? args : ['--json', ...args];
}

/** What a command prints, until its end. */
export function watchCli(
  out: Readable,
  err: Readable,
  exitCode: Promise<number | null>,
): Pick<RunningCli, 'next' | 'ended'> {
  let stdout = '';
  let stderr = '';
  let taken = 0;
  out.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  err.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = exitCode.then((code): Ended => ({ exitCode: code, stdout, stderr, records: recordsIn(stdout) }));
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
      await Promise.race([once(out, 'data'), ended]);
    }
  };
  return { next, ended };
}

/** Whole lines that are JSON. */
function recordsIn(stdout: string): Fields[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}
