import { objectsIn, type SigningSecret } from './answer-data.js';
import type { Client } from './create-client.js';
import { CallError, ClientError } from './errors.js';
import type { CallOptions } from './request.js';
import { checkEndpoint, type EndpointSettings, endpointsIn } from './webhooks.js';

/** The result of {@link ensureEndpoint}. */
export type EnsuredEndpoint =
  | {
      action: 'created';
      /** The id; undefined where the answer does not show it. */
      id: string | undefined;
      /**
       * The signing secret, which the service shows only now: store the result of `reveal()` where the receiver reads
       * it.
       */
      signingSecret: SigningSecret;
    }
  | {
      action: 'updated' | 'unchanged';
      id: string;
      /** Absent, because the service never shows the secret of an existing endpoint again. */
      signingSecret?: undefined;
      /** The ids of further endpoints with this URL. Each of them receives its own delivery of every event. */
      others: string[];
    };

/**
 * Makes sure that the account has an endpoint with this URL and exactly these events: it creates one, updates its
 * events, or leaves it unchanged. Running it again changes nothing. Two runs at the same time may both create one.
 *
 * Scopes `webhooks:read` and `webhooks:write`.
 *
 * @throws ClientError `outcome_unknown` where it is unknown whether the endpoint was created; `unexpected_answer` where
 *   the list mentions the URL but shows no endpoint with it; every error of the calls
 * @example
 * const { action, signingSecret } = await ensureEndpoint({ url, events: ['dubbing.completed'] }, client);
 * if (signingSecret) await vault.write('WEBHOOK_SECRET', signingSecret.reveal());
 */
export async function ensureEndpoint(
  endpoint: EndpointSettings,
  client: Pick<Client, 'webhooks'>,
  options?: CallOptions,
): Promise<EnsuredEndpoint> {
  const { url, events } = checkEndpoint(endpoint);
  const { data } = await client.webhooks.list(options);
  const [found, ...others] = endpointsIn(data).filter((candidate) => isSameUrl(candidate.url, url));
  if (found === undefined) {
    // Creating an endpoint here would add another one at each run.
    if (mentions(data, url)) {
      throw new ClientError('unexpected_answer', `The list of endpoints mentions ${url} but has no endpoint with it.`);
    }
    return create(endpoint, client, options);
  }
  const result = { id: found.id, others: others.map(({ id }) => id) };
  if (isSameSet(found.events, events)) return { action: 'unchanged', ...result };
  await client.webhooks.update(found.id, { events }, options);
  return { action: 'updated', ...result };
}

async function create(
  endpoint: EndpointSettings,
  client: Pick<Client, 'webhooks'>,
  options: CallOptions | undefined,
): Promise<EnsuredEndpoint> {
  try {
    const { data, signingSecret } = await client.webhooks.create(endpoint, options);
    return { action: 'created', id: endpointsIn(data)[0]?.id, signingSecret };
  } catch (cause) {
    if (!(cause instanceof CallError) || cause.nothingDone) throw cause;
    // The next run would find the endpoint and report no secret.
    const found = `The endpoint may have been created, but its answer was lost (${cause.code}).`;
    throw new ClientError('outcome_unknown', found, cause, { cause });
  }
}

/**
 * Returns whether two addresses are the same in different spellings, such as with and without the port 443. A text that
 * is no address is the same as nothing.
 *
 * @example
 * console.log(isSameUrl('https://example.com:443/webhooks', 'https://example.com/webhooks')); // true
 */
export function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

/** Returns whether a text is a value or the name of a field anywhere in a JSON value. */
function mentions(data: unknown, text: string): boolean {
  const isIn = (object: object) => Object.hasOwn(object, text) || Object.values(object).includes(text);
  return data === text || objectsIn(data).some(isIn);
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return set.size === new Set(other).size && other.every((item) => set.has(item));
}
