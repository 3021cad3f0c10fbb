import { isWebhookError, verify } from 'service-webhooks';
import { type HttpMessage, headerValue } from '../../http/http-message.js';
import { jsonFields } from '../../http/json-fields.js';
import { shortened } from '../../output.js';
import type { ListenOptions } from './options.js';

/** The claims of a request, and whether they are true. */
export interface Inspection {
  /** `verified`, `unverified` without a secret, or the code of the refusal. */
  verdict: string;
  scheme?: string | undefined;
  type?: string | undefined;
  id?: string | undefined;
  attempt?: string | undefined;
  bytes: number;
}

/** Whether the signature was checked and is not valid. */
export function isRefused({ verdict }: Inspection): boolean {
  return verdict !== 'verified' && verdict !== 'unverified';
}

type InspectOptions = Pick<ListenOptions, 'secrets' | 'checks' | 'now'>;

export function inspect(message: HttpMessage, options: InspectOptions): Inspection {
  const { headers, body } = message;
  const { headerPrefix = 'x-service' } = options.checks;
  const attempt = headerValue(headers, `${headerPrefix.toLowerCase()}-attempt`);
  return { ...verdictOn(message, options), ...claimedEvent(body), attempt, bytes: body.length };
}

function verdictOn({ headers, body }: HttpMessage, { secrets, checks, now }: InspectOptions) {
  if (secrets === undefined) return { verdict: 'unverified' };
  try {
    return { verdict: 'verified', scheme: verify({ ...checks, now, headers, body, secret: secrets }).scheme };
  } catch (error) {
    if (isWebhookError(error)) return { verdict: error.code };
    throw error;
  }
}

/** Longer than any type or id of the service; the page shows them in a list of thousands. */
const MAX_TEXT = 500;

/** Returns type and id of an event, which may be forged. */
function claimedEvent(body: Uint8Array): { type?: string; id?: string } {
  const { type, id } = jsonFields(body);
  return { ...(typeof type === 'string' && { type: shown(type) }), ...(typeof id === 'string' && { id: shown(id) }) };
}

/** Replaces lone surrogates too, which JSON may have and an address may not. */
function shown(text: string): string {
  return shortened(Buffer.from(text.slice(0, 2 * MAX_TEXT)).toString(), MAX_TEXT);
}
