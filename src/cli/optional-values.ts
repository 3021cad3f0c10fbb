import type { CommandUnknownOpts } from '@commander-js/extra-typings';

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
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    const isOption = presets.has(arg) && (end === -1 || index < end);
    return isOption ? `${arg}=${presets.get(arg)}` : arg;
  });
}
