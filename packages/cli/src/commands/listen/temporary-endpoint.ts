import { type Client, type EndpointSettings, endpointsIn, type SigningSecret } from 'service-webhooks/client';
import { called, idsWithUrl } from '../../api-options.js';
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
 * @throws Failure where an endpoint with that URL exists
 */
export async function createTemporaryEndpoint(
  client: Pick<Client, 'webhooks'>,
  endpoint: EndpointSettings,
): Promise<TemporaryEndpoint> {
  const { webhooks } = client;
  const { url } = endpoint;
  const before = await idsWithUrl(client, url);
  if (before.length > 0) {
    throw new Failure(
      'no',
      `there is an endpoint with this URL already (${before.join(', ')}), perhaps of an earlier run that was killed. ` +
        `If nothing else needs it, delete it: ${deleteCommand(before.length === 1 ? before[0] : undefined, url)}`,
    );
  }
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
        const ids = created ? [created.id] : await idsWithUrl(client, url, options);
        for (const id of ids) await called(webhooks.delete(id, options));
      } catch (error) {
        const { message } = error as Error;
        throw new Failure(
          'network',
          `the temporary endpoint is still there, since ${message} Delete it: ${deleteCommand(created?.id, url)}`,
        );
      }
    },
  };
}

/** Returns the command that deletes one endpoint, or each one with the URL where no id is given. */
function deleteCommand(id: string | undefined, url: string): string {
  const quoted = /^[\w:/.~-]+$/.test(url) ? url : `"${url}"`; // such as the & of a query
  return `npx service-webhooks-cli endpoints delete ${id ?? quoted}`;
}
