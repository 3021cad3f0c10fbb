import { inspect } from 'node:util';
import { endpointsIn, ensureEndpoint } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, ENDPOINT, failureOf, failureOn, KEY, LIMITS, SETTINGS, useApi } from './clients.js';
import { json, type Reply, refusal, text } from './serve-api.js';

const api = useApi();

describe('an answer', () => {
  it('the parsed JSON and the values of the headers are returned', async () => {
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
    expect(api.client.rate).toBeUndefined();
    api.replies.push(json(LIMITS, 200, headers));
    const answer = await api.client.account.apiLimits();
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
    expect(api.client.rate).toEqual(answer.rate);
  });

  it('client.rate keeps the last headers, also those of an error', async () => {
    api.replies.push(refusal('not_found', 404, {}, { 'x-plan': 'CREATOR' }), json({}));
    await failureOf(api.client.dubbing.job('job_1'));
    expect((await api.client.usage()).rate).toBeUndefined();
    expect(api.client.rate).toEqual({ plan: 'CREATOR' });
  });

  it.each(['many', '-5', '5 or so', '1.5', '1e3', '', 'NaN', 'Infinity', '9'.repeat(20), '9'.repeat(400)])(
    'a rate header with the value %j is ignored',
    async (value) => {
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-credits-remaining'];
      const headers = Object.fromEntries(names.map((name) => [name, value]));
      api.replies.push(json({}, 200, { ...headers, 'x-plan': 'CREATOR' }));
      expect((await api.client.voices()).rate).toEqual({ plan: 'CREATOR' });
    },
  );

  it('sandbox is true where the header says so', async () => {
    const saying = (sandbox: string) => json({}, 200, { 'x-service-sandbox': sandbox });
    api.replies.push(saying('true'), saying('false'), json({}));
    for (const sandbox of [true, false, false]) expect(await api.client.voices()).toMatchObject({ sandbox });
  });

  it('an empty body is undefined', async () => {
    api.replies.push(text('', 204));
    expect(await api.client.voices()).toMatchObject({ status: 204, data: undefined });
  });

  it('a missing field of the specification is an error', async () => {
    const { plan: _, ...rest } = LIMITS;
    const { speechToSpeech, webhooks, account } = api.client;
    const { apiLimits } = account;
    for (const [call, data, field] of [
      [apiLimits, rest, 'plan.type'],
      [apiLimits, null, 'plan.type'],
      [apiLimits, [LIMITS], 'plan.type'],
      [apiLimits, { ...LIMITS, credits: { remaining: 1 } }, 'credits.monthly_allocation'],
      [apiLimits, { ...LIMITS, limits: { ...LIMITS.limits, daily_requests_used: '3' } }, 'limits.daily_requests_used'],
      [speechToSpeech, {}, 'max_source_seconds'],
      [() => webhooks.create(SETTINGS), { ...ENDPOINT, signing_secret: null }, 'signing_secret'],
    ] as const) {
      api.replies.push(json(data, 200, { 'x-request-id': 'req_1' }));
      expect(await failureOf(call())).toMatchObject({
        ...{ code: 'unexpected_answer', status: 200, requestId: 'req_1', attempts: 1 },
        message: expect.stringMatching(`^(GET|POST) /\\S+ failed: the answer \\(status 200\\) has no ${field}\\. `),
      });
    }
  });
});

describe('an answer of another server', () => {
  const html = (page: string, status: number, type = 'text/html') => text(page, status, { 'content-type': type });

  it.each<[what: string, reply: Reply, problem: string]>([
    [
      'a body that is cut off',
      text('{"half":', 200, { 'content-type': 'application/json' }),
      'not JSON: 200 application/json, 8 bytes.',
    ],
    [
      'the page of a captive portal',
      html('<html><title>Log in</title>', 200, 'text/html; charset=utf-8'),
      'not JSON: 200 text/html, 27 bytes: "Log in".',
    ],
    [
      'the error page of a proxy',
      html('<HTML><TITLE lang="en">\n404 Not here</TITLE>', 404),
      'not JSON: 404 text/html, 44 bytes: "404 Not here".',
    ],
    ['a short text with status 400', text('no', 400), 'not JSON: 400 no content type, 2 bytes: "no".'],
    [
      'a text with control characters',
      text('\u001b[31mno\nroute\u0085\u202e', 404),
      'not JSON: 404 no content type, 18 bytes: "\\u001b[31mno\\nroute\\u0085\\u202e".',
    ],
    ['an empty 500', text('', 500), 'not JSON: 500 with an empty body.'],
    [
      'JSON without an error object',
      json({ message: 'no Route matched' }, 404),
      '404 application/json, 30 bytes: "{\\"message\\":\\"no Route matched\\"}".',
    ],
    ['an error that is null', json({ error: null }, 400), '400 application/json, 14 bytes'],
    ['an error object without a code', json({ error: { message: 'no' } }, 400), '400 application/json, 26 bytes'],
  ])('%s is a ClientError with a description', async (_, reply, problem) => {
    const isJson = !problem.startsWith('not JSON');
    const code = isJson ? 'unexpected_answer' : 'not_json';
    const failure = await failureOn(api, reply);
    expect(failure).toMatchObject({ name: 'ClientError', code, attempts: 1, status: expect.any(Number) });
    const found = isJson ? `has no error object: ${problem}` : `is ${problem}`;
    expect(failure.message).toContain(`GET /v1/voices failed: the answer ${found}`);
    expect(failure.message).toMatch(new RegExp(`\\(${code}\\)$`));
  });

  it.each(['<title', '<title ', '<title<', '<title>', '<', '<title a="', '\n'])(
    'a page of %j repeated is described in linear time',
    async (part) => {
      // A search of the whole page from each tag takes longer than the time limit of the test.
      const page = text(part.repeat(2 ** 16), 200, { 'content-type': 'text/html' });
      expect(await failureOn(api, page)).toMatchObject({ code: 'not_json' });
    },
  );

  it('a title far inside a page is not searched for', async () => {
    const [far, near] = [
      text(`${' '.repeat(20_000)}<title>Log in</title>`),
      text(`${' '.repeat(10_000)}<title>Log in`),
    ];
    expect((await failureOn(api, far)).message).toContain('no content type, 20021 bytes. ');
    expect((await failureOn(api, near)).message).toContain('no content type, 10013 bytes: "Log in". ');
  });
});

