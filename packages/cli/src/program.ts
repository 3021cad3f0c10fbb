import { type Argument, Command, Option } from '@commander-js/extra-typings';
import manifest from '../package.json' with { type: 'json' };
import { COMMANDS } from './commands.js';
import { createOutput } from './output.js';
import type { Session } from './session.js';

/** Returns the command line for the argument parser. Only the commands that `args` names are complete. */
export async function createProgram(session: Session, args: readonly string[]) {
  const { stdout, stderr } = session;
  const output = {
    writeOut: (text: string) => void stdout.write(text),
    writeErr: (text: string) => void stderr.write(text),
    outputError: () => {}, // printed by the caller that catches the error
    getOutHelpWidth: () => stdout.columns ?? 100,
    getErrHelpWidth: () => stderr.columns ?? 100,
  };
  const program = new Command('service-webhooks')
    .description('Receive, send, check and explain the webhooks of the service, on this machine.')
    .version(manifest.version, '-V, --version', 'print the version; also -v, and version')
    .option('--json', 'print JSON lines, for programs')
    .addOption(new Option('--text', 'print text, which is the default').hideHelp())
    .option('--no-color', 'print no colours, as with NO_COLOR or TERM=dumb')
    .option('--verbose', 'print which settings were read, and from where')
    .helpOption('-h, --help', 'print help, with examples')
    .helpCommand('help [command]', 'help on a command, as in: help queue list')
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true, optionDescription: describe, argumentDescription: describe })
    .exitOverride()
    .hook('preAction', (command) => {
      session.out = createOutput(session, command.opts());
    })
    .addHelpText('after', TOPICS);
  for (const { name, summary, load, hidden = false } of COMMANDS) {
    const create = args.includes(name) ? await load() : () => new Command(name);
    const command = create(session, args).summary(summary).copyInheritedSettings(program);
    for (const subcommand of command.commands) subcommand.copyInheritedSettings(program);
    program.addCommand(command, { hidden });
  }
  return program;
}

/** Describes an option or an argument: its purpose, its values where the list is short, and its default. */
function describe({ description, argChoices: words = [], defaultValue, defaultValueDescription }: Option | Argument) {
  const listed = words.length > 0 && words.length <= 16 ? `: ${words.join(', ')}` : '';
  const areEventTypes = words.includes('generation.completed');
  const choices = areEventTypes ? ': generation.completed, stt.failed, …; send --help lists all' : listed;
  const usual = defaultValueDescription ?? defaultValue;
  return `${description}${choices}${usual === undefined ? '' : ` (${usual})`}`;
}

const TOPICS = `
Examples:
  service-webhooks listen 3000                    verify deliveries, forward them to port 3000
  service-webhooks send generation.completed 3000 a signed sample to your app
  service-webhooks explain delivery.http          why it does not verify
  service-webhooks doctor 3000                    test your endpoint with valid and hostile deliveries

A port alone means /webhooks: 3000 is http://localhost:3000/webhooks.

The signing secret is read from WEBHOOK_SECRET, also of .env; --secret names another place. It is never printed.
service-webhooks.json may set headerPrefix, path, secretVariable, baseUrl and queue for a project. Before an API key of
yours goes to a host that a file of the folder names, the command asks; SERVICE_URL in the environment answers.

Exit codes: 0 yes, 1 no (refused, does not verify, a probe failed), 2 usage, 3 a file, 4 the network, 130 Ctrl+C.`;
