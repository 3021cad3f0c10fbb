import { Option } from '@commander-js/extra-typings';
import type { WebhookError } from '../errors.js';
import { Failure } from './failure.js';

export function signUnverifiedOption() {
  return new Option(
    '--sign-unverified',
    'sign also a capture that the secret has not signed: anyone may have sent it to listen',
  );
}

/** Returns the refusal to sign a capture. `instead` is the way to use it without a new signature. */
export function unverifiedFailure(file: string, fault: WebhookError, instead: string): Failure {
  return new Failure(
    'usage',
    `${file} has no valid signature of your secret, so it is not signed again: ${fault.problem} (${fault.code}) ` +
      'Anyone who reached listen may have sent it, and your receivers accept what you sign. ' +
      'If an older secret signed it, name both: --secret env:WEBHOOK_SECRET --secret file:OLD. ' +
      `${instead} To sign it all the same, add --sign-unverified.`,
  );
}
