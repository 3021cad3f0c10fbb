import { once } from 'node:events';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Attempts, createEmulator, type Faults } from '../../emulator/index.js';
import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import { emulatorSource } from '../../page/emulator-source.js';
import { reportAttempt } from '../dev/report-attempt.js';
import { serveDev } from '../dev/serve-dev.js';
import { EXIT, Failure } from '../failure.js';
import { listOption, wholeNumber } from '../option-values.js';
import { readSecrets, secretOption } from '../secrets.js';
import type { Session } from '../session.js';
import { parseTarget } from '../target.js';

const DEV_PORT = 4848;
/** Good on this machine alone, so that it may be known. */
const DEV_KEY = 'acct_development';

export function devCommand(session: Session) {
  return new Command('dev')
    .description(
      'Runs the service on this machine, on one port: it delivers to your app with retries as the service does, answers its API, and shows every delivery on a page. Ends with Ctrl+C.',
    )
    .argument('[app]', 'a port or a URL: where your app takes deliveries')
    .option('--port <number>', 'where the page and the API are; 0 for any', wholeNumber(0, 65_535), DEV_PORT)
    .addOption(secretOption())
    .addOption(listOption('--events <types>', 'the event types that your app gets; all', WEBHOOK_EVENT_TYPES))
    .addOption(listOption('--emit <types>', 'events that happen at the start', WEBHOOK_EVENT_TYPES))
    .addOption(speedOption())
    .option('--fault <name=share>', 'a share of attempts that go wrong, as in reset=0.1 (repeatable)', fault)
    .option('--seed <text>', 'what ids and faults follow from; a random one')
    .option('--header-prefix <prefix>', 'what the header names begin with', 'x-service')
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks dev http://localhost:3000/webhooks
  service-webhooks dev 3000 --emit generation.completed --speed 100x
  service-webhooks dev 3000 --fault reset=0.1 --fault duplicate=0.2 --seed 42

Deliveries are signed with WEBHOOK_SECRET: give your app the same. The API takes the key ${DEV_KEY}.`,
    )
    .action(async (app, { secret: sources, port, events, emit = [], speed, fault: faults, seed, headerPrefix }) => {
      const target = app === undefined ? undefined : parseTarget(app);
      const signingSecret = target && (await readTextSecret(session, sources));
      const settings = { clock: 'real', speed, seed, headerPrefix, faults } as const;
      const emulator = createEmulator({ ...settings, apiKey: DEV_KEY, allowLoopback: true });
      const endpoint = target && emulator.endpoints.create({ url: target.href, events, signingSecret });
      const secretOf = (id: string) => (id === endpoint?.id ? signingSecret : undefined);
      const server = await serveDev(emulatorSource({ ...settings, emulator, secretOf }), emulator.fetch, port);

      session.out.record(
        {
          kind: 'developing',
          url: server.url,
          deliversTo: target?.href,
          endpoint: endpoint?.id,
          speed,
          seed: emulator.seed,
        },
        [['strong', `Deliveries: ${server.url}/`], target && `sent to ${target.href}`],
        [`API: ${server.url}`, `key ${DEV_KEY}`],
      );
      const reporting = report(session, emulator.attempts);
      for (const type of emit) await emulator.emit(type);
      if (!session.signal.aborted) await once(session.signal, 'abort');
      await emulator.close();
      await server.close();
      session.out.record({ kind: 'ended', attempts: await reporting }, [`${await reporting} attempts`]);
      session.exitCode = EXIT.ok;
    });
}

async function report({ out }: Session, attempts: Attempts): Promise<number> {
  let count = 0;
  for await (const attempt of attempts) {
    count += 1;
    reportAttempt(out, attempt);
  }
  return count;
}

/** @throws Failure */
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

function fault(text: string, others: Faults = {}): Faults {
  const [, name, share] = /^(\w+)=([\d.]+)$/.exec(text) ?? [];
  if (name !== undefined && Number(share) <= 1) return { ...others, [name]: Number(share) };
  throw new InvalidArgumentError('It takes a fault and a share from 0 to 1, as in reset=0.1.');
}
