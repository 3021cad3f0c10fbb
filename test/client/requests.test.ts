import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf, failureOf, KEY } from './clients.js';
import { type Api, json, refusal, serveApi, text } from './serve-api.js';

let api: Api;
beforeAll(async () => {
  api = await serveApi();
});
beforeEach(() => api.reset());
afterAll(() => api.close());

const LIMITS = {
  plan: { type: 'CREATOR', name: 'Creator', api_access: true },
  credits: { remaining: 90, monthly_allocation: 100 },
  limits: {
    rate_limit_per_minute: 20,
    daily_request_limit: 2000,
    daily_requests_used: 3,
    daily_requests_remaining: 1997,
    max_keys_per_account: 2,
  },
};

const CIRCLE: unknown[] = [];
CIRCLE.push(CIRCLE);

describe('a request', () => {
  it('goes to the route of the specification', async () => {
    const { client } = clientOf(`${api.url}/base/`);
    api.replies.push(json(LIMITS));
    await client.account.apiLimits();
    await client.usage();
    await client.webhooks.list();
    await client.webhooks.update('we 1', { url: 'https://app.example/hooks' });
    await client.webhooks.delete('we/2');
    await client.dubbing.job('job_1');
    await client.workflows.run('wf_1', 'run_1');
    await client.voices();
    await client.models();
    api.replies.push(json({ max_source_seconds: 300 }));
    await client.speechToSpeech();
    await client.request({ method: 'post', path: '/v1/speech-to-text/stream/token?a=1' });
    expect(api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /base/api/v1/account/api-limits',
      'GET /base/api/v1/usage',
      'GET /base/api/v1/account/webhooks',
      'PATCH /base/api/v1/account/webhooks/we%201',
      'DELETE /base/api/v1/account/webhooks/we%2F2',
      'GET /base/v1/dubbing/jobs/job_1',
      'GET /base/v1/workflows/wf_1/runs/run_1',
      'GET /base/v1/voices',
      'GET /base/v1/models',
      'GET /base/v1/speech-to-speech',
      'POST /base/v1/speech-to-text/stream/token?a=1',
    ]);
  });

  it('carries the key in a header, and nowhere else', async () => {
    const { client } = clientOf(api.url);
    await client.request({ method: 'POST', path: '/v1/voices', body: { text: 'a' } });
    const [seen] = api.seen;
    expect(seen?.headers['x-api-key']).toBe(KEY);
    expect(seen?.path + String(seen?.body)).not.toContain(KEY);
  });

  it('has its body as JSON, and FormData and bytes as they are', async () => {
    const { client } = clientOf(api.url);
    const form = new FormData();
    form.append('text', 'a');
    const raw = new TextEncoder().encode('raw');
    const bodies = [{ text: 'ä' }, null, 'text', form, raw, raw.buffer, new Blob([raw], { type: 'audio/mpeg' })];
    for (const body of bodies) await client.request({ method: 'POST', path: '/v1/voices', body });
    expect(api.seen.map(({ headers, body }) => [headers['content-type']?.split(';')[0], body])).toEqual([
      ['application/json', '{"text":"ä"}'],
      ['application/json', 'null'],
      ['application/json', '"text"'],
      ['multipart/form-data', expect.stringContaining('name="text"')],
      [undefined, 'raw'],
      [undefined, 'raw'],
      ['audio/mpeg', 'raw'],
    ]);
    for (const { headers } of api.seen) expect(headers.accept).toBe('application/json');
  });

  it.each(['', '.', '..', '\ud800', undefined, 7])('is not made with the id %j', async (id) => {
    const { client } = clientOf(api.url);
    const calls: [name: string, call: Promise<unknown>][] = [
      ['id', client.dubbing.job(id as string)],
      ['id', client.workflows.run(id as string, 'run_1')],
      ['runId', client.workflows.run('wf_1', id as string)],
      ['id', client.webhooks.delete(id as string)],
      ['id', client.webhooks.update(id as string, { events: ['stt.failed'] })],
    ];
    for (const [name, call] of calls) {
      expect(await failureOf(call)).toMatchObject({ message: `invalid_option: ${name} must be an id` });
    }
    expect(api.seen).toEqual([]);
  });

  it.each<[request: unknown, problem: string]>([
    [undefined, 'request must be an object'],
    [{ path: 'v1/voices' }, 'path must begin with a slash'],
    [{ path: `/v1/voices?api_key=${KEY}` }, 'path must not hold the key, which is only read from a header'],
    [{ path: 7 }, 'path must begin with a slash'],
    [{ path: '/', method: 'GET /x' }, 'method must be like GET'],
    [{ path: '/', method: ['GET'] }, 'method must be like GET'],
    [{ path: '/', timeoutMs: 0 }, 'timeoutMs must be a positive integer'],
    [{ path: '/', signal: {} }, 'signal must be an AbortSignal'],
    [{ path: '/', body: CIRCLE }, 'body cannot be written as JSON'],
    [{ path: '/', body: () => {} }, 'body cannot be written as JSON'],
  ])('%j is refused before anything is sent', async (request, problem) => {
    const failure = await failureOf(clientOf(api.url).client.request(request as never));
    expect(failure).toMatchObject({ code: 'invalid_option', message: `invalid_option: ${problem}` });
    expect(api.seen).toEqual([]);
  });

  it('stays on the host of baseUrl, however its path looks', async () => {
    const { client } = clientOf(api.url);
    for (const path of ['//other.example/', '/\\other.example', '/@other.example/', '/../..//other.example']) {
      await client.request({ path });
    }
    expect(api.seen).toHaveLength(4);
  });
});

