import type { HttpMessage } from './http-file.js';

/** Headers of the library, whose names are in lower case, with names as the specification writes them. */
export function asSpecified(headers: Readonly<Record<string, string>>): HttpMessage['headers'] {
  return Object.entries(headers).map(([name, value]) => [
    name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
    value,
  ]);
}
