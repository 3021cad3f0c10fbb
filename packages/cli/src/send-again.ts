import type { Secret } from 'service-webhooks';
import { diagnose } from './diagnosis/diagnose.js';
import { Failure } from './failure.js';
import { deliver, type SendResult } from './http/deliver.js';
import { type HttpMessage, resign } from './http/http-message.js';
import { redactDelivery } from './redact.js';
import { readSecrets } from './secrets.js';
import { exitCodeOf, reportSent } from './send-report.js';
import type { Session } from './session.js';
import { parseApp, parseTarget, withPathOf } from './target.js';

/** A delivery to send again, from a captured file or with the id of a dead letter. */
export interface Replayed {
  file?: string;
  letter?: string;
  message: HttpMessage;
}

type Secrets = readonly [Secret, ...Secret[]];

interface Sending {
  insecure?: true | undefined;
  secret?: Parameters<typeof readSecrets>[1];
  /** Sends the bytes and headers unchanged, without a secret. */
  exact?: boolean | undefined;
  attempt?: number | undefined;
  /** The fields to replace. */
  redact?: readonly string[] | undefined;
  timeout: number;
  headerPrefix: string;
  /** Throws for a delivery that must not be signed. */
  check?: ((delivery: Replayed, secrets: Secrets) => void) | undefined;
}

/** Sends deliveries to an app, one by one and signed with the current time, and reports the answers. @throws Failure */
export async function sendAgain(
  session: Session,
  app: string | undefined,
  deliveries: AsyncIterable<Replayed>,
  { insecure, exact = false, secret: sources, timeout, check, ...signing }: Sending,
): Promise<void> {
  const to = app === undefined ? parseTarget() : parseApp(session, app);
  const { signal } = session;
  const all: SendResult[] = [];
  let secrets: Secrets | undefined;
  for await (const delivery of deliveries) {
    const { file, letter } = delivery;
    if (!exact) secrets ??= await readSecrets(session, sources);
    if (secrets) check?.(delivery, secrets);
    const message = secrets ? signAgain(delivery, secrets[0], { ...signing, at: session.now() }) : delivery.message;
    const url = withPathOf(to, message.path);
    const sent = await deliver({ ...message, url, insecure }, { timeoutMs: timeout, signal });
    all.push(sent);
    const options = { secret: secrets?.[0], headerPrefix: signing.headerPrefix, insecure, signal };
    const advice = await diagnose({ ...message, sent, url, at: session.now() }, options);
    const facts = { kind: 'replayed', file, letter, exact, url: url.href };
    reportSent(session.out, facts, sent, [exact ? 'as captured' : 'signed again', file ?? letter, url.href], advice);
  }
  session.exitCode = exitCodeOf(all);
}

function signAgain(
  { file, letter, message }: Replayed,
  secret: Secret,
  { redact: fields, headerPrefix, attempt, at }: Pick<Sending, 'redact' | 'headerPrefix' | 'attempt'> & { at: number },
): HttpMessage {
  const redacted = fields ? redactDelivery(message, { fields, secret }, { headerPrefix, at })?.message : message;
  if (redacted === undefined) {
    const name = file ?? letter ?? 'the delivery';
    throw new Failure('file', `${name}: its body is not JSON, so that no field can be replaced.`);
  }
  return { ...redacted, headers: resign(redacted, { secret, at, headerPrefix, attempt }) };
}