describe('an answer', () => {
  it('is the JSON with what its headers say', async () => {
    const { client } = clientOf(api.url);
    const headers = {
      'x-request-id': 'req_1',
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '19',
      'x-ratelimit-reset': '1800000060',
      'x-daily-requests-limit': '2000',
      'x-daily-requests-used': '1',
      'x-credits-remaining': '90',
      'x-plan': 'CREATOR',
    };
    expect(client.rate).toBeUndefined();
    api.replies.push(json(LIMITS, 200, headers));
    const answer = await client.account.apiLimits();
    expect(answer).toEqual({
      data: LIMITS,
      status: 200,
      requestId: 'req_1',
      sandbox: false,
      attempts: 1,
      rate: {
        limit: 20,
        remaining: 19,
        resetAt: 1_800_000_060_000,
        dailyLimit: 2000,
        dailyUsed: 1,
        creditsRemaining: 90,
        plan: 'CREATOR',
      },
    });
    expect(client.rate).toEqual(answer.rate);
  });

  it('that says nothing of the rate leaves what was known, and one of an error says it too', async () => {
    const { client } = clientOf(api.url);
    const odd = { 'x-credits-remaining': 'many', 'x-ratelimit-limit': '-5', 'x-ratelimit-remaining': '5 or so' };
    api.replies.push(refusal('not_found', 404, {}, { 'x-plan': 'CREATOR', ...odd }), json({}));
    await failureOf(client.dubbing.job('job_1'));
    expect((await client.usage()).rate).toBeUndefined();
    expect(client.rate).toEqual({ plan: 'CREATOR' });
  });

  it('is marked where the key is a sandbox key', async () => {
    api.replies.push(json({}, 200, { 'x-service-sandbox': 'true' }), json({}, 200, { 'x-acme-sandbox': 'true' }));
    expect((await clientOf(api.url).client.voices()).sandbox).toBe(true);
    expect((await clientOf(api.url, { headerPrefix: 'X-Acme' }).client.voices()).sandbox).toBe(true);
    api.replies.push(json({}), json({}, 200, { 'x-service-sandbox': 'false' }));
    expect((await clientOf(api.url).client.voices()).sandbox).toBe(false);
    expect((await clientOf(api.url).client.voices()).sandbox).toBe(false);
  });

  it('may be empty', async () => {
    api.replies.push(text('', 204));
    expect(await clientOf(api.url).client.voices()).toMatchObject({ status: 204, data: undefined });
  });

  it('has what the specification shows of it', async () => {
    const { client } = clientOf(api.url);
    const { plan: _, ...rest } = LIMITS;
    const { apiLimits } = client.account;
    for (const [call, data, field] of [
      [apiLimits, rest, 'plan.type'],
      [apiLimits, { ...LIMITS, credits: { remaining: 1 } }, 'credits.monthly_allocation'],
      [apiLimits, { ...LIMITS, limits: { ...LIMITS.limits, daily_requests_used: '3' } }, 'limits.daily_requests_used'],
      [client.speechToSpeech, {}, 'max_source_seconds'],
    ] as const) {
      api.replies.push(json(data, 200, { 'x-request-id': 'req_1' }));
      expect(await failureOf(call())).toMatchObject({
        ...{ code: 'unexpected_answer', status: 200, requestId: 'req_1' },
        message: expect.stringMatching(`^unexpected_answer: GET /\\S+: 200, and no ${field}$`),
      });
    }
  });
});
