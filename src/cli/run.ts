import { CommanderError } from '@commander-js/extra-typings';
import { isWebhookError } from '../errors.js';
import { EXIT, type ExitCode, Failure } from './failure.js';
import { createOutput } from './output.js';
import { printable } from './printable.js';
import { createProgram } from './program.js';
import { createReadInput } from './read-input.js';
import type { Io, Session } from './session.js';

/** Runs one command line, to the exit code. What goes wrong is one line on stderr. Never rejects. */
export async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const session: Session = { ...io, read: createReadInput(io), out: createOutput(io, {}), exitCode: EXIT.fault };
  try {
    const program = await createProgram(session, args);
    await program.parseAsync(args, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok; // help, version
    const { exitCode, message } = io.signal.aborted && !(error instanceof Failure) ? INTERRUPTED : asFailure(error);
    if (message !== '') io.stderr.write(`service-webhooks: ${printable(message)}\n`);
    if (io.env['DEBUG']?.includes('service-webhooks')) io.stderr.write(`${(error as Error).stack}\n`);
    return exitCode;
  }
}

const INTERRUPTED = new Failure('interrupted', 'stopped before it was done.');

/** Anything that was thrown, as one line and an exit code. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return new Failure('usage', usageOf(error));
  if (isWebhookError(error)) {
    const { code, message, hint } = error;
    if (code === 'invalid_secret') {
      return new Failure('usage', `the secret is empty, or there is white space around it; look at how it is set.`);
    }
    return new Failure('usage', `${message.replace(/^invalid_option: /, '')}. ${hint}`);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new Failure('fault', `${message} (a fault of this program; DEBUG=service-webhooks shows where)`);
}

/** One line, and no value of an option: it may be a secret whose option was misspelled. */
function usageOf({ message, code }: CommanderError): string {
  if (code === 'commander.help') return ''; // it has been shown
  const line = message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  return `${line.replace(/(--[\w-]+)=[^']*/, '$1')}${/[.!?)]$/.test(line) ? '' : '.'} See --help.`;
}
