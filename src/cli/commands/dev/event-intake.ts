import type { Emulator } from '../../../emulator/index.js';
import { isWebhookError } from '../../../errors.js';
import { openBody } from '../../../receiver/body.js';
import { EVENTS_PATH } from './dev-address.js';

/** More than a delivery has. */
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

type Api = (request: Request) => Promise<Response>;

/**
 * Returns the API with one more route: it emits an event of the caller's own. The key is in a header, which another site
 * that is open in the browser cannot send.
 */
export function takingEvents(emulator: Emulator, key: string, api: Api): Api {
  return async (request) => {
    if (new URL(request.url).pathname !== EVENTS_PATH) return api(request);
    if (request.method !== 'POST') return answer(405, { error: 'Events are sent with POST.' });
    if (request.headers.get('x-api-key') !== key) return answer(401, { error: 'The key is that of dev.' });
    try {
      const { type, ...overrides } = await readEvent(request);
      const { event, deliveries } = await emulator.emit(typeof type === 'string' ? type : '', overrides);
      return answer(200, { id: event.id, type: event.type, deliveries: deliveries.map(({ id }) => id) });
    } catch (error) {
      if (!isWebhookError(error)) throw error;
      return answer(422, { error: error.problem });
    }
  };
}

/** @throws WebhookError for a body that is too large, or no JSON object */
async function readEvent({ body }: Request): Promise<{ type?: unknown } & Record<string, unknown>> {
  const bytes = await openBody(body ?? new Uint8Array()).read({}, MAX_BYTES, TIMEOUT_MS);
  try {
    return Object(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return {}; // an event without a type, which is refused
  }
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status });
}
