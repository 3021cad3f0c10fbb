import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { nearestName } from 'service-webhooks/option-checks';
import { Failure } from './failure.js';

/**
 * Inserts the default value of an option that was given without one, so that the option does not take the next argument
 * as its value: `--ui 3000` is the page and the app, `--ui=3001` the page's port.
 */
export function withPresets(command: CommandUnknownOpts, args: readonly string[]): string[] {
  const presets = new Map(
    command.options
      .filter(({ optional, presetArg }) => optional && presetArg !== undefined)
      .map(({ long, presetArg }) => [long, presetArg]),
  );
  const end = endOfOptions(args);
  return args.map((arg, index) => (presets.has(arg) && index < end ? `${arg}=${presets.get(arg)}` : arg));
}

/**
 * Returns the arguments `help queue list` as `queue list --help`, and any others unchanged. @throws Failure for a command
 * that does not exist
 */
export function withHelpOption(program: CommandUnknownOpts, args: readonly string[]): readonly string[] {
  const [first, ...others] = args.filter((arg) => !arg.startsWith('-'));
  if (first !== 'help') return args;
  const names = others.filter((name) => name !== 'help');
  let command = program;
  for (const name of names) {
    const found = command.commands.find((one) => one.name() === name);
    if (found === undefined) {
      const visible = command.createHelp().visibleCommands(command);
      const known = visible.map((one) => one.name());
      const nearest = nearestName(name, known);
      const advice = nearest ? `Did you mean ${nearest}?` : `There are: ${known.join(', ')}.`;
      throw new Failure('usage', `unknown command '${name}'. ${advice}`);
    }
    command = found;
    if (command.commands.length === 0) break;
  }
  return [...names, '--help'];
}

/**
 * Reports the nearest name for a misspelt option given as `--name=value`, which the argument parser compares with its
 * value.
 *
 * @throws Failure that names the option, and never its value: it may be a secret
 */
export function checkOptionNames(
  program: CommandUnknownOpts,
  command: CommandUnknownOpts,
  args: readonly string[],
): void {
  if (command.commands.length > 0) return;
  const known = [program, command].flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
  for (const arg of args.slice(0, endOfOptions(args))) {
    const name = /^(--[\w-]+)=/.exec(arg)?.[1];
    if (name === undefined || known.includes(name)) continue;
    const nearest = nearestName(name, known);
    if (nearest) throw new Failure('usage', `unknown option '${name}' (Did you mean ${nearest}?) See --help.`);
  }
}

/** Returns the index of `--`, after which nothing is an option. */
function endOfOptions(args: readonly string[]): number {
  const end = args.indexOf('--');
  return end === -1 ? args.length : end;
}
