import { Command } from '@commander-js/extra-typings';
import type { Secret } from 'service-webhooks';
import { DEFAULT_DIRECTORY } from '../../captures.js';
import { diagnose } from '../../diagnosis/diagnose.js';
import { Failure } from '../../failure.js';
import { deliver, type SendResult } from '../../http/deliver.js';
import { type HttpMessage, resign } from '../../http/http-message.js';
import { headerPrefixOption, legacyOption, timeoutOption, wholeNumber } from '../../options.js';
import { redactDelivery, redactOption } from '../../redact.js';
import { readSecrets, secretOption } from '../../secrets.js';
import { exitCodeOf, reportSent } from '../../send-report.js';
import type { Session } from '../../session.js';
import { checkGenuine, signUnverifiedOption } from '../../signature-fault.js';
import { parseApp, parseTarget, withPathOf } from '../../target.js';
import { namesQueue, withQueueOptions } from '../queue/queue-options.js';
import { deliveriesOf, type ReplayedDelivery, splitWords } from './deliveries.js';

export function replayCommand(session: Session) {
  const command = new Command('replay')
    .description('Sends a captured delivery or a dead letter again, signed again with the current time.')
    .argument(
      '[deliveries...]',
      'files, ids of captured deliveries or of their events, or how these begin; with a queue ids of dead letters or of their events; then a port, which means its path /webhooks, or a URL; where listen listens',
    )
    .option('--last', 'the newest captured delivery')
    .option('--insecure', 'accept any certificate, as a self-signed one')
    .addOption(secretOption())
    .option('--exact', 'the bytes and headers as they were captured; needs no secret')
    .addOption(signUnverifiedOption())
    .option('--captures <directory>', 'the directory of the captures', DEFAULT_DIRECTORY)
    .option('--attempt <number>', 'which attempt of the delivery it is; as captured', wholeNumber(1, 1_000_000))
    .addOption(redactOption())
    .addOption(timeoutOption())
    .addOption(legacyOption())
    .addOption(headerPrefixOption());
  return withQueueOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks replay 7f3a9c01 3000
  service-webhooks replay --last 3000
  service-webhooks replay 7f3a 02bd 3000                   several, by the beginning of their ids
  service-webhooks replay evt_1 3000/api/webhooks
  service-webhooks replay delivery.http 3000 --exact       a correct receiver refuses it as too old
  service-webhooks replay 17 3000 --sqlite webhooks.db     a dead letter, which stays in the queue`,
    )
    .action(async (words, { secret: sources, exact = false, insecure = false, ...options }) => {
      checkOptions({ exact, ...options });
      const { names, url } = await splitWords(words, options);
      const app = url === undefined ? parseTarget() : parseApp(session, url);
      const all: SendResult[] = [];
      let secrets: Signing['secrets'] | undefined;
      for await (const delivery of deliveriesOf(session, names, options)) {
        const { file, letter } = delivery;
        if (!exact) secrets ??= await readSecrets(session, sources);
        const message = secrets ? signAgain(delivery, { ...options, secrets, now: session.now }) : delivery.message;
        const target = withPathOf(app, message.path);
        const outgoing = { ...message, url: target, insecure };
        const sent = await deliver(outgoing, { timeoutMs: options.timeout, signal: session.signal });
        all.push(sent);
        const { headerPrefix } = options;
        const { signal } = session;
        const answered = { ...message, sent, url: target, at: session.now() };
        const advice = await diagnose(answered, { secret: secrets?.[0], headerPrefix, insecure, signal });
        const pieces = [exact ? 'as captured' : 'signed again', file ?? letter, target.href];
        reportSent(session.out, { kind: 'replayed', file, letter, exact, url: target.href }, sent, pieces, advice);
      }
      session.exitCode = exitCodeOf(all);
    });
}

interface Changes {
  /** The fields to replace. */
  redact?: readonly string[] | undefined;
  signUnverified?: true | undefined;
}

/** @throws Failure for options of which one leaves no use for the other */
function checkOptions({ exact, redact, signUnverified, ...options }: Changes & { exact: boolean }): void {
  const fail = (problem: string): never => {
    throw new Failure('usage', problem);
  };
  const fromQueue = namesQueue(options);
  if (exact && redact) fail('--exact sends every byte: leave --redact out.');
  if (exact && fromQueue) fail('a queue does not keep the signature of a delivery: leave --exact out.');
  if (exact && signUnverified) fail('--exact signs nothing: leave --sign-unverified out.');
  if (fromQueue && signUnverified) fail('a queue has verified what it keeps: leave --sign-unverified out.');
}

interface Signing extends Changes {
  /** The first one signs. */
  secrets: readonly [Secret, ...Secret[]];
  headerPrefix: string;
  legacy?: 'reject' | 'accept' | undefined;
  attempt?: number | undefined;
  now: () => number;
}

/** @throws Failure for a capture that none of the secrets has signed */
function signAgain({ file, letter, message }: ReplayedDelivery, signing: Signing): HttpMessage {
  const { secrets, redact: fields, signUnverified = false, headerPrefix, attempt, now } = signing;
  const [secret] = secrets;
  // A dead letter has no signature: its receiver verified it before it was queued.
  if (!signUnverified && file !== undefined)
    checkGenuine(file, message, secrets, signing, '--exact sends it as it came.');
  const redacted = fields ? redactDelivery(message, { fields, secret }, { headerPrefix, at: now() })?.message : message;
  if (redacted === undefined) {
    const name = file ?? letter ?? 'the delivery';
    throw new Failure('file', `${name}: its body is not JSON, so that no field can be replaced.`);
  }
  return { ...redacted, headers: resign(redacted, { secret, at: now(), headerPrefix, attempt }) };
}
