import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isWebhookError } from 'service-webhooks';
import type { Emulator } from 'service-webhooks-emulator';
import { EXIT, type ExitCode, Failure } from '../../failure.js';
import { deliver } from '../../http/deliver.js';
import { jsonFields } from '../../http/json-fields.js';
import { readBody } from '../../http/read-body.js';
import type { Session } from '../../session.js';

/** The port of `dev` where none is named. */
export const DEV_PORT = 4848;
/** It gives access to this machine alone, so that it may be known. */
export const DEV_KEY = 'acct_development';
/** Where a running `dev` takes events. No path of the service's API. */
export const EVENTS_PATH = '/dev/events';

/** More than a delivery has. */
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Answers a request to the API of the service. */
export type Api = (request: Request) => Promise<Response>;

/**
 * Returns the API with one more route: it emits an event of the caller's own. The key is in a header, which another site
 * that is open in the browser cannot send.
 */
export function takingEvents(emulator: Emulator, api: Api): Api {
  return async (request) => {
    if (new URL(request.url).pathname !== EVENTS_PATH) return api(request);
    if (request.method !== 'POST') return answer(405, { error: 'Events are sent with POST.' });
    if (request.headers.get('x-api-key') !== DEV_KEY) return answer(401, { error: 'The key is that of dev.' });
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

/** An event that is no JSON object has no type, and is refused for that. @throws WebhookError for a body that is too large */
async function readEvent({ body }: Request): Promise<Record<string, unknown>> {
  if (body === null) return {};
  const bytes = await readBody(Readable.fromWeb(body as ReadableStream), {
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  return jsonFields(bytes);
}

function answer(status: number, body: object): Response {
  return Response.json(body, { status });
}

/** Has a running `dev` emit an event, which it delivers with its retries. @throws Failure where no `dev` takes it */
export async function emitInto(session: Session, dev: URL, event: object): Promise<ExitCode> {
  const url = new URL(EVENTS_PATH, dev);
  const headers = [
    ['Content-Type', 'application/json'],
    ['X-Api-Key', DEV_KEY],
  ] as const;
  const outgoing = { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(event)) };
  const sent = await deliver(outgoing, { timeoutMs: TIMEOUT_MS, signal: session.signal });
  if (sent.status === undefined) throw new Failure('network', `${dev.host}: ${sent.problem}. Is dev running there?`);
  const { error, id, type, deliveries } = jsonFields(sent.body);
  if (sent.status === 422) throw new Failure('usage', `dev refuses the event: ${error}`);
  if (sent.status !== 200 || !Array.isArray(deliveries)) {
    throw new Failure('network', `${dev.host} is no dev of this version: it answered ${sent.status}.`);
  }
  const isDelivered = deliveries.length > 0;
  session.out.record({ kind: 'emitted', type, id, dev: dev.href, deliveries }, [
    isDelivered ? ['good', 'emitted'] : ['warn', 'no endpoint has subscribed to it'],
    String(type),
    String(id),
    isDelivered && `${dev.host} delivers it with retries`,
  ]);
  return isDelivered ? EXIT.ok : EXIT.no;
}
