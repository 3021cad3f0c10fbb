import { Argument, Command } from '@commander-js/extra-typings';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';

const SCRIPTS = {
  bash: `_service_webhooks() {
  local IFS=$'\\n'
  COMPREPLY=($(service-webhooks complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _service_webhooks service-webhooks
`,
  zsh: `#compdef service-webhooks
_service_webhooks() {
  local -a found
  found=(\${(f)"$(service-webhooks complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _service_webhooks service-webhooks
`,
  fish: `complete -c service-webhooks -a '(service-webhooks complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const;

const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

export function completionCommand(session: Session) {
  return new Command('completion')
    .description('Prints a script that lets your shell complete commands, options, event types, faults and probes.')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(service-webhooks completion bash)
  source <(service-webhooks completion zsh)
  service-webhooks completion fish | source`,
    )
    .action((shell) => {
      session.out.verbatim(SCRIPTS[shell]);
      session.exitCode = EXIT.ok;
    });
}
