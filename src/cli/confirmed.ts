import { createInterface } from 'node:readline/promises';
import { Failure } from './failure.js';
import type { Session } from './session.js';

/** Asks on the terminal; only `y` and `yes` are a yes. @throws Failure where stdin is no terminal, with what to do then */
export async function confirmed(
  { stdin, stderr, signal }: Pick<Session, 'stdin' | 'stderr' | 'signal'>,
  question: string,
  withoutTerminal: string,
): Promise<boolean> {
  const input = stdin();
  if (!input.isTTY) throw new Failure('usage', `stdin is not a terminal: ${withoutTerminal}.`);
  const terminal = createInterface({ input, output: stderr as NodeJS.WriteStream });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
