import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { createReceiver, type Delivery, sign, type WebhookEvent } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inShort, NOW, now, SECRET } from '../support/deliveries.js';
import { ENDPOINT, mounts, serveEndpoints } from '../support/mounts.js';
import { BODY, bytes, events, headerValues, nearlyGoodHeaders } from './arbitraries.js';
import { holds, options } from './holds.js';

type Pairs = [name: string, value: string][];

const often = <T>(arbitrary: fc.Arbitrary<T>) => ({ weight: 4, arbitrary });

/** What HTTP carries as it is: no control characters, no white space around it; one character is one byte. */
const travels = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length < 8_000 &&
  /^[\t\x20-\x7e\x80-\xff]*$/.test(value) &&
  value.trim() === value;

const v2 = () => fc.oneof(often(nearlyGoodHeaders()), headerValues()).filter(travels);
const pairs = (): fc.Arbitrary<Pairs> =>
  fc.oneof(
    often(
      fc
        .constantFrom('v2', 'legacy', 'both')
        .map((scheme) => Object.entries(sign({ ...SIGNED, scheme: scheme as 'both' }))),
    ),
    often(v2().map((value): Pairs => [['X-Service-Signature-V2', value]])),
    fc.array(fc.tuple(fc.constantFrom('x-service-signature-v2', 'X-Service-Signature', 'content-encoding'), v2()), {
      maxLength: 3,
    }),
  );
const SIGNED = { body: BODY, secret: SECRET, at: NOW };

const deliveries = () =>
  fc.oneof(
    often(fc.record({ pairs: pairs(), body: fc.oneof(often(fc.constant(Buffer.from(BODY))), bytes()) })),
    fc
      .oneof(
        events().map((event) => JSON.stringify(event)),
        fc.json(),
        bytes(),
      )
      .map((body) => ({
        pairs: Object.entries(sign({ body, secret: SECRET, at: NOW })) as Pairs,
        body: Buffer.from(body as string),
      })),
  );

/** Two settings, one at each path. */
const PATHS = ['/reject', '/accept'] as const;

function anEndpoint(path: string) {
  const seen: (string | undefined)[] = [];
  const take = (delivery: Delivery | undefined) => void seen.push(delivery?.event.id);
  const on = { '*': (_: WebhookEvent, { delivery }: { delivery: Delivery }) => take(delivery) };
  const legacy = path.slice(1) as 'reject';
  return { receiver: createReceiver({ secret: SECRET, now, legacy, dedupe: false, on }), seen, take };
}

describe('the adapters', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const served: {
    name: string;
    port: number;
    close(): Promise<void>;
    endpoints: Record<string, ReturnType<typeof anEndpoint>>;
  }[] = [];

  beforeAll(async () => {
    for (const mount of mounts) {
      const endpoints = Object.fromEntries(PATHS.map((path) => [path, anEndpoint(path)]));
      const at = (path: string) => endpoints[path] ?? expect.fail(path);
      const server = await serveEndpoints(mount, {
        receiverFor: (path) => at(path).receiver,
        onRouted: (path, delivery) => at(path).take(delivery),
      });
      served.push({ name: mount.name, ...server, endpoints });
    }
  });

  afterAll(async () => {
    agent.destroy();
    await Promise.all(served.map(({ close }) => close()));
  });

  // One try is ten requests over sockets.
  it('answer every request as the receiver alone does, and hand the same on', options, () =>
    holds(
      [deliveries(), fc.constantFrom(...PATHS)],
      async ({ pairs, body }, path) => {
        const alone = anEndpoint(path);
        const expected = {
          answer: inShort(await alone.receiver({ method: 'POST', headers: pairs, body })),
          seen: alone.seen,
        };
        const found = await Promise.all(
          served.map(async ({ name, port, endpoints }) => {
            const answer = await post(port, path, pairs, body);
            return [name, { answer, seen: endpoints[path]?.seen.splice(0) }];
          }),
        );
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(served.map(({ name }) => [name, expected])));
      },
      100,
    ),
  );

  async function post(port: number, path: string, pairs: Pairs, body: Uint8Array): Promise<string> {
    const headers = ['Host', 'receiver.test', ENDPOINT, path, 'Content-Length', String(body.length), ...pairs.flat()];
    const call: ClientRequest = httpRequest({ port, agent, method: 'POST', path: '/webhooks', headers });
    const answered = new Promise<string>((resolve, reject) => {
      call.on('error', reject);
      call.on('response', async (response) => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        const isOurs = response.headers['content-type']?.startsWith('application/json'); // Fastify adds a charset
        const { statusCode: status = 0 } = response;
        // The route behind a middleware answers in words of its own.
        resolve(isOurs ? inShort({ status, headers: {}, body: text }) : `${status} handled`);
      });
    });
    call.end(body);
    return answered;
  }
});
