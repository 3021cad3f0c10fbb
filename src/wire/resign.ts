import { signedHeaders } from '../testing/delivery-headers.js';
import type { Secret } from '../verify/secret.js';
import { asSpecified } from './header-spelling.js';
import type { HttpMessage } from './http-message.js';

export interface ResignOptions {
  secret: Secret;
  /** In milliseconds since the epoch. */
  at: number;
  headerPrefix: string;
  attempt?: number | undefined;
}

/** Returns the headers of a delivery signed at another time. Only the headers that depend on that time change. */
export function resign({ headers, body }: Pick<HttpMessage, 'headers' | 'body'>, options: ResignOptions) {
  const { secret, at, headerPrefix, attempt } = options;
  const changed = {
    ...signedHeaders({ body, secret, at, headerPrefix }),
    ...(attempt && { [`${headerPrefix.toLowerCase()}-attempt`]: String(attempt) }),
  };
  const kept = headers.filter(([name]) => !Object.hasOwn(changed, name.toLowerCase()));
  return [...kept, ...asSpecified(changed)] satisfies HttpMessage['headers'];
}
