import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { printable } from 'service-webhooks/printable';
import { Failure } from './failure.js';
import type { Session } from './session.js';

/**
 * Asks on the terminal; only `y` and `yes` are a yes. @throws Failure after Ctrl+C or Ctrl+D, and where stdin is no
 * terminal, with what to do then
 */
export async function confirmed(
  { stdin, stderr, signal }: Pick<Session, 'stdin' | 'stderr' | 'signal'>,
  question: string,
  withoutTerminal: string,
): Promise<boolean> {
  const input = stdin();
  if (!input.isTTY) throw new Failure('usage', `stdin is not a terminal: ${withoutTerminal}.`);
  const terminal = createInterface({ input, output: stderr as NodeJS.WriteStream });
  // The terminal is in raw mode, in which Ctrl+C is a key and no signal. Ctrl+D closes the interface.
  const stopped = Promise.race([once(terminal, 'SIGINT'), once(terminal, 'close')]).then(() => undefined);
  const answered = terminal.question(`${printable(question)} [y/N] `, { signal }).catch(() => undefined);
  const answer = await Promise.race([answered, stopped]);
  terminal.close();
  if (answer !== undefined) return /^y(es)?$/i.test(answer.trim());
  stderr.write('\n'); // the cursor is behind the question
  throw new Failure('interrupted', 'stopped before it was done.');
}
