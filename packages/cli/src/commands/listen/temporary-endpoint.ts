import {
  type CallOptions,
  type Client,
  type EndpointSettings,
  endpointsIn,
  isSameUrl,
  type SigningSecret,
} from 'service-webhooks/client';
import { called, listEndpoints } from '../../api-options.js';
import { Failure } from '../../failure.js';

/** An endpoint that exists while `listen` runs. */
export interface TemporaryEndpoint {
  id: string | undefined;
  url: string;
  /** Never shown, because it is valid for this endpoint only. */
  secret: SigningSecret;
  /** Deletes the endpoint. @throws Failure that says how to delete it manually */
  remove(): Promise<void>;
}

/** The longest time that the removal may delay the end of the program. */
const REMOVE_TIMEOUT_MS = 10_000;

/**
 * Registers the URL. Ctrl+C does not interrupt this call, because the id of the endpoint would then be unknown.
 *
 * @throws Failure where an endpoint with that URL exists, and `cleanup` does not allow to delete it
 */
export async function createTemporaryEndpoint(
  { webhooks }: Pick<Client, 'webhooks'>,
  endpoint: EndpointSettings,
  cleanup: boolean,
): Promise<TemporaryEndpoint> {
  const { url } = endpoint;
  const idsOf = async (options?: CallOptions) => {
    const found = await listEndpoints({ webhooks }, options);
    return found.filter((one) => isSameUrl(one.url, url)).map(({ id }) => id);
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
        // The answer to the creation may not contain the id.
        const ids = created ? [created.id] : await idsOf(options);
        for (const id of ids) await called(webhooks.delete(id, options));
      } catch (error) {
        const { message } = error as Error;
        throw new Failure('network', `the temporary endpoint is still there, since ${message} Next time: --cleanup.`);
      }
    },
  };
}
