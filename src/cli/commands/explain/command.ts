import { explain } from '../../../explain/index.js';
import type { Secret } from '../../../verify/secret.js';
import { deliveryCommand, readDelivery } from '../../delivery-input.js';
import { inFileWords } from '../../explain-words.js';
import { EXIT, Failure } from '../../failure.js';
import type { Piece } from '../../output.js';
import { checkSource, findSecrets, readSecret } from '../../secrets.js';
import type { Session } from '../../session.js';

const CERTAINTY = { certain: 'bad', likely: 'warn', possible: 'faint' } as const;

export function explainCommand(session: Session) {
  return deliveryCommand('explain')
    .description('Explains why a delivery does not verify, how certain each cause is, and what to do about it.')
    .option(
      '--other <name=source>',
      'a secret that it may have been signed with instead, as in staging=env:STAGING_SECRET (repeatable)',
      (text, others?: readonly Other[]): readonly Other[] => [...(others ?? []), parseOther(text)],
    )
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks explain .webhooks/20260711T120000.000Z-7f3a9c01.http
  service-webhooks explain body.json --headers headers.txt
  service-webhooks explain delivery.http --other staging=env:STAGING_SECRET`,
    )
    .action(async (file, { secret: sources, other = [], ...options }) => {
      const secret = await findSecrets(session, sources);
      const otherSecrets: Record<string, Secret> = {};
      for (const { name, source } of other) otherSecrets[name] = await readSecret(session, source);
      const message = await readDelivery(session, file, options);
      const { headers, body, at, asCaptured } = message;
      const { headerPrefix, legacy, tolerance: toleranceSeconds } = options;
      const checks = { headerPrefix, legacy, toleranceSeconds, now: () => at };
      const explained = explain({ headers, body, secret, otherSecrets, ...checks });
      const { verdict } = explained;
      const causes = inFileWords(explained.causes, { isAgeUnknown: !asCaptured && options.at === undefined });

      const accepted = verdict === 'accepted';
      const when: Piece = ['faint', `${asCaptured ? 'when it was captured' : 'as of'} ${new Date(at).toISOString()}`];
      session.out.record(
        { kind: 'explained', verdict, at: new Date(at).toISOString(), asCaptured, causes },
        [[accepted ? 'good' : 'bad', accepted ? 'It verifies' : verdict], when],
        ...(accepted
          ? [
              [
                'An app that refuses this delivery refuses a good one:',
                `service-webhooks doctor 3000${message.path}${headerPrefix === 'x-service' ? '' : ` --header-prefix ${headerPrefix}`}`,
              ],
            ]
          : []),
        ...causes.flatMap(({ cause, certainty, evidence, fix }) => [
          [[CERTAINTY[certainty], certainty], ['strong', cause], evidence] as const,
          [`  ${fix}`],
        ]),
      );
      session.exitCode = accepted ? EXIT.ok : EXIT.no;
    });
}

interface Other {
  name: string;
  source: string;
}

function parseOther(text: string): Other {
  const found = /^([^=]+)=(.+)$/.exec(text);
  if (found === null) {
    throw new Failure('usage', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.');
  }
  const [, name = '', source = ''] = found;
  return { name, source: checkSource(source) };
}
