import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { FAULT_NAMES, type Faults } from 'service-webhooks-emulator';
import { Failure } from '../../failure.js';
import { headerPrefixOption, listOption, wholeNumber } from '../../options.js';
import { readSecrets, secretOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { parseApp } from '../../target.js';
import type { DevOptions } from './start-dev.js';

/** A command that runs the service on this machine: `dev` and `mcp`. */
export function devLikeCommand(name: string, port: number) {
  return new Command(name)
    .argument('[app]', 'a port, which means its path /webhooks, or a URL: where your app receives deliveries')
    .option('--port <number>', 'the port of the page and the API; 0 for any', wholeNumber(0, 65_535), port)
    .addOption(secretOption())
    .addOption(listOption('--events <types>', 'the event types that your app receives; all', WEBHOOK_EVENT_TYPES))
    .addOption(speedOption())
    .addOption(faultOption())
    .option('--seed <text>', 'the seed of ids and faults; random')
    .addOption(headerPrefixOption());
}

type DevLikeOptions = Omit<DevOptions, 'app' | 'signingSecret' | 'faults'> & {
  secret?: readonly string[] | undefined;
  fault?: Faults | undefined;
};

/** Reads the settings of a {@link devLikeCommand}. @throws Failure */
export async function readDevOptions(
  session: Session,
  given: string | undefined,
  { secret: sources, fault: faults, ...options }: DevLikeOptions,
): Promise<DevOptions> {
  const { events, speed, seed, headerPrefix, port } = options;
  const app = given === undefined ? undefined : parseApp(session, given);
  const signingSecret = app && (await readTextSecret(session, sources));
  return { app, signingSecret, events, speed, faults, seed, headerPrefix, port };
}

async function readTextSecret(session: Session, sources?: readonly string[]): Promise<string> {
  const [secret] = await readSecrets(session, sources);
  if (typeof secret !== 'string') throw new Failure('usage', 'the secret is no text, as those of the service are.');
  return secret;
}

function speedOption() {
  return new Option('--speed <times>', 'how many times faster the waits between attempts pass, as in 100x')
    .argParser((text) => {
      const speed = Number(/^(\d+(?:\.\d+)?)x?$/.exec(text)?.[1]);
      if (speed > 0) return speed;
      throw new InvalidArgumentError('It takes a number above 0, as in 100x.');
    })
    .default(1, '1x');
}

function faultOption() {
  const says = 'the share of attempts with a fault, as in reset=0.1 (repeatable)';
  const option = new Option('--fault <name=share>', says).argParser((text: string, others: Faults = {}): Faults => {
    const [, name, share] = /^(\w+)=([\d.]+)$/.exec(text) ?? [];
    if (name === undefined || !(Number(share) <= 1)) {
      throw new InvalidArgumentError('It takes a fault and a share from 0 to 1, as in reset=0.1.');
    }
    if (!FAULT_NAMES.some((known) => known === name)) {
      throw new InvalidArgumentError(`There are: ${FAULT_NAMES.join(', ')}.`);
    }
    return { ...others, [name]: Number(share) };
  });
  option.argChoices = [...FAULT_NAMES]; // for the help and for completion
  return option;
}
