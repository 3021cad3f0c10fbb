import { Argument, Command } from '@commander-js/extra-typings';
import { WORDS_VARIABLE } from '../../arguments.js';
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
  // PowerShell drops empty arguments and the two dashes, so the words come through the environment.
  powershell: `Register-ArgumentCompleter -Native -CommandName service-webhooks -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  $env:${WORDS_VARIABLE} = $words -join "\`n"
  try {
    service-webhooks complete 2>$null | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
  } finally {
    Remove-Item Env:${WORDS_VARIABLE} -ErrorAction SilentlyContinue
  }
}
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
  service-webhooks completion fish | source
  service-webhooks completion powershell | Out-String | Invoke-Expression`,
    )
    .action((shell) => {
      session.out.verbatim(SCRIPTS[shell]);
      session.exitCode = EXIT.ok;
    });
}
