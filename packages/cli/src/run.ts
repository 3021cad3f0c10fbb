import { existsSync } from 'node:fs';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { printable } from 'service-webhooks/printable';
import { checkOptionNames, withHelpOption, withPresets } from './arguments.js';
import { EXIT, type ExitCode, Failure, isLibraryError } from './failure.js';
import { createOutput } from './output.js';
import { createProgram } from './program.js';
import type { Project, ProjectConfig } from './project-config.js';
import { createReadInput } from './read-input.js';
import type { Io, Session } from './session.js';

/** Runs one command line. Resolves to the exit code. An error is one line on stderr. Never rejects. */
export async function run(given: readonly string[], io: Io): Promise<ExitCode> {
  const [first] = given.filter((word) => !word.startsWith('--'));
  const words = first === '-v' || first === 'version' ? ['--version'] : given;
  try {
    const { sources, ...project } = await projectOf(io);
    const session: Session = {
      ...io,
      ...project,
      ...{ read: createReadInput(io), out: createOutput(io, {}), exitCode: EXIT.fault },
    };
    if (words.includes('--verbose')) for (const source of sources) io.stderr.write(`${printable(source)}\n`);
    const program = await createProgram(session, words);
    const args = withHelpOption(program, words);
    const named = args.find((arg) => !arg.startsWith('-'));
    const command = program.commands.find((one) => one.name() === named);
    if (command) {
      checkOptionNames(program, command, args);
      usePrefix(command, project.config);
    }
    await program.parseAsync(command ? withPresets(command, args) : args, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok; // help, version
    const { exitCode, message } = io.signal.aborted && !(error instanceof Failure) ? INTERRUPTED : asFailure(error);
    if (message !== '') io.stderr.write(`service-webhooks: ${printable(message)}\n`);
    if (io.env['DEBUG']?.includes('service-webhooks')) io.stderr.write(`${traceOf(error)}\n`);
    return exitCode;
  }
}

/** Loaded only where there are files to read, so that the program starts quickly. */
async function projectOf({ env }: Io): Promise<Project> {
  const isConfigured = ['.env', '.env.local', '.dev.vars', 'service-webhooks.json'].some((file) => existsSync(file));
  if (!isConfigured) return { config: {}, env, fileOf: new Map(), sources: [] };
  return (await import('./project-config.js')).readProject(env);
}

/** Replaces the default prefix with the project's, unless the command line has one. */
function usePrefix(command: CommandUnknownOpts, { headerPrefix }: ProjectConfig): void {
  if (headerPrefix === undefined) return;
  for (const one of [command, ...command.commands]) {
    const takesPrefix = one.options.some(({ long }) => long === '--header-prefix');
    if (takesPrefix) one.setOptionValueWithSource('headerPrefix', headerPrefix, 'config');
  }
}

/** Returns where an error was thrown, without control characters and without the values of options. */
function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error));
  const { name, message, stack = '' } = error;
  // The stack begins with the message, in which Commander may quote the input.
  const frames = stack
    .slice(stack.indexOf(message) + message.length)
    .split('\n')
    .filter(Boolean);
  const shown = error instanceof CommanderError ? usageOf(error) : message;
  return [`${name}: ${shown}`, ...frames].map(printable).join('\n');
}

const INTERRUPTED = new Failure('interrupted', 'stopped before it was done.');

/** Returns any thrown value as one line and an exit code. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return new Failure('usage', usageOf(error));
  if (isLibraryError(error)) {
    return new Failure('usage', `${error.problem} ${error.hint}`);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new Failure('fault', `${message} (a fault of this program; DEBUG=service-webhooks shows where)`);
}

/** Returns one line without the values of options: a value may be a secret whose option was misspelled. */
function usageOf({ message, code }: CommanderError): string {
  if (code === 'commander.help') return ''; // the parser has printed it
  const lines = message.replace(/^error: /, '').split('\n');
  const line = lines.map((one) => one.trim()).join(' ');
  return `${line.replace(/(--[\w-]+)=[^']*/, '$1')}${/[.!?)]$/.test(line) ? '' : '.'} See --help.`;
}
