import { type Argument, Command, type Option } from '@commander-js/extra-typings';
import manifest from '../../package.json' with { type: 'json' };
import { COMMANDS } from './commands.js';
import { createOutput } from './output.js';
import type { Session } from './session.js';

/** The command line as the argument parser has it. Of the commands only those that `args` names are whole. */
export async function createProgram(session: Session, args: readonly string[]) {
  const { stdout, stderr } = session;
  const output = {
    writeOut: (text: string) => void stdout.write(text),
    writeErr: (text: string) => void stderr.write(text),
    outputError: () => {}, // said by whoever catches the error
    getOutHelpWidth: () => stdout.columns ?? 100,
    getErrHelpWidth: () => stderr.columns ?? 100,
  };
  const program = new Command('service-webhooks')
    .description('Receive, send, check and explain the webhooks of the service, on this machine alone.')
    .version(manifest.version, '-V, --version', 'the version')
    .option('--json', 'JSON lines, as off a terminal')
    .option('--text', 'text for people, as on a terminal')
    .helpOption('-h, --help', 'help, with examples')
    .helpCommand('help [command]', 'help on a command')
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true, optionDescription: describe, argumentDescription: describe })
    .exitOverride()
    .hook('preAction', (command) => {
      session.out = createOutput(session, command.opts());
    })
    .addHelpText('after', TOPICS);
  for (const { name, summary, load, hidden = false } of COMMANDS) {
    const create = args.includes(name) ? await load() : () => new Command(name);
    const command = create(session).summary(summary).copyInheritedSettings(program);
    for (const subcommand of command.commands) subcommand.copyInheritedSettings(program);
    program.addCommand(command, { hidden });
  }
  return program;
}

/** What an option or an argument is, what it may be where that is no long list, and what it is if it is not given. */
function describe({ description, argChoices: words = [], defaultValue, defaultValueDescription }: Option | Argument) {
  const choices = words.length > 0 && words.length <= 16 ? `: ${words.join(', ')}` : '';
  const usual = defaultValueDescription ?? defaultValue;
  return `${description}${choices}${usual === undefined ? '' : ` (${usual})`}`;
}

const TOPICS = `
Examples:
  service-webhooks listen 3000                    verify what comes, and hand it to the app on port 3000
  service-webhooks send generation.completed      a signed sample, to where listen listens
  service-webhooks explain delivery.http          why it does not verify
  service-webhooks doctor http://localhost:3000   what your endpoint does with good and hostile deliveries

The signing secret is read from WEBHOOK_SECRET; --secret names another place. It is never printed.

Exit codes: 0 yes, 1 no (refused, does not verify, a probe failed), 2 usage, 3 a file, 4 the network, 130 Ctrl+C.`;
