import { Command, Option } from '@commander-js/extra-typings';
import { sign } from 'service-webhooks';
import { asSpecified } from 'service-webhooks/testing';
import { EXIT } from '../../failure.js';
import { headerPrefixOption, instant } from '../../options.js';
import { readSecrets, secretOption } from '../../secrets.js';
import type { Session } from '../../session.js';

export function signCommand(session: Session) {
  return new Command('sign')
    .description('Prints the signature headers that the service would send with a body.')
    .argument('[file]', 'the exact bytes of the body; - for stdin', '-')
    .addOption(secretOption())
    .option('--at <time>', 'the signed time; now', instant)
    .addOption(new Option('--scheme <scheme>', 'which signatures').choices(['v2', 'legacy', 'both']).default('both'))
    .addOption(headerPrefixOption())
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks sign body.json
  service-webhooks sign body.json --secret file:secret.txt --at 2026-07-11T12:00:00Z
  service-webhooks sign body.json | curl -H @- --data-binary @body.json localhost:3000/webhooks`,
    )
    .action(async (file, { secret: sources, at = session.now(), scheme, headerPrefix }) => {
      const [secret] = await readSecrets(session, sources);
      const headers = asSpecified(sign({ body: await session.read(file), secret, at, scheme, headerPrefix }));
      session.out.record(
        { kind: 'signed', at: new Date(at).toISOString(), headers: Object.fromEntries(headers) },
        ...headers.map(([name, value]) => [`${name}: ${value}`]),
      );
      session.exitCode = EXIT.ok;
    });
}
