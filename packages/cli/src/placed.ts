import { askFile } from './installed.js';
import { askServer, readServerUrl, type ServerUrl, type UrlGiven } from './server-url.js';
import type { Session } from './session.js';

/** Makes what fails in a call a Failure that says which file or server it is of. */
export type Ask = <Answer>(call: () => Promise<Answer>) => Promise<Answer>;

/** The place of a queue or of a store. */
export interface Placed {
  /** The file or the URL. */
  address: string;
  /** The same without a password: `webhooks.db`, `redis at localhost:6379`. */
  where: string;
  ask: Ask;
}

/** Returns the place of an engine: a file, a URL, or the URL in the place that is named. @throws Failure */
export async function placeAt(
  session: Session,
  { name, url }: { name: string; url?: ServerUrl },
  given: unknown,
  as: UrlGiven = {},
): Promise<Placed> {
  if (url === undefined) {
    const address = String(given);
    return { address, where: address, ask: (call) => askFile(address, call) };
  }
  const address = await readServerUrl(session, name, url, given, as);
  return { address, where: `${name} at ${new URL(address).host}`, ask: (call) => askServer(name, address, call) };
}
