import { createReceiver, type Delivery, type HandlerContext, type WebhookEvent } from 'service-webhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectVerdicts } from '../support/expect-verdicts.js';
import { readVectors } from '../support/fixtures.js';
import { ENDPOINT, serveEndpoints } from '../support/mounts.js';
import { exchange, type RawResponse, toBytes } from '../support/raw-http.js';
import { accepted, bodyOf, changedByHttp, settingsOf, type Vector, type Verdict } from '../support/vector.js';
import type { Listening, Mount } from './mounts/mount.js';

const travelling = readVectors().filter((vector) => changedByHttp(vector) === undefined);
const groups = [...new Set(travelling.map(({ group }) => group))];

/** The tests of every vector that HTTP does not change, over a socket to the app of a mount. */
export function runVectors(mount: Mount<Listening>): void {
  const endpoints = new Map<string, ReturnType<typeof createEndpoint>>();
  let server: Awaited<ReturnType<typeof mount.serve>>;

  beforeAll(async () => {
    server = await serveEndpoints(mount, {
      receiverFor: (endpoint) => endpoints.get(endpoint)?.receiver ?? expect.fail(`nothing at ${endpoint}`),
      onRouted: (endpoint, delivery) => endpoints.get(endpoint)?.take(delivery),
    });
  });

  afterAll(() => server.close());

  it.each(groups)('each vector about %s gets the answer that is recorded with it', async (group) => {
    await expectVerdicts(travelling, group, async (vector) => {
      const endpoint = `${travelling.indexOf(vector)}`;
      const { receiver, take, taken } = createEndpoint(vector);
      endpoints.set(endpoint, { receiver, take, taken });
      const body = bodyOf(vector);
      const headers = [...vector.headers, [ENDPOINT, endpoint] as const];
      return answered(await exchange(server.port, toBytes({ path: server.path ?? '/webhooks', headers, body })), taken);
    });
  });
}

/** A receiver with the settings of one vector, and the deliveries it let through to the user's code. */
function createEndpoint(vector: Vector) {
  const taken: (Delivery | undefined)[] = [];
  const take = (delivery: Delivery | undefined) => void taken.push(delivery);
  const on = { '*': (_: WebhookEvent, { delivery }: HandlerContext) => take(delivery) };
  return { receiver: createReceiver({ ...settingsOf(vector), on, dedupe: false }), take, taken };
}

/** From the answer, and from what the user's code saw: once for a 200, never for a refusal. */
function answered({ status, body }: RawResponse, taken: (Delivery | undefined)[]): Verdict {
  const [delivery, ...more] = taken;
  expect(more).toEqual([]);
  if (status === 200 && delivery !== undefined) return accepted(delivery);
  expect(delivery).toBeUndefined();
  const { error } = JSON.parse(body);
  expect(error.status).toBe(status);
  return { accept: false, code: error.code, status };
}
