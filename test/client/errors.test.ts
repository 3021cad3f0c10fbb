import { readFileSync } from 'node:fs';
import {
  API_ERRORS,
  type ApiErrorCode,
  CallError,
  ClientError,
  type ClientErrorCode,
  isClientError,
  isServiceApiError,
  PLANS,
  ServiceApiError,
} from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf, failureOf } from './clients.js';
import { type Api, json, refusal, serveApi } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

async function refusedWith(reply: ReturnType<typeof json>): Promise<ServiceApiError> {
  api.replies.push(reply);
  const failure = await failureOf(clientOf(api.url, { maxAttempts: 1 }).client.voices());
  if (!isServiceApiError(failure)) throw failure;
  return failure;
}

describe('an error of the service', () => {
  it('has every field of the error object', async () => {
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
    expect(JSON.parse(JSON.stringify({ ...failure, message: failure.message }))).toEqual({
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

  it('of which half is missing is filled up from the table and the headers', async () => {
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

  it('may be new: an unknown code, type and status keep working', async () => {
    for (const [status, retry] of [
      [418, 'never'],
      [429, 'later'],
      [503, 'now'],
    ] as const) {
      const failure = await refusedWith(refusal('brand_new', status, { type: 'newer_error' }));
      expect(failure).toMatchObject({ code: 'brand_new', type: 'newer_error', status, retry, message: 'no' });
      expect(failure.requestId).toBeUndefined();
    }
  });

  it.each(['__proto__', 'constructor', 'toString', ''])('may have the code %j', async (code) => {
    expect(await refusedWith(json({ error: { code } }, 400))).toMatchObject({ code, type: '', retry: 'never' });
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
  ])('%s is known by each of its names', async (received, names, others) => {
    const failure = await refusedWith(refusal(received, API_ERRORS[received as ApiErrorCode].status));
    expect(names.filter((name) => !failure.is(name))).toEqual([]);
    expect(others.filter((name) => failure.is(name))).toEqual([]);
    expect(['rate_limited', 'rate_limit', 'server_error']).not.toContain(failure.code);
  });
});

describe('the table of errors', () => {
  it('has the advice of section 7.3', () => {
    const codes = (retry: string) => Object.entries(API_ERRORS).filter(([, row]) => row.retry === retry);
    expect(codes('after-job').map(([code]) => code)).toEqual(['concurrency_limit_exceeded']);
    expect(codes('later').map(([code]) => code)).toEqual([
      'daily_limit_exceeded',
      'rate_limit_exceeded',
      'rate_limited',
      'rate_limit',
    ]);
    expect([...new Set(codes('now').map(([, { status }]) => status))].sort()).toEqual([500, 502, 503]);
    expect(codes('never').map(([code]) => code)).toEqual(
      expect.arrayContaining(['insufficient_credits', 'account_limited', 'validation_error', 'transcription_timeout']),
    );
  });

  it('has the codes of section 7.2, each with its status and type', () => {
    const codes = new Map<string, string[]>();
    for (const [code, { status, type }] of Object.entries(API_ERRORS)) {
      codes.set(`${status} ${type}`, [...(codes.get(`${status} ${type}`) ?? []), code]);
    }
    const listed = [...codes].map(([row, names]) => `${row}: ${names.sort().join(' ')}`);
    expect(listed.sort()).toEqual([
      '400 invalid_request_error: impersonation_blocked invalid_body invalid_input invalid_json invalid_language ' +
        'invalid_request invalid_test_type reference_invalid reference_required sandbox_unsupported_route ' +
        'text_required text_too_long unknown_input unsupported_output_format workflow_empty workflow_invalid',
      '401 authentication_error: invalid_api_key missing_api_key',
      '402 billing_error: insufficient_credits',
      '403 permission_error: account_key_not_agent_scoped agent_scope_mismatch content_policy forbidden ' +
        'insufficient_scope ip_blocked plan_limit_exceeded plan_required voice_not_available voice_not_permitted ' +
        'workflows_unavailable',
      '404 invalid_request_error: not_found run_not_found unknown_endpoint voice_not_found workflow_not_found',
      '408 invalid_request_error: request_timeout',
      '409 invalid_request_error: quote_exceeded',
      '413 invalid_request_error: file_too_large',
      '415 invalid_request_error: unsupported_media',
      '422 invalid_request_error: clone_request_rejected model_unavailable tts_request_rejected validation_error',
      '429 rate_limit_error: account_limited concurrency_limit_exceeded daily_limit_exceeded rate_limit ' +
        'rate_limit_exceeded rate_limited',
      '500 api_error: internal_error server_error',
      '502 media_processing_error: clone_error conversion_failed enhancement_failed generation_failed ' +
        'provider_error service_error storage_error transcription_failed tts_error upstream_error ' +
        'voice_service_error worker_error',
      '503 api_error: connection_error endpoint_disabled service_unavailable telephony_disabled',
      '504 media_processing_error: transcription_timeout',
    ]);
  });

  it('says of each code in a sentence of its own when it is answered', () => {
    const conditions = Object.values(API_ERRORS).map(({ condition }) => condition);
    expect(conditions.filter((condition) => !/^[A-Z].+\.$/.test(condition))).toEqual([]);
    expect(new Set(conditions).size).toBe(conditions.length);
  });
});

describe('the table of plans', () => {
  it('allows more from plan to plan', () => {
    const rows = Object.values(PLANS);
    expect(rows.map(({ name }) => name.toUpperCase())).toEqual(Object.keys(PLANS));
    const pairs = rows.slice(1).map((row, i) => [rows[i] as typeof row, row] as const);
    for (const [lower, higher] of pairs) {
      expect(higher.concurrentGenerations).toBeGreaterThan(lower.concurrentGenerations);
      expect(higher.requestsPerMinute ?? 0).toBeGreaterThanOrEqual(lower.requestsPerMinute ?? 0);
      expect(higher.accountKeys).toBeGreaterThanOrEqual(lower.accountKeys);
    }
  });

  it('has no numbers where there is only a sandbox key', () => {
    expect(PLANS.FREE).toMatchObject({ apiAccess: false, requestsPerMinute: null, requestsPerDay: null });
    expect(PLANS.ENTERPRISE).toMatchObject({ apiAccess: true, requestsPerDay: Number.POSITIVE_INFINITY });
  });
});

describe('the guards', () => {
  it('tell whose error it is, and take anything', async () => {
    const own = new ClientError('no_connection', 'none');
    const theirs = await refusedWith(refusal('not_found', 404));
    for (const [value, isOwn, isTheirs] of [
      [own, true, false],
      [theirs, false, true],
      [new Error('x'), false, false],
      [null, false, false],
      [undefined, false, false],
      ['x', false, false],
      // As another copy of the package makes them, beside what is no error.
      [Object.assign(new Error('x'), { [Symbol.for('service-webhooks.client-error')]: true }), true, false],
      [Object.assign(new Error('x'), { [Symbol.for('service-webhooks.service-api-error')]: true }), false, true],
      [{ [Symbol.for('service-webhooks.client-error')]: true }, false, false],
      [{ [Symbol.for('service-webhooks.service-api-error')]: true }, false, false],
    ] as const) {
      expect([isClientError(value), isServiceApiError(value)]).toEqual([isOwn, isTheirs]);
    }
  });
});

describe('a code of the client', () => {
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

  it('has a row in docs/client.md', () => {
    const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
    expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)).toEqual(expect.arrayContaining(codes));
  });

  it('comes with a hint of its own, and with nothing that is not known', () => {
    const errors = codes.map((code) => new ClientError(code, 'so it was'));
    for (const error of errors) {
      expect(error).toMatchObject({
        name: 'ClientError',
        message: `${error.code}: so it was`,
        hint: expect.stringMatching(/^[A-Z].+[.?]$/),
        retry: 'never',
        nothingDone: false,
        attempts: 0,
      });
    }
    expect(new Set(errors.map(({ hint }) => hint)).size).toBe(codes.length);
  });
});
