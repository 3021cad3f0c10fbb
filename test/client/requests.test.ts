import type { Client } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, KEY, LIMITS, SETTINGS, SIGNING_SECRET, useApi } from './clients.js';
import { json } from './serve-api.js';

const api = useApi();

const CIRCLE: unknown[] = [];
CIRCLE.push(CIRCLE);

/** Each method of the client, by its route of the specification. */
const METHODS: readonly (readonly [route: string, call: (client: Client, options?: object) => Promise<unknown>])[] = [
  ['GET /api/v1/account/api-limits', ({ account }, options) => account.apiLimits(options)],
  ['GET /api/v1/usage', ({ usage }, options) => usage(options)],
  ['GET /api/v1/account/webhooks', ({ webhooks }, options) => webhooks.list(options)],
  ['POST /api/v1/account/webhooks', ({ webhooks }, options) => webhooks.create(SETTINGS, options)],
  ['PATCH /api/v1/account/webhooks/we%201', ({ webhooks }, options) => webhooks.update('we 1', SETTINGS, options)],
  ['DELETE /api/v1/account/webhooks/we%2F2', ({ webhooks }, options) => webhooks.delete('we/2', options)],
  ['GET /v1/dubbing/jobs/job_1', ({ dubbing }, options) => dubbing.job('job_1', options)],
  ['GET /v1/workflows/wf_1/runs/run_1', ({ workflows }, options) => workflows.run('wf_1', 'run_1', options)],
  ['GET /v1/voices', ({ voices }, options) => voices(options)],
  ['GET /v1/models', ({ models }, options) => models(options)],
  ['GET /v1/speech-to-speech', ({ speechToSpeech }, options) => speechToSpeech(options)],
];

describe('a request', () => {
  it.each([
    ...METHODS,
    [
      'POST /v1/speech-to-text/stream/token?a=1',
      ({ request }: Client) => request({ method: 'post', path: '/v1/speech-to-text/stream/token?a=1' }),
    ] as const,
  ])('a method of the client sends %s', async (route, call) => {
    api.replies.push(json({ ...LIMITS, max_source_seconds: 300, signing_secret: SIGNING_SECRET }));
    await call(clientOf(`${api.url}/base/`).client);
    expect(api.seen.map(({ method, path }) => `${method} ${path.replace('/base', '')}`)).toEqual([route]);
    expect(api.seen[0]?.path).toMatch(/^\/base\//);
  });

  it('the key is sent in a header and nowhere else', async () => {
    await api.client.request({ method: 'POST', path: '/v1/voices', body: { text: 'a' } });
    const [seen] = api.seen;
    expect(seen?.headers['x-api-key']).toBe(KEY);
    expect(seen?.path + String(seen?.body)).not.toContain(KEY);
  });

  it('values are sent as JSON; FormData, Blobs and bytes are sent unchanged', async () => {
    const form = new FormData();
    form.append('text', 'a');
    const raw = new TextEncoder().encode('raw');
    const bodies = [{ text: 'ä' }, null, 'text', form, raw, raw.buffer, new Blob([raw], { type: 'audio/mpeg' })];
    for (const body of bodies) await api.client.request({ method: 'POST', path: '/v1/voices', body });
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

  it.each(['', '.', '..', '\ud800', undefined, 7])('the id %j is refused', async (id) => {
    const calls: [name: string, call: Promise<unknown>][] = [
      ['id', api.client.dubbing.job(id as string)],
      ['id', api.client.workflows.run(id as string, 'run_1')],
      ['runId', api.client.workflows.run('wf_1', id as string)],
      ['id', api.client.webhooks.delete(id as string)],
      ['id', api.client.webhooks.update(id as string, { events: ['stt.failed'] })],
    ];
    for (const [name, call] of calls) {
      expect((await failureOf(call)).message).toContain(`${name} must be an id`);
    }
    expect(api.seen).toEqual([]);
  });

  it.each<[request: unknown, problem: string]>([
    [undefined, 'request must be an object'],
    [{ path: 'v1/voices' }, 'path must begin with a slash'],
    [{ path: `/v1/voices?api_key=${KEY}` }, 'path must not hold the key, which the service reads from a header only'],
    [{ path: `/v1/voices/${KEY.toUpperCase().replace('_', '%5F')}` }, 'path must not hold the key'],
    [{ path: 7 }, 'path must begin with a slash'],
    [{ path: '/', method: 'GET /x' }, 'method must be like GET'],
    [{ path: '/', method: ['GET'] }, 'method must be like GET'],
    [{ path: '/', timeoutMs: 0 }, 'timeoutMs must be a positive integer'],
    [{ path: '/', signal: {} }, 'signal must be an AbortSignal'],
    [{ path: '/', repeatable: 'no' }, 'repeatable must be true or false, but is '],
    [{ path: '/', timeout: 7 }, "Unknown option 'timeout' in request. Did you mean 'timeoutMs'?"],
    [{ path: '/', shape: {} }, "Unknown option 'shape' in request."],
    [{ path: '/', body: CIRCLE }, 'body cannot be written as JSON'],
    [{ path: '/', body: () => {} }, 'body cannot be written as JSON'],
  ])('invalid settings are refused before anything is sent: %j', async (request, problem) => {
    const failure = await failureOf(api.client.request(request as never));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect(api.seen).toEqual([]);
  });

  it('an odd path does not lead to another host', async () => {
    for (const path of ['//other.example/', '/\\other.example', '/@other.example/', '/../..//other.example']) {
      await api.client.request({ path });
    }
    expect(api.seen).toHaveLength(4);
  });

  it.each(METHODS)('unknown and invalid options of %s are refused', async (_, call) => {
    const failure = await failureOf(call(api.client, { timeoutMS: 'a value that may be a secret' }));
    expect(failure).toMatchObject({ code: 'invalid_option' });
    expect(failure.message).toContain("Unknown option 'timeoutMS' in the options of a call. Did you mean 'timeoutMs'?");
    expect(failure.message).not.toContain('a value');
    for (const options of [{ method: 'DELETE' }, { signal: {} }, null]) {
      expect(await failureOf(call(api.client, options as never))).toMatchObject({ code: 'invalid_option' });
    }
    expect(api.seen).toEqual([]);
  });
});
