import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import express from 'express';
import fastify from 'fastify';
import { webhookHandler as expressHandler } from 'service-webhooks/express';
import { webhookHandler as fetchHandler } from 'service-webhooks/fetch';
import {
  type DeliveryRequest,
  sampleEvent,
  signDelivery,
  tamper,
  toApiGatewayV1,
  toApiGatewayV2,
  toCurl,
  toInject,
  toRequest,
  toSupertest,
} from 'service-webhooks/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../integration/program.js';
import { aReceiver, inShort, NOW, refusal, SECRET } from '../support/deliveries.js';
import { mounts, serveEndpoints } from '../support/mounts.js';

const { receiver } = aReceiver({ dedupe: false });
const app = express().post('/webhooks', expressHandler(receiver));
const server = fastify({ bodyLimit: 5 * 1024 * 1024 });

const hasCurl = hasProgram('curl');

let url = '';
let close = () => Promise.resolve();
beforeAll(async () => {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  server.post('/webhooks', async ({ method, headers, body }, reply) => {
    const answer = await receiver({ method, headers, body: body as Buffer });
    return reply.code(answer.status).headers(answer.headers).send(answer.body);
  });
  const [mount] = mounts;
  if (mount === undefined) throw new Error('no mount');
  const listening = await serveEndpoints(mount, { receiverFor: () => receiver, onRouted: () => {} });
  url = `http://127.0.0.1:${listening.port}/webhooks`;
  close = listening.close;
});
afterAll(() => Promise.all([close(), server.close()]));

async function lambda(
  event: APIGatewayProxyEvent | APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> {
  const method = 'httpMethod' in event ? event.httpMethod : event.requestContext.http.method;
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const answer = await receiver({ method, headers: event.headers, body });
  return { statusCode: answer.status, body: answer.body };
}

const text = (status = 0, body = '') => inShort({ status, headers: {}, body });
const run = promisify(execFile);

/** The answer to each form, as its receiver takes it. */
const forms: Record<string, (delivery: DeliveryRequest) => Promise<string>> = {
  async 'a Request that a Fetch handler takes'(delivery) {
    const response = await fetchHandler(receiver)(toRequest(delivery, 'http://receiver.test/webhooks'));
    return text(response.status, await response.text());
  },
  async 'a Request that fetch sends'(delivery) {
    const response = await fetch(toRequest(delivery, new URL(url)));
    return text(response.status, await response.text());
  },
  async supertest(delivery) {
    const response = await supertest(app).post('/webhooks').use(toSupertest(delivery));
    return text(response.status, response.text);
  },
  async 'inject of Fastify'(delivery) {
    const response = await server.inject(toInject(delivery, '/webhooks'));
    return text(response.statusCode, response.body);
  },
  async 'an event of API Gateway, format 1.0'(delivery) {
    const { statusCode, body } = await lambda(toApiGatewayV1(delivery, '/webhooks'));
    return text(statusCode, body);
  },
  async 'an event of API Gateway, format 2.0'(delivery) {
    const { statusCode, body } = await lambda(toApiGatewayV2(delivery, '/webhooks'));
    return text(statusCode, body);
  },
  ...(hasCurl && {
    async 'a curl line'(delivery) {
      const shell = run('sh');
      shell.child.stdin?.end(toCurl(delivery, url)); // as a person pastes it: it may be longer than an argument
      const { stdout } = await shell;
      const [head = '', body] = stdout.split(/\r\n\r\n(?=\{)/);
      return text(Number(/HTTP\/1.1 (\d+) (?!.*HTTP\/)/s.exec(head)?.[1]), body);
    },
  }),
};

const awkward = `'$(touch x)\`"!%s%n\\n\\\\ @; #\t\u007f\u0000 caf\u00e9 \u{1f3a7}\u2028 -d`;
const event = sampleEvent('stt.completed', { data: { awkward, "it's": '%' } });

/** Bodies that something on the way could read as more than bytes, and what is said to them where it does not. */
const bodies: Record<string, { body: string | Uint8Array; verdict: string }> = {
  'an event': { body: JSON.stringify(sampleEvent('stt.completed')), verdict: '200 handled' },
  'awkward characters': { body: `${JSON.stringify(event)}\r\n`, verdict: '200 handled' },
  '150 kB': { body: JSON.stringify({ ...event, data: { text: 'x'.repeat(150_000) } }), verdict: '200 handled' },
  'all bytes': { body: Uint8Array.from({ length: 512 }, (_, i) => i), verdict: '400 invalid_encoding' },
  'the name of a file to send': { body: '@/etc/hostname', verdict: '400 invalid_json' },
  'a dash and an option': { body: '-v\n', verdict: '400 invalid_json' },
  nothing: { body: '', verdict: '400 invalid_json' },
};

describe.each(Object.entries(forms))('a delivery of the test kit as %s', (_, send) => {
  it.each(Object.entries(bodies))(
    'the receiver gets exactly the bytes that were signed: %s',
    async (_, { body, verdict }) => {
      expect(await send(signDelivery({ body, secret: SECRET, at: NOW }))).toBe(verdict);
    },
  );

  it('a tampered delivery is refused', async () => {
    const delivery = signDelivery({ event, secret: SECRET, at: NOW });
    expect(await send(tamper.flippedBit(delivery))).toBe('401 signature_mismatch');
    expect(await send(tamper.strippedV2(delivery))).toBe('401 legacy_not_accepted');
  });
});

const delivery = signDelivery({ event, secret: SECRET, at: NOW });

it.each([toApiGatewayV1, toApiGatewayV2])(
  'a Lambda handler accepts an event for API Gateway with the body as text (%o)',
  async (form) => {
    const asText = form(delivery, '/webhooks', { base64: false });
    expect(asText).toMatchObject({ isBase64Encoded: false, body: new TextDecoder().decode(delivery.body) });
    expect((await lambda(asText)).statusCode).toBe(200);
  },
);

it('a curl line of the test kit is plain ASCII and does not have the secret', () => {
  for (const { body } of Object.values(bodies)) {
    const line = toCurl(signDelivery({ body, secret: SECRET }), 'http://localhost/webhooks');
    expect(line).toMatch(/^[ -~]+$/);
    expect(line).not.toContain(SECRET);
  }
});

it.each<[string, (delivery: DeliveryRequest) => unknown]>([
  ['a Request', (parsed) => toRequest(parsed, 'http://receiver.test')],
  ['supertest', toSupertest],
  ['inject', (parsed) => toInject(parsed, '/')],
  ['API Gateway 1.0', (parsed) => toApiGatewayV1(parsed, '/')],
  ['API Gateway 2.0', (parsed) => toApiGatewayV2(parsed, '/')],
  ['curl', (parsed) => toCurl(parsed, 'http://receiver.test')],
])('the test kit refuses a delivery with a parsed body for %s', (_, form) => {
  const parsed = { ...delivery, body: { id: 'evt_1' } as never };
  expect(refusal(() => form(parsed)).code).toBe('body_already_parsed');
});
