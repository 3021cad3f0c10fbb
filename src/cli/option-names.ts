import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { nearestName } from '../option-checks.js';
import { Failure } from './failure.js';

/**
 * Reports the nearest name for a misspelt option given as `--name=value`, which the argument parser compares with its
 * value.
 *
 * @throws Failure that names the option, and never its value: it may be a secret
 */
export function checkOptionNames(
  program: CommandUnknownOpts,
  command: CommandUnknownOpts | undefined,
  args: readonly string[],
): void {
  if (command === undefined || command.commands.length > 0) return;
  const known = [program, command].flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
  const end = args.indexOf('--');
  for (const arg of end === -1 ? args : args.slice(0, end)) {
    const name = /^(--[\w-]+)=/.exec(arg)?.[1];
    if (name === undefined || known.includes(name)) continue;
    const nearest = nearestName(name, known);
    if (nearest) throw new Failure('usage', `unknown option '${name}' (Did you mean ${nearest}?) See --help.`);
  }
}
