import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { printable } from 'service-webhooks/printable';
import { Failure } from './failure.js';
import type { Session } from './session.js';

/**
 * Asks on the terminal; only `y` and `yes` are a yes, and Ctrl+D is a no. @throws Failure after Ctrl+C, and where stdin
 * is no terminal, with what to do then
 */
export async function confirmed(
  { stdin, stderr, signal }: Pick<Session, 'stdin' | 'stderr' | 'signal'>,
  question: string,
  withoutTerminal: string,
): Promise<boolean> {
  const input = stdin();
  if (!input.isTTY) throw new Failure('usage', `stdin is not a terminal: ${withoutTerminal}.`);
  const terminal = createInterface({ input, output: stderr as NodeJS.WriteStream });
  // The terminal is in raw mode, in which Ctrl+C is a key and no signal.
  const interrupted = once(terminal, 'SIGINT').then(() => {
    throw new Failure('interrupted', 'stopped before it was done.');
  });
  const closed = once(terminal, 'close').then(() => false);
  const answered = terminal.question(`${printable(question)} [y/N] `, { signal }).then(
    (answer) => /^y(es)?$/i.test(answer.trim()),
    () => {
      signal.throwIfAborted();
      return false;
    },
  );
  try {
    return await Promise.race([answered, closed, interrupted]);
  } finally {
    terminal.close();
  }
}
