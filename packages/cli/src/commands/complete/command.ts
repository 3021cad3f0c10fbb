import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';

/** Prints a line for each word that may replace the last one, for the scripts of `completion`. */
export function completeCommand(session: Session) {
  return new Command('complete').argument('[words...]').action((words, _, { parent }) => {
    for (const word of completions(parent as CommandUnknownOpts, words)) session.out.verbatim(`${word}\n`);
    session.exitCode = EXIT.ok;
  });
}

/** Returns the words that may replace the last one, which may be empty; none for a file name or an unknown value. */
export function completions(program: CommandUnknownOpts, words: readonly string[]): string[] {
  const typed = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  let command = program;
  let position = 0;
  let open: CommandUnknownOpts['options'][number] | undefined;
  for (const word of typed) {
    const takesValue: boolean = open?.required === true;
    const subcommand = command.commands.find((candidate) => candidate.name() === word);
    open = takesValue ? undefined : optionOf(command, word);
    if (takesValue || word.startsWith('-')) continue;
    if (subcommand === undefined) position += 1;
    else [command, position] = [subcommand, 0];
  }
  if (open?.required) return listed(open.argChoices ?? [], last);
  const options = [command, program].flatMap((one) => one.options.map(({ long }) => long ?? ''));
  const argument = command.registeredArguments[position];
  const found = last.startsWith('-')
    ? [...options, '--help']
    : [
        ...command
          .createHelp()
          .visibleCommands(command)
          .map((one) => one.name()),
        ...(argument?.argChoices ?? []),
      ];
  return [...new Set(found)].filter((word) => word.startsWith(last));
}

function optionOf(command: CommandUnknownOpts, word: string) {
  return command.options.find(({ long }) => long === word);
}

/** Completes the part after the last comma, because most of these options take several values. */
function listed(words: readonly string[], text: string): string[] {
  const done = text.slice(0, text.lastIndexOf(',') + 1);
  return words.map((word) => done + word).filter((word) => word.startsWith(text));
}
