import { describe, expect, it } from 'vitest';
import { LIMITS, SETTINGS, startApi, USAGE, WEBHOOKS } from './client.js';

describe("error answers of the emulator's API", () => {
  it('an error object has a code, a message, the id of its request and a link', async () => {
    const { headers, status, body } = await startApi().call(WEBHOOKS, {
      method: 'POST',
      json: { ...SETTINGS, url: 'ftp://app.example/' },
    });
    expect(status).toBe(422);
    expect(body).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'validation_error',
        message: 'url must begin with https://.',
        status: 422,
        param: 'url',
        request_id: headers['x-request-id'],
        doc_url: 'http://api.test/docs/errors/validation_error',
      },
    });
  });

  it('the link to the error page starts with baseUrl, and an error without a param has no such field', async () => {
    const { headers, error } = await startApi({ baseUrl: 'https://docs.example/a/' }).call('/nowhere');
    expect(error).toEqual({
      type: 'invalid_request_error',
      code: 'unknown_endpoint',
      message: 'Path is not an endpoint (paths are case-sensitive, no trailing slash).',
      status: 404,
      request_id: headers['x-request-id'],
      doc_url: 'https://docs.example/a/docs/errors/unknown_endpoint',
    });
  });

  it('every request is counted and its answer has a request id of its own, refusals too', async () => {
    const { emulator, call } = startApi();
    const answers = [await call(LIMITS), await call('/nowhere'), await call(LIMITS, { key: null })];
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
    expect(emulator.totals.requests).toBe(3);
  });
});

describe("routes of the emulator's API", () => {
  it.each([
    ...['HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, LIMITS]),
    ['POST', USAGE],
    ['PATCH', WEBHOOKS],
    ['DELETE', WEBHOOKS],
    ['GET', `${WEBHOOKS}/wh_1`],
    ['GET', `${WEBHOOKS}/`],
    ['DELETE', `${WEBHOOKS}/a/b`],
    ['GET', LIMITS.toUpperCase()],
    ['GET', '/'],
    ['GET', '/__proto__'],
  ])('the request %s %s is answered with 404', async (method = '', path = '') => {
    const { status, text, code } = await startApi().call(path, { method });
    expect([status, code]).toEqual([404, method === 'HEAD' && text === '' ? undefined : 'unknown_endpoint']);
  });

  it('the query string is ignored when a route is chosen', async () => {
    expect((await startApi().call(`${LIMITS}?a=b`)).status).toBe(200);
  });

  it('an unknown path is refused before a missing key, and a key without the scope before the body', async () => {
    const { emulator, call } = startApi();
    const key = emulator.keys.create({ scopes: ['webhooks:read'] });
    expect((await call('/nowhere', { key: null })).code).toBe('unknown_endpoint');
    expect((await call(WEBHOOKS, { method: 'POST', json: {}, key: null })).code).toBe('missing_api_key');
    expect((await call(WEBHOOKS, { method: 'POST', json: {}, key })).code).toBe('insufficient_scope');
  });
});

describe("request bodies to the emulator's API", () => {
  it.each([
    [{ maxBodyBytes: 20 }, 20],
    [{}, 200_000_000],
  ])('with the options %j, a Content-Length of %i is accepted, and one byte more is refused', async (options, most) => {
    const { call } = startApi(options);
    const declared = (length: number) =>
      call('/nowhere', { method: 'POST', headers: { 'content-length': String(length) } });
    expect((await declared(most)).code).toBe('unknown_endpoint');
    expect(await declared(most + 1)).toMatchObject({ status: 413, code: 'file_too_large' });
  });

  it('a request whose body other code has read is answered with internal_error', async () => {
    const { emulator } = startApi();
    const headers = { 'x-api-key': emulator.apiKey, 'content-type': 'application/json' };
    const request = new Request(`http://api.test${WEBHOOKS}`, { method: 'POST', headers, body: '{}' });
    await request.text();
    const answer = await emulator.fetch(request);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ error: { code: 'internal_error' } });
  });
});
