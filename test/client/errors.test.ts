import { readFileSync } from 'node:fs';
import {
  API_ERRORS,
  type ApiErrorCode,
  CallError,
  ClientError,
  type ClientErrorCode,
  isClientError,
  isServiceApiError,
  ServiceApiError,
} from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { failureOn, useApi } from './clients.js';
import { json, type Reply, refusal } from './serve-api.js';

const api = useApi();

async function refusedWith(reply: Reply): Promise<ServiceApiError> {
  const failure = await failureOn(api, reply);
  if (!isServiceApiError(failure)) throw failure;
  return failure;
}

describe('ServiceApiError', () => {
  it('every field of the error object is kept, also in its JSON', async () => {
    const error = {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'Slow down.',
      status: 429,
      request_id: 'req_1',
      doc_url: 'https://api.example/docs/errors/rate_limit_exceeded',
      param: 'text',
    };
    const failure = await refusedWith(json({ error }, 429, { 'retry-after': '12', 'x-request-id': 'req_2' }));
    expect(failure).toBeInstanceOf(ServiceApiError);
    expect(failure).toBeInstanceOf(CallError);
    expect(JSON.parse(JSON.stringify(failure))).toEqual({
      name: 'ServiceApiError',
      message: 'Slow down.',
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      status: 429,
      requestId: 'req_1',
      docUrl: error.doc_url,
      param: 'text',
      retryAfter: 12,
      retry: 'later',
      nothingDone: true,
      attempts: 1,
    });
  });

  it('missing fields come from API_ERRORS and the headers', async () => {
    const bare = json({ error: { code: 'not_found', type: 7, param: null } }, 404, { 'x-request-id': 'req_2' });
    expect(await refusedWith(bare)).toMatchObject({
      type: 'invalid_request_error',
      message: API_ERRORS.not_found.condition,
      requestId: 'req_2',
      status: 404,
      docUrl: undefined,
      param: undefined,
    });
  });

  it.each<[code: string, status: number, retry: string]>([
    ['brand_new', 418, 'never'],
    ['brand_new', 429, 'later'],
    ['brand_new', 503, 'now'],
    ['__proto__', 400, 'never'],
    ['constructor', 400, 'never'],
    ['toString', 400, 'never'],
    ['', 400, 'never'],
  ])('the unknown code %j with the status %i is kept as it arrived', async (code, status, retry) => {
    const failure = await refusedWith(refusal(code, status, { type: 'newer_error' }));
    expect(failure).toMatchObject({ code, type: 'newer_error', status, retry, message: 'no', requestId: undefined });
    expect(await refusedWith(json({ error: { code } }, status))).toMatchObject({ code, type: '', retry });
  });

  it.each<[received: string, names: ApiErrorCode[], others: ApiErrorCode[]]>([
    ['rate_limited', ['rate_limited', 'rate_limit_exceeded', 'rate_limit'], ['daily_limit_exceeded', 'not_found']],
    ['rate_limit', ['rate_limited', 'rate_limit_exceeded', 'rate_limit'], ['account_limited']],
    ['rate_limit_exceeded', ['rate_limited', 'rate_limit_exceeded', 'rate_limit'], ['account_limited']],
    ['daily_limit_exceeded', ['daily_limit_exceeded', 'rate_limit'], ['rate_limit_exceeded', 'rate_limited']],
    ['concurrency_limit_exceeded', ['concurrency_limit_exceeded', 'rate_limit'], ['rate_limit_exceeded']],
    ['account_limited', ['account_limited', 'rate_limit'], ['rate_limit_exceeded']],
    ['server_error', ['server_error', 'internal_error'], ['service_error']],
    ['internal_error', ['server_error', 'internal_error'], ['rate_limit']],
  ])('an error with the code %s is recognised by each of its names', async (received, names, others) => {
    const failure = await refusedWith(refusal(received, API_ERRORS[received as ApiErrorCode].status));
    expect(names.filter((name) => !failure.is(name))).toEqual([]);
    expect(others.filter((name) => failure.is(name))).toEqual([]);
    expect(['rate_limited', 'rate_limit', 'server_error']).not.toContain(failure.code);
  });
});

describe('isClientError and isServiceApiError', () => {
  it('each guard recognises its own class, also from another copy of the package', async () => {
    const own = new ClientError('no_connection', 'none');
    const theirs = await refusedWith(refusal('not_found', 404));
    for (const [value, isOwn, isTheirs] of [
      [own, true, false],
      [theirs, false, true],
      [new Error('x'), false, false],
      [new Proxy(new Error('x'), { get: () => expect.unreachable('a trap that throws') }), false, false],
      [null, false, false],
      [undefined, false, false],
      ['x', false, false],
      // As another copy of the package creates them, and objects that are not errors.
      [Object.assign(new Error('x'), { [Symbol.for('service-webhooks.client-error')]: true }), true, false],
      [Object.assign(new Error('x'), { [Symbol.for('service-webhooks.service-api-error')]: true }), false, true],
      [{ [Symbol.for('service-webhooks.client-error')]: true }, false, false],
      [{ [Symbol.for('service-webhooks.service-api-error')]: true }, false, false],
    ] as const) {
      expect([isClientError(value), isServiceApiError(value)]).toEqual([isOwn, isTheirs]);
    }
  });
});

describe('ClientError', () => {
  const ALL: Record<ClientErrorCode, true> = {
    no_connection: true,
    timed_out: true,
    limit_reached: true,
    redirected: true,
    broken_off: true,
    too_large: true,
    not_json: true,
    unexpected_answer: true,
    outcome_unknown: true,
    link_expired: true,
    link_not_found: true,
  };
  const codes = Object.keys(ALL) as ClientErrorCode[];

  it('every code has a row in docs/client.md', () => {
    const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
    expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)).toEqual(expect.arrayContaining(codes));
  });

  it('the message of each code ends with a hint of its own and the code', () => {
    const errors = codes.map((code) => new ClientError(code, 'It happened.'));
    for (const error of errors) {
      expect(error).toMatchObject({
        name: 'ClientError',
        message: `It happened. ${error.hint} (${error.code})`,
        hint: expect.stringMatching(/^[A-Z].+\.$/),
        retry: 'never',
        nothingDone: false,
        attempts: 0,
      });
    }
    expect(new Set(errors.map(({ hint }) => hint)).size).toBe(codes.length);
  });

  it('control characters in a message are escaped', () => {
    expect(new ClientError('not_json', 'a\u001b[31m\u009b\nb.').message).toMatch(/^a\\u001b\[31m\\u009b\\nb\. /);
  });

  it('the JSON of an error holds its message and every other field', () => {
    expect(JSON.parse(JSON.stringify(new ClientError('too_large', 'It happened.')))).toMatchObject({
      name: 'ClientError',
      message: 'It happened. Raise maxAnswerBytes if you expect an answer of this size. (too_large)',
      code: 'too_large',
      hint: 'Raise maxAnswerBytes if you expect an answer of this size.',
    });
  });
});
