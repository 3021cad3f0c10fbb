import { Option } from '@commander-js/extra-typings';
import {
  isWebhookError,
  type Secret,
  type SignatureOptions,
  verifySignature,
  type WebhookError,
} from 'service-webhooks';
import { Failure } from './failure.js';
import { type HttpMessage, headerValue } from './http/http-message.js';

type SignatureChecks = Pick<SignatureOptions, 'headerPrefix' | 'legacy'>;

/** The age of a signature says nothing about who signed. */
const ANY_AGE_SECONDS = Number.MAX_SAFE_INTEGER;

/**
 * Returns why a request is not signed with any of the secrets; undefined where it is, however long ago. A request with a
 * fault may come from any sender, and a new signature would make it genuine.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`
 */
export function signatureFault(
  { headers, body }: Pick<HttpMessage, 'headers' | 'body'>,
  secret: readonly Secret[],
  checks: SignatureChecks,
): WebhookError | undefined {
  const { headerPrefix, legacy } = checks;
  try {
    verifySignature({ headerPrefix, legacy, toleranceSeconds: ANY_AGE_SECONDS, headers, body, secret });
    return undefined;
  } catch (error) {
    if (isWebhookError(error) && error.status === 401) return error;
    throw error;
  }
}

/** Returns the time in the V2 header, in milliseconds since the epoch, whether the signature is valid or not. */
export function signedTime({ headers }: HttpMessage, headerPrefix: string): number | undefined {
  const value = headerValue(headers, `${headerPrefix.toLowerCase()}-signature-v2`);
  const t = /(?:^|,)t=(\d{1,12})(?:,|$)/.exec(value ?? '')?.[1];
  return t === undefined ? undefined : Number(t) * 1000;
}

export function signUnverifiedOption() {
  return new Option(
    '--sign-unverified',
    'sign also a capture that the secret has not signed: anyone may have sent it to listen',
  );
}

/**
 * Refuses to sign a capture that none of the secrets has signed. @throws Failure
 *
 * @param instead The way to use the capture without a new signature.
 */
export function checkGenuine(
  file: string,
  message: HttpMessage,
  secret: readonly Secret[],
  checks: SignatureChecks,
  instead: string,
): void {
  const fault = signatureFault(message, secret, checks);
  if (fault === undefined) return;
  throw new Failure(
    'usage',
    `${file} has no valid signature of your secret, so it is not signed again: ${fault.problem} (${fault.code}) ` +
      'Anyone who reached listen may have sent it, and your receivers accept what you sign. ' +
      'If an older secret signed it, name both: --secret env:WEBHOOK_SECRET --secret file:OLD. ' +
      `${instead} To sign it all the same, add --sign-unverified.`,
  );
}
