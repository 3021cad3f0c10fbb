import { expect, it } from 'vitest';
import { readAnswer } from '../../src/testing/read-answer.js';
import { rejection } from '../support/deliveries.js';

const body = '{"error":{"code":"stale"}}';
const read = { status: 401, text: body, code: 'stale' };

it.each<[string, unknown]>([
  ['a WebhookResponse', { status: 401, headers: {}, body }],
  ['a promise of a WebhookResponse', Promise.resolve({ status: 401, headers: {}, body })],
  ['a Fetch Response', new Response(body, { status: 401 })],
  ['an answer of supertest, whose body is parsed', { status: 401, text: body, body: JSON.parse(body) }],
  ['an answer of inject', { statusCode: 401, body }],
  ['the result of a Lambda function', { statusCode: 401, body, isBase64Encoded: false }],
  ['the result of a Lambda function in base64', { statusCode: 401, body: btoa(body), isBase64Encoded: true }],
])('readAnswer reads %s', async (_, answer) => {
  expect(await readAnswer(answer)).toEqual(read);
});

it('readAnswer decodes a body in base64 as UTF-8', async () => {
  const answer = { statusCode: 200, body: Buffer.from('é日').toString('base64'), isBase64Encoded: true };
  expect((await readAnswer(answer)).text).toBe('é日');
});

it.each(['', 'text', 'null', '{"error":null}', '{"error":{"code":401}}'])(
  'readAnswer finds no error code in the body %j',
  async (text) => {
    expect(await readAnswer({ status: 401, body: text })).toEqual({ status: 401, text, code: undefined });
  },
);

it('readAnswer gives empty text for an answer without a body', async () => {
  expect(await readAnswer({ status: 204, body: null })).toEqual({ status: 204, text: '', code: undefined });
});

it('readAnswer can read a Response twice, and refuses one whose body other code has read', async () => {
  const response = new Response(body, { status: 401 });
  expect([await readAnswer(response), await readAnswer(response)]).toEqual([read, read]);
  await response.text();
  const { code, message } = await rejection(readAnswer(response));
  expect([code, message]).toEqual(['invalid_option', expect.stringContaining('before its body is read')]);
});

it.each([undefined, null, 'text', { status: '401' }, {}])(
  'readAnswer refuses %j, which is no answer',
  async (nothing) => {
    const { code, message } = await rejection(readAnswer(nothing));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining('must be given an answer')]);
  },
);
