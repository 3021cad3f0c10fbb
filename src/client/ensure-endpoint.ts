import { CallError } from './call-error.js';
import { ClientError } from './client-error.js';
import type { Client } from './create-client.js';
import type { CallOptions } from './create-request.js';
import { checkEndpoint, type EndpointSettings } from './endpoint-settings.js';
import type { SigningSecret } from './signing-secret.js';
import { endpointsIn } from './webhooks.js';

/** What {@link ensureEndpoint} did. */
export type EnsuredEndpoint =
  | {
      action: 'created';
      /** Undefined where the answer does not show it. */
      id: string | undefined;
      /** Shown this once: `reveal()` it, and keep it where the receiver reads it. */
      signingSecret: SigningSecret;
    }
  | {
      action: 'updated' | 'unchanged';
      id: string;
      /** Of what was there already nobody gets the secret. */
      signingSecret?: undefined;
      /** Ids of further endpoints with this URL: each gets a delivery of its own. */
      others: string[];
    };

/**
 * Makes sure that the account has an endpoint with that URL and exactly these events: finds it, makes it, or updates its
 * events. Running it again changes nothing. Two that run at the same time may both make one.
 *
 * Scopes `webhooks:read` and `webhooks:write`.
 *
 * @throws ClientError `outcome_unknown` where it is not known whether the endpoint was made; `unexpected_answer` where
 *   the list names the URL in no way that could be understood; what the calls throw
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
    // Otherwise there would be one more after each run.
    const isNamed = JSON.stringify(data ?? null).includes(JSON.stringify(url));
    if (isNamed) throw new ClientError('unexpected_answer', 'the list has the URL, and no endpoint with it');
    return create(endpoint, client, options);
  }
  const result = { id: found.id, others: others.map(({ id }) => id) };
  if (asSet(found.events) === asSet(events)) return { action: 'unchanged', ...result };
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
    // The next run would find it and report no secret.
    throw new ClientError('outcome_unknown', cause.message, cause, { cause });
  }
}

/** Whether both are the same address, however they are written. */
function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href;
}

function asSet(events: readonly string[]): string {
  return JSON.stringify([...new Set(events)].sort());
}
