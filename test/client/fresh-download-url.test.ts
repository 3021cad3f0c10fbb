import type { WebhookEvent } from 'service-webhooks';
import { type FreshDownloadUrlOptions, freshDownloadUrl } from 'service-webhooks/client';
import { sampleEvent } from 'service-webhooks/testing';
import { describe, expect, it, vi } from 'vitest';
import { failureOf, KEY, useApi } from './clients.js';
import { hangUp, json, type Reply, refusal, text } from './serve-api.js';

const api = useApi();
const storage = useApi();

const stored = () => `${storage.url}/clip.mp3?signature=0123`;
const FRESH = 'https://storage.example/fresh';
const clip = () => sampleEvent('generation.completed', { data: { downloadUrl: stored() } });
const urlOf = (event: WebhookEvent = clip(), options?: FreshDownloadUrlOptions) =>
  freshDownloadUrl(event, api.client, options);
/** An event with a link, although the specification does not show its data. */
const dubbing = (data: object = { downloadUrl: stored() }) =>
  sampleEvent('dubbing.completed', { jobId: 'job 1', data: { ...data } });

describe('freshDownloadUrl with a stored link', () => {
  it.each<[what: string, reply: Reply]>([
    ['its first byte', text('a', 206)],
    ['the whole file', text('abc', 200)],
    ['an empty file', text('', 416)],
  ])('the link is returned where the storage answers %s', async (_, reply) => {
    storage.replies.push(reply);
    expect(await urlOf()).toBe(stored());
    const [seen] = storage.seen;
    expect(seen).toMatchObject({ method: 'GET', path: '/clip.mp3?signature=0123', headers: { range: 'bytes=0-0' } });
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(api.seen).toEqual([]);
  });

  it.each([400, 403, 404, 410])('the link has expired where the storage answers %i', async (status) => {
    storage.replies.push(text('expired', status));
    const failure = await failureOf(urlOf());
    expect(failure).toMatchObject({
      code: 'link_expired',
      message: expect.stringMatching(
        /^The link of generation.completed evt_\S+ has expired, and no route is known to fetch it again\. /,
      ),
      hint: expect.stringContaining('path'),
    });
    expect(failure.message).not.toContain('signature');
  });

  it.each<[what: string, reply: Reply, failure: object]>([
    ['does not answer', hangUp, { code: 'no_connection' }],
    ['fails', text('', 500), { code: 'unexpected_answer', status: 500 }],
    ['is closed', text('', 503), { code: 'unexpected_answer', status: 503 }],
    ['is busy', text('', 429), { code: 'unexpected_answer', status: 429 }],
  ])('the call fails without a verdict where the storage %s', async (_, reply, expected) => {
    storage.replies.push(reply);
    const failure = await failureOf(urlOf());
    expect(failure).toMatchObject(expected);
    expect(failure.message).toContain(storage.url);
    expect(failure.message).not.toContain('signature');
  });

  it('the link is returned where the storage answers without a body', async () => {
    const fetch = async () => new Response(null, { status: 204 });
    expect(await urlOf(clip(), { fetch })).toBe(stored());
  });

  it.each([
    [undefined, 30_000],
    [1, 1],
    [60_000, 30_000],
  ])('with timeoutMs %j the storage has %i ms to answer', async (timeoutMs, ms) => {
    vi.useFakeTimers();
    const asked = failureOf(urlOf(clip(), { fetch: () => new Promise(() => {}), timeoutMs }));
    await vi.advanceTimersByTimeAsync(ms);
    vi.useRealTimers();
    expect((await asked).message).toContain(`The storage ${storage.url} did not answer in ${ms} ms. `);
  });

  it('an aborted signal ends the request to the storage', async () => {
    const controller = new AbortController();
    storage.replies.push(() => controller.abort());
    expect(await failureOf(urlOf(clip(), { signal: controller.signal }))).toMatchObject({ name: 'AbortError' });
  });
});

