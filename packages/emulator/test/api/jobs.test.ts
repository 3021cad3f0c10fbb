import { describe, expect, it } from 'vitest';
import { startApi } from './client.js';

const JOB = '/v1/dubbing/jobs/dub_1';
const RUN = '/v1/workflows/wf_1/runs/run_1';

/** An API of an emulator whose endpoint acknowledges every event. */
function startWithJobs(options: Parameters<typeof startApi>[0] = {}) {
  const started = startApi({ fetch: () => new Response(), ...options });
  started.emulator.endpoints.create({ url: 'https://app.example/hooks' });
  return started;
}

describe("jobs in the emulator's API", () => {
  it.each([
    ['dubbing.completed', 'dub_1', JOB],
    ['subtitle.failed', 'sub_1', '/v1/dubbing/jobs/sub_1'],
    ['workflow_run.completed', 'run_1', RUN],
    ['dubbing.completed', 'a/b c', '/v1/dubbing/jobs/a%2Fb%20c'],
  ])('the job of a %s with the id %s is answered with its event', async (type, jobId, path) => {
    const { emulator, call } = startWithJobs();
    await emulator.emit(type, { jobId, data: { url: 'https://cdn.example/1' } });
    const { status, body } = await call(path);
    expect([status, body]).toEqual([200, { id: jobId, event: { type, data: { url: 'https://cdn.example/1' } } }]);
  });

  it('the answer about a job whose webhook never comes has the event that was lost', async () => {
    const { emulator, call } = startWithJobs({ faults: { never: 1 } });
    await emulator.emit('dubbing.completed', { jobId: 'dub_1' });
    expect((await call(JOB)).body).toMatchObject({ event: { type: 'dubbing.completed' } });
  });

  it('the answer has the event with the latest timestamp, and of two with the same one the last', async () => {
    const { emulator, call } = startWithJobs();
    const emit = (type: string, timestamp: string) => emulator.emit(type, { jobId: 'dub_1', timestamp, data: {} });
    await emit('dubbing.completed', '2026-07-11T09:00:00.000Z');
    await emit('dubbing.failed', '2026-07-11T08:00:00.000Z');
    expect((await call(JOB)).body.event.type).toBe('dubbing.completed');
    await emit('dubbing.failed', '2026-07-11T09:00:00.000Z');
    expect((await call(JOB)).body.event.type).toBe('dubbing.failed');
  });

  it('a job is unknown before its event, on the route of another kind, and to another account', async () => {
    const { emulator, call } = startWithJobs();
    expect(await call(JOB)).toMatchObject({ status: 404, code: 'not_found' });
    await emulator.emit('dubbing.completed', { jobId: 'dub_1' });
    await emulator.emit('generation.completed', { jobId: 'clip_1' });
    expect(await call('/v1/workflows/wf_1/runs/dub_1')).toMatchObject({ status: 404, code: 'run_not_found' });
    expect((await call('/v1/dubbing/jobs/clip_1')).status).toBe(404);
    const { id: account } = emulator.accounts.create();
    expect(await call(JOB, { key: emulator.keys.create({ account }) })).toMatchObject({ status: 404 });
    expect((await call(`${JOB}%`)).status).toBe(404);
  });

  it('a job is unknown once no delivery of its event is kept', async () => {
    const { emulator, call } = startWithJobs({ keep: { delivered: 1 } });
    for (const jobId of ['dub_1', 'dub_2']) await emulator.emit('dubbing.completed', { jobId });
    await emulator.settled();
    expect([(await call(JOB)).status, (await call('/v1/dubbing/jobs/dub_2')).status]).toEqual([404, 200]);
  });

  it('a job that runs is a script, until it is removed', async () => {
    const { emulator, call } = startWithJobs();
    const ends = emulator.script({ path: JOB, body: { id: 'dub_1' }, authenticate: true });
    expect(await call(JOB)).toMatchObject({ status: 200, body: { id: 'dub_1' } });
    ends();
    await emulator.emit('dubbing.completed', { jobId: 'dub_1' });
    expect((await call(JOB)).body).toMatchObject({ id: 'dub_1', event: {} });
  });

  it('a request about a job needs a key, counts toward the limits, and works with a sandbox key', async () => {
    const { emulator, call } = startWithJobs({ account: { requestsPerMinute: 2 } });
    await emulator.emit('dubbing.completed', { jobId: 'dub_1' });
    expect(await call(JOB, { key: null })).toMatchObject({ status: 401, code: 'missing_api_key' });
    const key = emulator.keys.create({ kind: 'sandbox', scopes: [] });
    expect((await call(JOB, { key })).headers).toMatchObject({
      'x-service-sandbox': 'true',
      'x-ratelimit-remaining': '1',
    });
    expect((await call(RUN)).status).toBe(404);
    expect(await call(JOB)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });
});
