import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import express from 'express';
import Fastify from 'fastify';
import { verify } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import { webhookHandler as fastifyHandler } from 'service-webhooks/fastify';
import { webhookHandler as fetchHandler } from 'service-webhooks/fetch';
import { FIXTURE_NOW, FIXTURE_SECRET, recordedDeliveries } from 'service-webhooks/fixtures';
import { readDelivery, tamper, toCurl, toInject, toRequest, toSupertest } from 'service-webhooks/testing';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { aReceiver, inShort, refusal } from '../support/deliveries.js';
import { fixturesDirectory, readRecordings, readVectors } from '../support/fixtures.js';

const settings = { secret: FIXTURE_SECRET, now: () => FIXTURE_NOW };
const receiverOf = () => aReceiver(settings).receiver;

describe('service-webhooks/fixtures', () => {
  it('the valid deliveries are the recorded files of all event types, byte for byte', () => {
    const valid = recordedDeliveries.filter(({ code }) => code === undefined);
    const files = readRecordings().map(({ type, bytes }) => ({ name: type, type, text: bytes.toString() }));
    expect([...valid].sort((a, b) => a.name.localeCompare(b.name))).toEqual(files);
    for (const { text } of files) expect(Buffer.from(text).includes('\ufffd')).toBe(false);
  });

  it('the refused deliveries are the recorded files of each kind of refusal', () => {
    const refused = recordedDeliveries.filter(({ code }) => code !== undefined);
    expect(refused.map(({ name, code }) => [name, code])).toEqual([
      ['tampered', 'signature_mismatch'],
      ['stale', 'timestamp_too_old'],
      ['future', 'timestamp_in_future'],
      ['legacy-only', 'legacy_not_accepted'],
    ]);
    for (const { name, text } of refused) {
      const file = new URL(`refused-deliveries/${name}.http`, fixturesDirectory);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  it('vectors.json can be imported from the package', () => {
    const code = `
      import vectors from 'service-webhooks/fixtures/vectors.json' with { type: 'json' };
      import { createRequire } from 'node:module';
      const required = createRequire(import.meta.url)('service-webhooks/fixtures/vectors.json');
      console.log(vectors.length, required.length);`;
    const cwd = new URL('../..', import.meta.url);
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd, encoding: 'utf8' });
    const { length } = readVectors();
    expect(printed.trim()).toBe(`${length} ${length}`);
  });
});

describe('readDelivery', () => {
  it.each(recordedDeliveries)('a receiver gives the recorded answer to $name', async ({ text, code }) => {
    const answer = await receiverOf()(readDelivery(text));
    expect(inShort(answer)).toBe(code === undefined ? '200 handled' : `401 ${code}`);
  });

  it.each(readRecordings())(
    'the result for the recorded $type is the same from text and from the bytes of the file',
    ({ bytes, body, type }) => {
      const delivery = readDelivery(bytes);
      expect(Buffer.from(delivery.body).equals(body)).toBe(true);
      expect(delivery).toEqual(readDelivery(bytes.toString()));
      expect([delivery.method, delivery.at]).toEqual(['POST', FIXTURE_NOW]);
      expect(Object.keys({ ...delivery })).toEqual(['method', 'headers', 'body']);
      expect(verify({ ...settings, ...delivery }).event.type).toBe(type);
    },
  );

  const [first] = recordedDeliveries;
  const delivery = () => readDelivery(first?.text ?? '');

  it('the result can be sent in each form of the test kit', async () => {
    const receiver = receiverOf();
    const url = 'http://receiver.test/webhooks';
    const app = express().post('/webhooks', webhookHandler(receiver));
    const fastify = Fastify().register(fastifyHandler(receiver), { prefix: '/webhooks' });
    expect((await fetchHandler(receiver)(toRequest(delivery(), url))).status).toBe(200);
    const statuses = [
      (await supertest(app).post('/webhooks').use(toSupertest(delivery()))).status,
      (await fastify.inject(toInject(delivery(), '/webhooks'))).statusCode,
    ];
    expect(statuses).toEqual([200, 200]);
    expect(toCurl(delivery(), url)).toContain('x-service-signature-v2: t=1783771200,');
    expect(inShort(await receiver(tamper.flippedBit(delivery())))).toBe('401 signature_mismatch');
  });

  it('`at` is undefined for a delivery without a V2 header', () => {
    const legacyOnly = recordedDeliveries.find(({ name }) => name === 'legacy-only');
    expect(readDelivery(legacyOnly?.text ?? '').at).toBeUndefined();
  });

  it('lines of the head may end in a line feed alone, and the body stays as it is', () => {
    const read = readDelivery('POST / HTTP/1.1\nX-A:  1 \nx-a: 2\nX-B:\n\n{"a": 1}\r\n\r\n');
    expect(read.headers).toEqual({ 'x-a': '1, 2', 'x-b': '' });
    expect(new TextDecoder().decode(read.body)).toBe('{"a": 1}\r\n\r\n');
  });

  it('headers are read as Latin-1, and a body may be empty or any bytes', () => {
    const head = Buffer.from('POST / HTTP/1.1\r\nX-A: \u00e9\r\n\r\n', 'latin1');
    expect(readDelivery(head)).toMatchObject({ headers: { 'x-a': '\u00e9' }, body: new Uint8Array(0) });
    expect(readDelivery(Buffer.concat([head, Buffer.from([0, 255])])).body).toEqual(new Uint8Array([0, 255]));
  });

  it('a later change of the given bytes does not change the delivery', () => {
    const bytes = Buffer.from(first?.text ?? '');
    const read = readDelivery(bytes);
    bytes.fill(0);
    expect(read).toEqual(delivery());
  });

  it.each<[string, unknown, RegExp]>([
    ['a body alone', '{"id":"evt_1"}\n\n', /begins with a line like POST \/webhooks HTTP\/1\.1/],
    ['empty text', '', /empty line before its body/],
    ['a head without an end', 'POST / HTTP/1.1\r\nHost: a\r\n', /empty line before its body/],
    ['a header line without a name', 'POST / HTTP/1.1\r\n: a\r\n\r\n', /header lines are name: value/],
    ['an object', {}, /takes the text or the bytes of a file/],
    ['undefined', undefined, /takes the text or the bytes of a file/],
  ])('%s is refused', (_, file, problem) => {
    const { code, message } = refusal(() => readDelivery(file as string));
    expect([code, message]).toEqual(['invalid_option', expect.stringMatching(problem)]);
  });
});
