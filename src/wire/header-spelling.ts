import type { HttpMessage } from './http-message.js';

/** Returns headers with the spelling that the service sends, such as `X-Service-Attempt` for `x-service-attempt`. */
export function asSpecified(headers: Readonly<Record<string, string>>): HttpMessage['headers'] {
  return Object.entries(headers).map(([name, value]) => [
    name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    value,
  ]);
}
