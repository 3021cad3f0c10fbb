import {
  type CallOptions,
  type Client,
  type EndpointSettings,
  endpointsIn,
  type SigningSecret,
} from '../../client/index.js';
import { Failure } from '../failure.js';
import { called } from './api-options.js';

/** An endpoint that is there for as long as `listen` runs. */
export interface TemporaryEndpoint {
  id: string | undefined;
  url: string;
  /** Shown to nobody: it is good for this endpoint alone. */
  secret: SigningSecret;
  /** @throws Failure that says how to get rid of it */
  remove(): Promise<void>;
}

/** How long the end of the program may be held up. */
const REMOVE_TIMEOUT_MS = 10_000;

/**
 * Registers the URL. Ctrl+C does not interrupt it, since then nobody would know what there is to delete.
 *
 * @throws Failure where there is one with that URL, and `cleanup` does not say that it may be deleted
 */
export async function createTemporaryEndpoint(
  { webhooks }: Pick<Client, 'webhooks'>,
  endpoint: EndpointSettings,
  cleanup: boolean,
): Promise<TemporaryEndpoint> {
  const { url } = endpoint;
  const idsOf = async (options: CallOptions = {}) => {
    const { data } = await called(webhooks.list(options));
    return endpointsIn(data)
      .filter((found) => sameUrl(found.url, url))
      .map(({ id }) => id);
  };
  const before = await idsOf();
  if (before.length > 0 && !cleanup) {
    throw new Failure('no', `there is an endpoint with this URL already (${before.join(', ')}): --cleanup deletes it.`);
  }
  for (const id of before) await called(webhooks.delete(id));
  const { data, signingSecret } = await called(webhooks.create(endpoint));
  const [created] = endpointsIn(data);
  return {
    id: created?.id,
    url,
    secret: signingSecret,
    async remove() {
      try {
        const options = { timeoutMs: REMOVE_TIMEOUT_MS };
        // The answer to the creation may not show the id.
        const ids = created ? [created.id] : await idsOf(options);
        for (const id of ids) await called(webhooks.delete(id, options));
      } catch (error) {
        const { message } = error as Error;
        throw new Failure('network', `the temporary endpoint is still there, since ${message} Next time: --cleanup.`);
      }
    },
  };
}

function sameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href;
}
