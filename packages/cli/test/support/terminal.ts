import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { now, SECRET } from '../../../../test/support/deliveries.js';
import { run } from '../../src/run.js';

const STYLES: Readonly<Record<string, string>> = { 1: 'strong', 2: 'faint', 31: 'bad', 32: 'good', 33: 'warn' };

export interface TerminalOptions {
  env?: Record<string, string>;
  columns?: number;
  /** Ctrl+C is pressed when it has been shown. */
  until?: RegExp;
  now?: () => number;
}

/** What a command shows on a terminal, at the time of the tests. What is in a style is `<good:text>`. */
export async function shownBy(args: readonly string[], options: TerminalOptions = {}) {
  const { env, columns, until } = options;
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const shown = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof shown) => ({
    isTTY: true,
    columns,
    write(text: string) {
      shown[name] += text;
      if (until?.test(shown[name])) stop.abort();
    },
  });
  const exitCode = await run(args, {
    env: { WEBHOOK_SECRET: SECRET, ...env },
    stdin: () => Object.assign(Readable.from([]), { isTTY: true }),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    signal: stop.signal,
    now: options.now ?? now,
  });
  return { exitCode, stdout: inWords(shown.stdout), stderr: inWords(shown.stderr) };
}

function inWords(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what styles are made of
  return text.replaceAll(/\u001b\[(\d+)m([^\u001b]*)\u001b\[0m/g, (_, code, styled) => `<${STYLES[code]}:${styled}>`);
}
