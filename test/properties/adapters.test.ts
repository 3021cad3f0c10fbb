import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import {
  createReceiver,
  type Delivery,
  isWebhookError,
  verify,
  verifyAsync,
  type WebhookEvent,
} from 'service-webhooks';
import type { CalledRequest, ServedApp } from 'service-webhooks-suites';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinHeaders } from '../adapters/mounts/aws-lambda.js';
import { CALLED, LISTENING } from '../adapters/mounts/every-adapter.js';
import type { Mount } from '../adapters/mounts/mount.js';
import { inShort, now } from '../support/deliveries.js';
import { ENDPOINT, serveEndpoints } from '../support/mounts.js';
import { holds, options } from './holds.js';
import { deliveries, JSON_TYPE, type Pairs, SECRETS, type Sent } from './sent-requests.js';

/** Two settings, one at each path, of a receiver that has two secrets. */
const PATHS = ['/reject', '/accept'] as const;
const settingsAt = (path: string) => ({ secret: SECRETS, now, legacy: path.slice(1) as 'reject' });

/** What came of a request: the answer, and every delivery that was handed on. */
interface Found {
  answer: string;
  seen: unknown[];
}

const inFull = (delivery: Delivery | undefined) =>
  delivery && { ...delivery, body: Buffer.from(delivery.body).toString('hex') };

function anEndpoint(path: string) {
  const seen: unknown[] = [];
  const take = (delivery: Delivery | undefined) => void seen.push(inFull(delivery));
  const on = { '*': (_: WebhookEvent, { delivery }: { delivery: Delivery }) => take(delivery) };
  return { receiver: createReceiver({ ...settingsAt(path), dedupe: false, on }), seen, take };
}

async function foundAlone({ pairs, body }: Sent, path: string): Promise<Found> {
  const { receiver, seen } = anEndpoint(path);
  return { answer: inShort(await receiver({ method: 'POST', headers: pairs, body })), seen };
}

async function foundBy(verifying: typeof verify | typeof verifyAsync, { pairs, body }: Sent, path: string) {
  try {
    const delivery = await verifying({ ...settingsAt(path), headers: pairs, body });
    return { answer: '200 handled', seen: [inFull(delivery)] };
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    return { answer: `${error.status} ${error.code}`, seen: [] };
  }
}

it('verify, verifyAsync and a receiver agree about every request', options, () =>
  holds([deliveries(), fc.constantFrom(...PATHS)], async (sent, path) => {
    const found = await foundAlone(sent, path);
    // Theirs is a body that is there already: that it was not compressed is for the receiver to see to.
    if (found.answer === '415 unsupported_content_encoding') return expect(found.seen).toEqual([]);
    expect(await foundBy(verify, sent, path)).toEqual(found);
    expect(await foundBy(verifyAsync, sent, path)).toEqual(found);
  }),
);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterAll(() => agent.destroy());

describeAdapters('called', CALLED, 500);
describeAdapters('over a socket', LISTENING, 100);

function describeAdapters(how: string, adapters: Record<string, readonly Mount[]>, usually: number) {
  describe.each(Object.entries(adapters))(`%s ${how}`, (_, mounts) => {
    let served: Awaited<ReturnType<typeof serve>>[];

    beforeAll(async () => {
      served = await Promise.all(mounts.map(serve));
    });

    afterAll(() => Promise.all(served.map(({ close }) => close())));

    const property = async (sent: Sent, path: string) => {
      const alone = await foundAlone(sent, path);
      const all = await Promise.all(
        served.map(async ({ mount, find }) => {
          const found = await find(sent, path);
          if (isRefusedFirst(mount, sent, found)) return { by: mount.name, found, expected: found };
          const expected = isJoined(mount, sent) ? await foundAlone(joined(sent), path) : alone;
          return { by: mount.name, found, expected };
        }),
      );
      expect(all.map(({ by, found }) => ({ by, ...found }))).toStrictEqual(
        all.map(({ by, expected }) => ({ by, ...expected })),
      );
    };

    it.skipIf(mounts.length === 0)('the answer and the delivery are those of the receiver alone', options, () =>
      holds([deliveries(), fc.constantFrom(...PATHS)], property, usually),
    );
  });
}

/** This gateway joins with a comma what came twice. */
const isJoined = ({ name }: Mount, { pairs }: Sent) =>
  name.includes('API Gateway 2.0') && new Set(pairs.map(([name]) => name)).size < pairs.length;
const joined = ({ pairs, body }: Sent): Sent => ({ pairs: Object.entries(joinHeaders(pairs)), body });

/** By a platform that parses before the adapter sees anything, since it cannot parse this. Then nothing may come of it. */
const isRefusedFirst = ({ without }: Mount, sent: Sent, { answer, seen }: Found) =>
  without?.unparsed !== undefined && !isParsed(sent) && /^4\d\d/.test(answer) && seen.length === 0;

function isParsed({ pairs, body }: Sent): boolean {
  const { 'Content-Type': type, 'content-encoding': encoding } = Object.fromEntries(pairs);
  const text = body.toString();
  const poisons = /"(__proto__|constructor)"/.test(text); // Fastify takes it for an attack
  if (type !== JSON_TYPE || encoding !== undefined || poisons) return false;
  try {
    return JSON.parse(text) instanceof Object;
  } catch {
    return false;
  }
}

/** Starts the app of a mount; what comes of the requests to it. */
async function serve(mount: Mount) {
  const endpoints = Object.fromEntries(PATHS.map((path) => [path, anEndpoint(path)]));
  const at = (path: string) => endpoints[path] ?? expect.fail(path);
  const app = await serveEndpoints(mount, {
    receiverFor: (path) => at(path).receiver,
    onRouted: (path, delivery) => at(path).take(delivery),
  });
  const find = async ({ pairs, body }: Sent, path: string): Promise<Found> => {
    const more: Pairs = [
      ['Host', 'receiver.test'],
      [ENDPOINT, path],
      ['Content-Length', `${body.length}`],
    ];
    const request = { method: 'POST', headers: [...more, ...pairs], body };
    const { status, headers, text } = await ('port' in app ? post(app, request) : call(app, request));
    const isOurs = headers['content-type']?.startsWith(JSON_TYPE); // Fastify adds a charset
    // The route behind a middleware answers in words of its own.
    const answer = isOurs ? inShort({ status, headers: {}, body: text }) : `${status} handled`;
    return { answer, seen: at(path).seen.splice(0) };
  };
  return { mount, find, close: async () => app.close?.() };
}

async function call(app: Exclude<ServedApp, { port: number }>, request: CalledRequest) {
  if ('call' in app) {
    const { body, ...answer } = await app.call(request);
    return { ...answer, text: body };
  }
  const { method, headers, body } = request;
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  const sent = { method, headers: pairs, body: new Blob([new Uint8Array(body)]).stream(), duplex: 'half' as const };
  const response = await app.fetch(new Request('http://receiver.test/webhooks', sent));
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** On a connection that is kept: for a hundred thousand requests there would not be ports enough. */
async function post(
  { port, path = '/webhooks' }: Extract<ServedApp, { port: number }>,
  { method, headers, body }: CalledRequest,
) {
  const call = httpRequest({ port, agent, method, path, headers: headers.flat() }).end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await readText(response) };
}
