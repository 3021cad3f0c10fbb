import { isWebhookError } from '../../errors.js';
import { explain } from '../../explain/index.js';
import { verify } from '../../verify.js';
import { type HttpMessage, headerValue } from '../http-file.js';
import type { ListenOptions } from './options.js';

/** What a request says of itself, and whether that is true. */
export interface Seen {
  /** `verified`, `unverified` without a secret, or the code of the refusal. */
  verdict: string;
  scheme?: string | undefined;
  type?: string | undefined;
  id?: string | undefined;
  attempt?: string | undefined;
  bytes: number;
}

export function look(message: HttpMessage, options: ListenOptions): Seen {
  const { headers, body } = message;
  const { headerPrefix = 'x-service' } = options;
  const attempt = headerValue(headers, `${headerPrefix.toLowerCase()}-attempt`);
  return { ...verdictOn(message, options), ...nameOf(body), attempt, bytes: body.length };
}

function verdictOn({ headers, body }: HttpMessage, { secrets, ...options }: ListenOptions) {
  if (secrets === undefined) return { verdict: 'unverified' };
  try {
    return { verdict: 'verified', scheme: verify({ ...options, headers, body, secret: secrets }).scheme };
  } catch (error) {
    if (isWebhookError(error)) return { verdict: error.code };
    throw error;
  }
}

/** Of an event that may be forged. */
function nameOf(body: Uint8Array): { type?: string; id?: string } {
  try {
    const { type, id } = JSON.parse(Buffer.from(body).toString());
    return { ...(typeof type === 'string' && { type }), ...(typeof id === 'string' && { id }) };
  } catch {
    return {};
  }
}

/** Larger ones take seconds to explain, and here others wait. */
const MAX_EXPLAINED_BYTES = 256 * 1024;

/** Why a delivery is refused, as far as that shows. */
export function mainCause({ headers, body }: HttpMessage, { secrets, ...options }: ListenOptions) {
  if (body.length > MAX_EXPLAINED_BYTES) return undefined;
  return explain({ ...options, headers, body, secret: secrets }).causes[0];
}