describe('a hostile server', () => {
  it('an error does not repeat the key of the answer', async () => {
    const fields = { message: `bad key ${KEY}`, type: KEY, param: KEY, doc_url: KEY, request_id: KEY };
    for (const [reply, shown] of [
      [refusal('invalid_api_key', 401, fields), { message: 'bad key [API key]', param: '[API key]' }],
      [refusal(`new_${KEY}`, 400), { code: 'new_[API key]' }],
      [text('{}', 401, { 'x-request-id': KEY }), { requestId: '[API key]' }],
    ] as const) {
      expect(await failureOn(api, reply)).toMatchObject(shown);
    }
    const page = text(`<title>${'x'.repeat(95)}${KEY}</title>`, 500);
    expect((await failureOn(api, page)).message).toContain(`"${'x'.repeat(95)}[API "`); // no half of it either
    const redirect = text('', 302, { location: `https://${KEY}.example` });
    expect((await failureOn(api, redirect)).message).toContain('(status 302) to https://[API key].example. ');
  });

  it('a text with the key in another spelling is withheld', async () => {
    const encoded = [...KEY].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');
    const withheld = '[withheld, because it holds the API key]';
    const fields = { message: `bad key ${encoded}`, param: 'a%20b &amp; \\u00e9' };
    expect(await failureOn(api, refusal('invalid_api_key', 401, fields))).toMatchObject({
      message: withheld,
      param: fields.param, // other escapes stay
    });
    for (const [type, shown] of [
      [`text/${KEY.toLowerCase()}`, 'text/[API key]'],
      [encoded, withheld],
    ] as const) {
      const { message } = await failureOn(api, text('x', 500, { 'content-type': type }));
      expect(message).toContain(`500 ${shown}, 1 bytes`);
    }
  });

  it('an error does not show a key in the path of baseUrl', async () => {
    for (const path of [KEY, KEY.replace('_', '%5f')]) {
      const { client } = clientOf(`${api.url}/${path}`, { maxAttempts: 1 });
      api.replies.push(text('', 500));
      expect((await failureOf(client.voices())).message).not.toMatch(/0123456789abcdefKEY/i);
    }
  });

  it('control characters are escaped in every field of an error', async () => {
    const odd = 'a\u0000b\u001b[2Jc\u009bd\u007fe\nf\u2028g\u202eh';
    const fields = { message: odd, type: odd, param: odd, doc_url: odd, request_id: odd };
    const { client } = clientOf(api.url, { maxAttempts: 1 });
    api.replies.push(refusal(odd, 400, fields), (response) => {
      response.writeHead(400, { 'x-request-id': 'a\u009bb', 'content-type': 'text/\u0085html' }).end('[]');
    });
    const escaped = 'a\\u0000b\\u001b[2Jc\\u009bd\\u007fe\\nf\\u2028g\\u202eh';
    const failure = await failureOf(client.voices());
    expect(failure).toMatchObject({ message: escaped, code: escaped, type: escaped, param: escaped, docUrl: escaped });
    const other = await failureOf(client.voices());
    expect(other).toMatchObject({ requestId: 'a\\u009bb', message: expect.stringContaining('text/\\u0085html') });
    for (const { stack, message } of [failure, other]) {
      expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
      expect(stack?.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    }
  });

  it('JSON that is nested 20 000 deep does not exhaust the stack', async () => {
    const depth = 20_000;
    const nested = '{"a":['.repeat(depth) + ']}'.repeat(depth);
    const { client } = clientOf(api.url, { maxAttempts: 1 });
    api.replies.push(text(nested), text(nested, 400), text('{"a":'.repeat(depth), 400));
    expect(endpointsIn((await client.voices()).data)).toEqual([]);
    expect(await failureOf(client.voices())).toMatchObject({ code: 'unexpected_answer' });
    expect(await failureOf(client.voices())).toMatchObject({ code: 'not_json' });
    api.replies.push(text(nested), json({ signing_secret: 'whsec_new' }));
    const settings = { url: 'https://app.example/', events: ['stt.failed'] };
    expect(await ensureEndpoint(settings, client)).toMatchObject({ action: 'created' });
  });

  it('a message of megabytes is cut before it is escaped', async () => {
    const fields = { message: '\u0001'.repeat(2 ** 20), param: 'p'.repeat(10_000) };
    const failure = await failureOn(api, refusal('forbidden', 403, fields));
    expect(failure.message).toBe(`${'\\u0001'.repeat(10_000)}…`);
    expect(failure).toMatchObject({ param: 'p'.repeat(10_000) });
  });

  it.each<[code: string, reply: Reply]>([
    ['not_json', text('{"signing_secret":"whsec_dont_log_me', 201)],
    ['unexpected_answer', json({ signing_secret: 'whsec_dont_log_me' }, 409)],
    ['not_json', text('{"Signing-Secret":"whsec_dont_log_me', 502)],
    ['not_json', text('<title>signingSecret whsec_dont_log_me</title>', 502)],
  ])('a signing secret is not quoted in %s', async (code, reply) => {
    const failure = await failureOn(api, reply);
    expect(failure.code).toBe(code);
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('whsec');
  });
});
