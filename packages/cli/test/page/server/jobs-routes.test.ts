import { describe, expect, it, onTestFinished } from 'vitest';
import { jobsView } from '../../../src/job-stores/jobs-view.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import { MINUTE, memoryJobs } from '../memory-jobs.js';
import { memoryQueue } from '../memory-queue.js';
import { memorySource } from '../memory-source.js';
import { served } from '../served.js';

/** The views of deliveries and of jobs. */
async function servedJobs() {
  const memory = memoryJobs();
  await memory.expect('dub_1', { within: MINUTE });
  const jobs = jobsView(memory.placed, { now: memory.now });
  onTestFinished(() => jobs.close());
  return { memory, jobs, ...(await served(memorySource(), undefined, { jobs })) };
}

describe('the server of a view of jobs', () => {
  it('the document has the script of the view and no access to other machines, and the store is not asked yet', async () => {
    const { get, memory } = await servedJobs();
    const { status, headers, body } = await get('/page/jobs');
    expect([status, headers['x-frame-options']]).toEqual([200, 'DENY']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body).toMatch(/<title>Jobs .+ memory at 127\.0\.0\.1<\/title>/);
    expect(body).toContain('src="/page/jobs.js"');
    expect(body).toContain('<meta name="page-views" content="deliveries jobs">');
    const parts = ['jobs.js', 'queue-style.css', 'style.css', 'page.js'].map((name) => get(`/page/${name}`));
    expect((await Promise.all(parts)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(memory.calls).toEqual([]);
  });

  it('the jobs are read', async () => {
    const { get } = await servedJobs();
    const { status, body } = await get('/page/jobs/state');
    expect([status, JSON.parse(body)]).toMatchObject([200, { counts: { expected: 1 }, jobs: [{ id: 'dub_1' }] }]);
  });

  it('nothing can be changed, and other paths are not there', async () => {
    const { get, request, own } = await servedJobs();
    expect((await request('POST', '/page/jobs/state', own, '{}')).status).toBe(405);
    for (const path of ['/page/jobs/', '/page/jobs/other', '/page/jobs.css', '/page/queue', '/page/queue/state'])
      expect((await get(path)).status).toBe(404);
  });

  it('another site that is open in the browser cannot read the jobs', async () => {
    const { get } = await servedJobs();
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await get('/page/jobs/state', headers)).status).toBe(403);
    expect((await get('/page/jobs/state', { host: 'evil.example' })).status).toBe(421);
  });

  it('a page of a queue has the jobs next to it, and without jobs there is nothing of them', async () => {
    const { jobs } = await servedJobs();
    const queue = queueView(memoryQueue([]).placed);
    onTestFinished(() => queue.close());
    const both = await served(undefined, undefined, { queue, jobs });
    expect((await both.get('/')).body).toContain('<meta name="page-views" content="queue jobs">');
    expect((await both.get('/page/jobs')).body).toContain('src="/page/jobs.js"');
    const without = await served(memorySource());
    for (const path of ['/page/jobs', '/page/jobs/state', '/page/jobs.js'])
      expect((await without.get(path)).status).toBe(404);
  });
});
