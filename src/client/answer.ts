import { failed, type Try } from './attempt.js';
import { describe, type Incoming } from './incoming.js';
import { NO_JSON, parseJson } from './json.js';
import type { ReadyOptions } from './options.js';
import type { RateState } from './rate.js';
import { readRefusal } from './refusal.js';

/** What a call gives. */
export interface Answer<T = unknown> {
  /** The JSON of the answer; undefined where it has no body. A `signing_secret` in it is a {@link SigningSecret}. */
  data: T;
  status: number;
  /** For the service's support. */
  requestId: string | undefined;
  /** Whether the key is a sandbox key, so that what was generated is a sample (specification, section 2.1). */
  sandbox: boolean;
  /** What is left, as far as the headers say. */
  rate: RateState | undefined;
  /** How often the request was sent. */
  attempts: number;
}

/**
 * An answer that says yes.
 *
 * @throws ServiceApiError where it says no; ClientError `redirected`, `not_json`, `unexpected_answer`
 */
export function readAnswer(incoming: Incoming, request: Try, options: ReadyOptions): Answer {
  const { status, headers, text, rate } = incoming;
  // A browser tells nothing of a redirect that is not followed: its status is 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    const to = options.redact(headers.get('location') ?? '');
    throw failed(request, 'redirected', `${status}, to ${originOf(to, request.url)}`, { status });
  }
  if (status >= 400) throw readRefusal(incoming, request, options);
  const data = parseJson(text);
  if (data === NO_JSON) throw failed(request, 'not_json', describe(incoming, options.redact), { status });
  return {
    data,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    sandbox: headers.get(`${options.headerPrefix}-sandbox`) === 'true',
    rate,
    attempts: request.attempts,
  };
}

/** The host alone: the rest of an address may be private. */
function originOf(location: string, base: string): string {
  return location !== '' && URL.canParse(location, base) ? new URL(location, base).origin : 'nowhere';
}
