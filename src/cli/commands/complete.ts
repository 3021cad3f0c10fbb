import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { completions } from '../completions.js';
import { EXIT } from '../failure.js';
import type { Session } from '../session.js';

/** For the scripts of `completion`: a line for each word that may stand in the place of the last. */
export function completeCommand(session: Session) {
  return new Command('complete').argument('[words...]').action((words, _, { parent }) => {
    for (const word of completions(parent as CommandUnknownOpts, words)) session.out.verbatim(`${word}\n`);
    session.exitCode = EXIT.ok;
  });
}
