import {
  createReceiver,
  type Delivery,
  type HandlerContext,
  type HeaderSource,
  verify,
  verifyAsync,
  type WebhookEvent,
} from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readVectors } from './support/fixtures.js';
import { ENDPOINT, mounts, serveEndpoints } from './support/mounts.js';
import { exchange, type RawResponse, toBytes } from './support/raw-http.js';
import { accepted, bodyOf, changedByHttp, refused, settingsOf, type Vector, type Verdict } from './support/vector.js';

const vectors = readVectors();
const groups = [...new Set(vectors.map(({ group }) => group))];

const travelling = vectors.filter((vector) => changedByHttp(vector) === undefined);

describe('the vectors', () => {
  it('are at least 150, each with a name of its own', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  it('accept and refuse', () => {
    const accepting = vectors.filter((vector) => vector.expect.accept);
    expect(accepting.length).toBeGreaterThanOrEqual(50);
    expect(vectors.length - accepting.length).toBeGreaterThanOrEqual(100);
  });

  it('can all go over HTTP but a handful', () => {
    expect(vectors.length - travelling.length).toBeLessThanOrEqual(10);
  });
});

describe.each<[string, (headers: Vector['headers']) => HeaderSource, Vector[]]>([
  ['a list of pairs', (headers) => headers, vectors],
  ['an object, joined as Node does', (headers) => grouped(headers, (values) => values.join(', ')), vectors],
  [
    'an object, with lists of what is repeated',
    (headers) => grouped(headers, (values) => (values.length === 1 ? values.join() : values)),
    vectors,
  ],
  // It trims and refuses what HTTP does.
  ['a Headers', (headers) => new Headers(headers.map(([name, value]) => [name, value])), travelling],
])('with headers as %s', (_, toHeaders, some) => {
  const inputOf = (vector: Vector) => ({
    ...settingsOf(vector),
    headers: toHeaders(vector.headers),
    body: bodyOf(vector),
  });

  it.each(groups)('verify gives the verdict of each vector about %s', async (group) => {
    await expectVerdicts(some, group, async (vector) => accepted(verify(inputOf(vector))));
  });

  it.each(groups)('verifyAsync gives the verdict of each vector about %s', async (group) => {
    await expectVerdicts(some, group, async (vector) => accepted(await verifyAsync(inputOf(vector))));
  });
});

describe.each(mounts)('over a socket to $name', (mount) => {
  const endpoints = new Map<string, ReturnType<typeof createEndpoint>>();
  let server: Awaited<ReturnType<typeof mount.serve>>;

  beforeAll(async () => {
    server = await serveEndpoints(mount, {
      receiverFor: (endpoint) => endpoints.get(endpoint)?.receiver ?? expect.fail(`nothing at ${endpoint}`),
      onRouted: (endpoint, delivery) => endpoints.get(endpoint)?.take(delivery),
    });
  });

  afterAll(() => server.close());

  it.each(groups)('each vector about %s is answered as it says', async (group) => {
    await expectVerdicts(travelling, group, async (vector) => {
      const endpoint = `${vectors.indexOf(vector)}`;
      const { receiver, take, taken } = createEndpoint(vector);
      endpoints.set(endpoint, { receiver, take, taken });
      const body = bodyOf(vector);
      const headers = [...vector.headers, [ENDPOINT, endpoint] as const];
      return answered(await exchange(server.port, toBytes({ path: '/webhooks', headers, body })), taken);
    });
  });
});

/** A receiver with the settings of one vector, and the deliveries it let through to the user's code. */
function createEndpoint(vector: Vector) {
  const taken: (Delivery | undefined)[] = [];
  const take = (delivery: Delivery | undefined) => void taken.push(delivery);
  const on = { '*': (_: WebhookEvent, { delivery }: HandlerContext) => take(delivery) };
  return { receiver: createReceiver({ ...settingsOf(vector), on, dedupe: false }), take, taken };
}

/** Runs the vectors of a group at once; where a verdict is another one, the difference names the vector. */
async function expectVerdicts(some: Vector[], group: string, judge: (vector: Vector) => Promise<Verdict>) {
  const chosen = some.filter((vector) => vector.group === group);
  const verdicts = await Promise.all(chosen.map(async (vector) => [vector.name, await judge(vector).catch(refused)]));
  expect(Object.fromEntries(verdicts)).toEqual(
    Object.fromEntries(chosen.map((vector) => [vector.name, vector.expect])),
  );
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

/** Headers as an object with lower-case names, the values of each put together. */
function grouped<T>(headers: Vector['headers'], combine: (values: string[]) => T): Record<string, T> {
  const byName = new Map<string, string[]>();
  for (const [name, value] of headers) {
    byName.set(name.toLowerCase(), [...(byName.get(name.toLowerCase()) ?? []), value]);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, combine(values)]));
}
