import { type ADVICE, isErrorCode, type RefusalCause } from './advice.js';

/** What a row of a list says of each cause. */
const BRIEF: Readonly<Record<keyof typeof ADVICE, string>> = {
  parsed_body: 'the app parses the body first',
  other_secret: 'another secret',
  secret_or_guard: 'another secret, or a guard',
  clock: 'the clock of the app is wrong',
  time_check: 'the app refuses the signed time',
  header_prefix: 'another header prefix',
  login: 'asks for a login',
  csrf: 'CSRF filter',
  refused_everywhere: 'the app refuses every path',
  behind_listen: 'see the terminal of listen',
  correctly_refused: 'the delivery does not verify',
  accepted_invalid: 'accepted, but does not verify',
  redirect: 'a redirect is not followed',
  no_route: 'no route for POST here',
  web_page: 'another app answers here',
  too_large: 'the body is too large for the app',
  rate_limited: 'the app limits requests',
  no_answer: 'no answer',
  failed: 'the app failed',
  unclear: 'the answer does not say why',
};

/** Returns a cause in short words, which fit in a line with the status. */
export function briefOf(cause: RefusalCause): string {
  return isErrorCode(cause) ? inWords(cause) : BRIEF[cause];
}

/** Returns a code as words: `signature_mismatch` is `signature mismatch`. */
export function inWords(code: string): string {
  return code.replaceAll('_', ' ');
}
