import type { Secret } from 'service-webhooks';
import { deliveryCommand, type GivenDelivery, readDelivery } from '../../delivery-input.js';
import { type Cause, type Explanation, explain } from '../../explain/index.js';
import { EXIT, Failure } from '../../failure.js';
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
      for (const [name, source] of other) otherSecrets[name] = await readSecret(session, source);
      const delivery = await readDelivery(session, file, options);
      const { headers, body, at, asCaptured } = delivery;
      const { headerPrefix, legacy, tolerance: toleranceSeconds } = options;
      const checks = { headerPrefix, legacy, toleranceSeconds, now: () => at };
      const { verdict, causes } = explain({ headers, body, secret, otherSecrets, ...checks });
      const isAgeUnknown = !asCaptured && options.at === undefined;
      report(session, delivery, { verdict, causes: inFileWords(causes, { isAgeUnknown }) }, headerPrefix);
      session.exitCode = verdict === 'accepted' ? EXIT.ok : EXIT.no;
    });
}

function report(
  { out }: Session,
  { path, at, asCaptured }: GivenDelivery,
  { verdict, causes }: Explanation,
  headerPrefix: string,
): void {
  const accepted = verdict === 'accepted';
  const time = new Date(at).toISOString();
  const prefix = headerPrefix === 'x-service' ? '' : ` --header-prefix ${headerPrefix}`;
  out.record(
    { kind: 'explained', verdict, at: time, asCaptured, causes },
    [
      [accepted ? 'good' : 'bad', accepted ? 'It verifies' : verdict],
      ['faint', `${asCaptured ? 'when it was captured' : 'as of'} ${time}`],
    ],
    ...(accepted
      ? [
          [
            'An app that refuses this delivery refuses a good one:',
            `npx service-webhooks-cli doctor 3000${path}${prefix}`,
          ],
        ]
      : []),
    ...causes.flatMap(({ cause, certainty, evidence, fix }) => [
      [[CERTAINTY[certainty], certainty], ['strong', cause], evidence] as const,
      [`  ${fix}`],
    ]),
  );
}

type Other = readonly [name: string, source: string];

function parseOther(text: string): Other {
  const found = /^([^=]+)=(.+)$/.exec(text);
  if (found === null) {
    throw new Failure('usage', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.');
  }
  const [, name = '', source = ''] = found;
  return [name, checkSource(source)];
}

/** Fixes in terms of the command line, where those of the library name options of code. */
const FIXES: Readonly<Record<string, string>> = {
  header_prefix: 'Pass the prefix of the header names, as in --header-prefix x-vendor.',
  old_delivery:
    'If it was captured or kept, verify it as of the time it was signed: --at signed. Otherwise it is a replay.',
  clock_in_seconds: 'The clock of the receiver must give milliseconds, as Date.now() does.',
};

/**
 * Returns the causes for a delivery in a file, which is old far more often than a clock is wrong. `isAgeUnknown`: the
 * time of its arrival was neither given nor part of its name.
 */
function inFileWords(causes: readonly Cause[], { isAgeUnknown }: { isAgeUnknown: boolean }): Cause[] {
  const worded = causes.map((cause) => ({ ...cause, fix: FIXES[cause.cause] ?? cause.fix }));
  if (!isAgeUnknown) return worded;
  const rest = worded.filter(({ cause }) => cause !== 'clock_ahead' && cause !== 'old_delivery');
  const age = worded.find(({ cause }) => cause === 'old_delivery');
  const clock = worded.find(({ cause }) => cause === 'clock_ahead');
  if (age === undefined || clock === undefined) return worded;
  const certain = rest.filter(({ certainty }) => certainty === 'certain');
  const others = rest.filter(({ certainty }) => certainty !== 'certain');
  return [...certain, { ...age, certainty: 'likely' }, { ...clock, certainty: 'possible' }, ...others];
}
