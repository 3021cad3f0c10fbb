/*
 * What the specification does not show. Each choice is the plainest one, and all of them are in the table
 * "Where the specification shows nothing" of docs/emulator.md; here is what of them is data.
 */

/** What the API shows of an endpoint. */
interface ShownEndpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
}

/** An endpoint: the fields of section 2.3, without the secret. */
export const endpointRecord = ({ id, url, events }: ShownEndpoint) => ({ id, url, events });

/** The list of section 4.3. */
export const endpointList = (endpoints: readonly ShownEndpoint[], eventTypes: readonly string[]) => ({
  webhooks: endpoints.map(endpointRecord),
  event_types: eventTypes,
});

/** The answer to section 4.4: the only one with the secret. */
export const createdEndpoint = (endpoint: ShownEndpoint & { readonly secret: string }) => ({
  ...endpointRecord(endpoint),
  signing_secret: endpoint.secret,
});

/** The answer to section 4.6. */
export const deletedEndpoint = (id: string) => ({ id, deleted: true });

/** The status of the answer to section 4.4. */
export const CREATED_STATUS = 201;

/** The answer to section 4.2: of the record in section 2.2 what changes with use. */
export const usageRecord = <Credits, Limits>({ credits, limits }: { credits: Credits; limits: Limits }) => ({
  credits,
  limits,
});

/** The code for a URL that is refused (section 4.4), with `param: 'url'`. */
export const REFUSED_URL_CODE = 'validation_error';

/** The code for a platform key where none is accepted (section 5). */
export const WRONG_KEY_TYPE_CODE = 'invalid_api_key';

/** "unlimited" (section 8.1) in fields and headers that hold a number. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** What a sandbox key may do on a plan without live keys (section 8.1): as much as on the lowest plan with them. */
export const SANDBOX_ONLY = { requestsPerMinute: 20, requestsPerDay: 2_000 } as const;

/** The credits of an account. */
export const DEFAULT_CREDITS = 100_000;

/** The rate headers (section 8.2) of an answer that no account gets. */
export const NO_ACCOUNT = { plan: 'NONE', limit: 0, remaining: 0, dayLimit: 0, dayUsed: 0, credits: 0 } as const;

/** `Retry-After` of a scripted 429, in seconds. */
export const SCRIPTED_RETRY_AFTER = 30;

/** A JSON body above this is none that an endpoint takes. */
export const MAX_JSON_BYTES = 1024 * 1024;