describe('freshDownloadUrl without a valid link', () => {
  it('a new link comes from the job of a dubbing or subtitle event', async () => {
    storage.replies.push(text('', 403));
    const shown = [{ downloadUrl: 7 }, { downloadUrl: 'https://' }, { downloadUrl: FRESH }];
    api.replies.push(json({ result: shown }), json({ downloadUrl: FRESH }));
    expect(await urlOf(dubbing())).toBe(FRESH);
    expect(await urlOf(sampleEvent('subtitle.completed', { jobId: 'job_2' }))).toBe(FRESH);
    expect(api.seen.map(({ path }) => path)).toEqual(['/v1/dubbing/jobs/job%201', '/v1/dubbing/jobs/job_2']);
  });

  it('a new link comes from the path and the place that the caller names', async () => {
    storage.replies.push(text('', 403));
    api.replies.push(json({ outputs: { n1: FRESH } }));
    const linkIn = (data: unknown) => (data as { outputs: { n1: string } }).outputs.n1;
    expect(await urlOf(clip(), { path: '/v1/workflows/wf_1/runs/run_1', linkIn })).toBe(FRESH);
    expect(api.seen[0]?.path).toBe('/v1/workflows/wf_1/runs/run_1');
  });

  it.each([
    {},
    { downloadUrl: 'ftp://storage.example/1' },
    { downloadUrl: 'xhttp://a' },
    { downloadUrl: 7 },
    { downloadUrl: [FRESH] },
    'x',
  ])('the answer %j has no link', async (data) => {
    api.replies.push(json(data));
    expect(await failureOf(urlOf(dubbing({})))).toMatchObject({
      code: 'link_not_found',
      message: expect.stringContaining('The answer of /v1/dubbing/jobs/job%201 has no link. '),
    });
  });

  it('a job id that would lead to another route is refused', async () => {
    const event = sampleEvent('dubbing.completed', { jobId: '..', data: {} });
    expect((await failureOf(urlOf(event))).message).toContain('jobId must be an id');
    expect(api.seen).toEqual([]);
  });

  it('an error of the service is passed on', async () => {
    api.replies.push(refusal('not_found', 404));
    expect(await failureOf(urlOf(dubbing({})))).toMatchObject({ code: 'not_found', status: 404 });
  });
});

it.each(['generation.failed', 'dubbing.failed', 'workflow_run.completed', 'stt.completed'] as const)(
  'a %s event without a link and without a route is an error',
  async (type) => {
    expect(await failureOf(urlOf(sampleEvent(type)))).toMatchObject({
      code: 'link_not_found',
      message: expect.stringMatching(`^${type} evt_\\S+ has no link, and no route is known to fetch it\\. `),
    });
    expect(await failureOf(urlOf(sampleEvent('subtitle.completed', { jobId: null as never })))).toMatchObject({
      code: 'link_not_found',
    });
    expect(api.seen).toEqual([]);
  },
);

describe('the options of freshDownloadUrl', () => {
  it.each<[options: object, problem: string]>([
    [{ pth: '/v1/x' }, "Unknown option 'pth' in freshDownloadUrl. Did you mean 'path'?"],
    [{ linkIn: 'downloadUrl' }, 'linkIn must be a function'],
    [{ fetch: 'fetch' }, 'fetch must be a function'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a positive integer'],
  ])('%j is refused before anything is sent', async (options, problem) => {
    const failure = await failureOf(urlOf(clip(), options));
    expect(failure).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
    expect([...storage.seen, ...api.seen]).toEqual([]);
  });

  it('an error of fetch that quotes the link is not passed on', async () => {
    const fetch = () => {
      throw new TypeError(`cannot reach ${stored()}`);
    };
    const failure = await failureOf(urlOf(clip(), { fetch }));
    expect(failure).toMatchObject({ code: 'no_connection' });
    expect(failure.cause).toBeUndefined();
    expect(failure.message).not.toContain('signature');
  });
});
