import type { Secret } from 'service-webhooks';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import { signDelivery } from 'service-webhooks/testing';
import { answerCode } from '../../http/answer.js';
import { deliverAsService, type SendResult } from '../../http/deliver.js';
import { findSecrets, readSecret } from '../../secrets.js';
import type { Session } from '../../session.js';
import type { Rotation } from './rotation.js';

export const HOW_TO_ACCEPT =
  'give the app both, secret: [WEBHOOK_SECRET, OLD_WEBHOOK_SECRET], the new one first; then run this again';

/** Whether the app accepts both secrets of a rotation, as far as it can be seen from outside. */
export interface CheckedApp {
  state: 'done' | 'refused' | 'unknown';
  says: string;
}

/** Asks the app about the secret that was saved, and about those that are named. Runs no handler. @throws Failure */
export async function checkApp(
  session: Session,
  { secretFile }: Rotation,
  { url, sources, headerPrefix }: { url: string; sources: readonly string[] | undefined; headerPrefix: string },
): Promise<CheckedApp> {
  const secrets = await secretsOf(session, secretFile, sources);
  if (secrets.length < 2) {
    return { state: 'unknown', says: 'not checked: name both secrets, --secret env:NEW --secret env:OLD' };
  }
  const found: Acceptance[] = [];
  for (const secret of secrets) {
    // A receiver that accepts the signature refuses this body, which is no event, so that no handler runs.
    const delivery = signDelivery({ secret, body: '{}', headerPrefix, at: session.now() });
    const wire = { timeoutMs: ANSWER_TIMEOUT_MS, signal: session.signal };
    found.push(acceptanceIn(await deliverAsService(delivery, new URL(url), wire)));
  }
  if (found.includes('refused')) {
    const which = found.every((one) => one === 'refused') ? 'all secrets' : 'one of the secrets';
    return { state: 'refused', says: `the app refuses ${which}: ${HOW_TO_ACCEPT}` };
  }
  if (found.includes('unknown')) {
    return { state: 'unknown', says: 'its answer does not tell: see a delivery of each endpoint acknowledged' };
  }
  return { state: 'done', says: `the app accepts ${secrets.length === 2 ? 'both' : 'all'} secrets` };
}

/** Each once: what is in the file may be in the environment already. */
async function secretsOf(
  session: Session,
  file: string | undefined,
  sources: readonly string[] | undefined,
): Promise<Secret[]> {
  const fresh = file === undefined ? undefined : await readSecret(session, `file:${file}`).catch(() => undefined);
  const others = (await findSecrets(session, sources)) ?? [];
  const all = fresh === undefined ? others : [fresh, ...others];
  return [...new Map(all.map((secret) => [String(secret), secret])).values()];
}

/** `unknown`: the answer is not one of this library's receivers, which tell the signature from the event. */
type Acceptance = 'accepted' | 'refused' | 'unknown';

function acceptanceIn(sent: SendResult): Acceptance {
  if (sent.status === undefined) return 'unknown';
  if (answerCode(sent.body) === 'invalid_envelope') return 'accepted';
  return sent.status === 401 || sent.status === 403 ? 'refused' : 'unknown';
}
