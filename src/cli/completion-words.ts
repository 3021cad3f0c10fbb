/** Has the words for `complete`, a line each: PowerShell drops empty arguments and two dashes. */
export const WORDS_VARIABLE = 'SERVICE_WEBHOOKS_WORDS';

/** The command line, with the words for `complete` where a shell could not pass them as arguments. */
export function withCompletionWords(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const words = env[WORDS_VARIABLE];
  return words !== undefined && args.length === 1 && args[0] === 'complete'
    ? [...args, '--', ...words.split('\n')]
    : args;
}
