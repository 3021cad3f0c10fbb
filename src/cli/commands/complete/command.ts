import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { completions } from '../../completions.js';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';

/** Prints a line for each word that may replace the last one, for the scripts of `completion`. */
export function completeCommand(session: Session) {
  return new Command('complete').argument('[words...]').action((words, _, { parent }) => {
    for (const word of completions(parent as CommandUnknownOpts, words)) session.out.verbatim(`${word}\n`);
    session.exitCode = EXIT.ok;
  });
}
