import type { Secret } from '../secret.js';
import { sign } from '../signature.js';
import { asSpecified } from './delivery-headers.js';
import type { HttpMessage } from './http-file.js';

export interface SignAnewOptions {
  secret: Secret;
  /** In milliseconds since the epoch. */
  at: number;
  headerPrefix: string;
  attempt?: number | undefined;
}

/** The headers of a delivery as they would be now: all but those that say when it was signed stay. */
export function signAnew({ headers, body }: HttpMessage, options: SignAnewOptions): HttpMessage['headers'] {
  const { secret, at, headerPrefix, attempt } = options;
  const prefix = headerPrefix.toLowerCase();
  const anew = {
    ...sign({ body, secret, at, headerPrefix }),
    [`${prefix}-timestamp`]: String(Math.floor(at / 1000)),
    ...(attempt && { [`${prefix}-attempt`]: String(attempt) }),
  };
  return [...headers.filter(([name]) => !Object.hasOwn(anew, name.toLowerCase())), ...asSpecified(anew)];
}
