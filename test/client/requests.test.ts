import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, KEY, LIMITS } from './clients.js';
import { json, useApi } from './serve-api.js';

const api = useApi();

const CIRCLE: unknown[] = [];
CIRCLE.push(CIRCLE);

describe('a request', () => {
  it('every method of the client calls its route of the specification', async () => {
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

  it('the key is sent in a header and nowhere else', async () => {
    const { client } = clientOf(api.url);
    await client.request({ method: 'POST', path: '/v1/voices', body: { text: 'a' } });
    const [seen] = api.seen;
    expect(seen?.headers['x-api-key']).toBe(KEY);
    expect(seen?.path + String(seen?.body)).not.toContain(KEY);
  });

  it('values are sent as JSON; FormData, Blobs and bytes are sent unchanged', async () => {
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

  it.each(['', '.', '..', '\ud800', undefined, 7])('the id %j is refused', async (id) => {
    const { client } = clientOf(api.url);
    const calls: [name: string, call: Promise<unknown>][] = [
      ['id', client.dubbing.job(id as string)],
      ['id', client.workflows.run(id as string, 'run_1')],
      ['runId', client.workflows.run('wf_1', id as string)],
      ['id', client.webhooks.delete(id as string)],
      ['id', client.webhooks.update(id as string, { events: ['stt.failed'] })],
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
    const failure = await failureOf(clientOf(api.url).client.request(request as never));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect(api.seen).toEqual([]);
  });

  it('an odd path does not lead to another host', async () => {
    const { client } = clientOf(api.url);
    for (const path of ['//other.example/', '/\\other.example', '/@other.example/', '/../..//other.example']) {
      await client.request({ path });
    }
    expect(api.seen).toHaveLength(4);
  });

  it('unknown and invalid options are refused by every method', async () => {
    const { client } = clientOf(api.url);
    const calls: ((options: object) => Promise<unknown>)[] = [
      (options) => client.account.apiLimits(options),
      (options) => client.usage(options),
      (options) => client.webhooks.list(options),
      (options) => client.webhooks.create({ url: 'https://app.example', events: ['stt.failed'] }, options),
      (options) => client.webhooks.update('we_1', { events: ['stt.failed'] }, options),
      (options) => client.webhooks.delete('we_1', options),
      (options) => client.dubbing.job('job_1', options),
      (options) => client.workflows.run('wf_1', 'run_1', options),
      (options) => client.voices(options),
      (options) => client.models(options),
      (options) => client.speechToSpeech(options),
    ];
    for (const call of calls) {
      const failure = await failureOf(call({ timeoutMS: 'a value that may be a secret' }));
      expect(failure).toMatchObject({ code: 'invalid_option' });
      expect(failure.message).toContain(
        "Unknown option 'timeoutMS' in the options of a call. Did you mean 'timeoutMs'?",
      );
      expect(failure.message).not.toContain('a value');
      expect(await failureOf(call({ method: 'DELETE' }))).toMatchObject({ code: 'invalid_option' });
      expect(await failureOf(call({ signal: {} }))).toMatchObject({ code: 'invalid_option' });
      expect(await failureOf(call(null as never))).toMatchObject({ code: 'invalid_option' });
    }
    expect(api.seen).toEqual([]);
  });
});
