import type { JobRecords } from 'service-webhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { later } from '../../../../test/support/deliveries.js';
import { jobsView } from '../../src/job-stores/jobs-view.js';
import { type MemoryJobs, MINUTE, memoryJobs, T0 } from '../page/memory-jobs.js';

/** A view whose pauses a test ends. */
function viewOf(memory: MemoryJobs) {
  const over = later();
  const source = jobsView(memory.placed, { now: memory.now, pause: () => over.promise });
  onTestFinished(() => {
    over.resolve();
    return source.close();
  });
  return { source, endPauses: over.resolve };
}

describe('the view of jobs', () => {
  it('lists the jobs that are due first, with what is known of them, and counts all', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_2', { within: 60 * MINUTE });
    await memory.expect('dub_1', { within: MINUTE, types: ['dubbing.completed'], note: 'the intro', tenant: 'north' });
    memory.advance(2 * MINUTE);
    expect(await viewOf(memory).source.state()).toEqual({
      now: T0 + 2 * MINUTE,
      where: 'memory at 127.0.0.1',
      counts: { expected: 2, overdue: 1 },
      jobs: [
        {
          ...{ id: 'dub_1', tenant: 'north', note: 'the intro', types: ['dubbing.completed'] },
          ...{ expectedAt: T0, dueAt: T0 + MINUTE, isOverdue: true },
        },
        { id: 'dub_2', expectedAt: T0, dueAt: T0 + 60 * MINUTE, isOverdue: false },
      ],
      readMs: 0,
      problem: undefined,
    });
  });

  it('lists a hundred jobs at most, and creates nothing in the store', async () => {
    const memory = memoryJobs();
    for (let n = 0; n < 103; n += 1) await memory.expect(`dub_${n}`, { within: MINUTE });
    const { jobs, counts } = await viewOf(memory).source.state();
    expect([jobs.length, counts]).toEqual([100, { expected: 103, overdue: 0 }]);
    expect(memory.calls).not.toContain('init');
  });

  it('reads the store only when a page asks, and not again within a second', async () => {
    const memory = memoryJobs();
    const { source } = viewOf(memory);
    const lists = () => memory.calls.filter((call) => call === 'list').length;
    expect(memory.calls).toEqual([]);
    await source.state();
    memory.advance(1_000);
    expect(await source.state()).toMatchObject({ readMs: 1_000, now: T0 + 1_000 });
    expect(lists()).toBe(1);
    memory.advance(1_000);
    await source.state();
    await expect.poll(lists).toBe(2);
    expect(memory.calls.filter((call) => call === 'open')).toHaveLength(1);
  });

  it('says why a store does not answer, keeps what was read, and opens it again', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_1', { within: MINUTE });
    const { source } = viewOf(memory);
    await source.state();
    memory.problem = new Error('ECONNREFUSED');
    memory.advance(2_000);
    await source.state();
    await expect.poll(async () => (await source.state()).problem).toBe('ECONNREFUSED');
    expect(await source.state()).toMatchObject({ readMs: 2_000, jobs: [{ id: 'dub_1' }] });
    memory.problem = undefined;
    memory.advance(2_000);
    await source.state();
    await expect.poll(async () => (await source.state()).problem).toBeUndefined();
    expect(memory.calls.filter((call) => call === 'open')).toHaveLength(2);
  });

  it('says why a store cannot be opened before anything was read', async () => {
    const memory = memoryJobs();
    memory.problem = new Error('redis at localhost:1 does not answer: \u001b[2Jgone');
    const { problem, counts, jobs } = await viewOf(memory).source.state();
    expect([problem, counts, jobs]).toEqual(['redis at localhost:1 does not answer: \\u001b[2Jgone', undefined, []]);
  });

  it('says that a store is silent', async () => {
    const memory = memoryJobs();
    const answers = later();
    memory.gate = answers.promise;
    const { source, endPauses } = viewOf(memory);
    const first = source.state();
    memory.advance(5_000);
    endPauses();
    expect((await first).problem).toBe('memory at 127.0.0.1 has not answered for 5 s or longer.');
    answers.resolve();
    await expect.poll(async () => (await source.state()).counts).toEqual({ expected: 0, overdue: 0 });
  });

  it('shows no control characters, no long texts and no times that are none', async () => {
    const memory = memoryJobs();
    await memory.expect('dub_1', { within: MINUTE });
    const { placed } = memory;
    const open = async () => {
      const { store, ...opened } = await placed.open();
      const text = JSON.stringify({
        ...{ v: 1, jobId: `\u001b[2J\u202e${'x'.repeat(5_000)}`, tenant: 7, early: [], reconciled: [] },
        expected: { at: 1e300, dueAt: 'soon', note: { a: 1 }, types: [null, ...Array(500).fill('stt.completed')] },
      });
      const list = async () => [{ key: 'job', version: '1', text, dueAt: T0 }];
      return { ...opened, store: { ...store, jobs: { ...(store.jobs as JobRecords), list } } };
    };
    const { jobs, problem } = await viewOf({ ...memory, placed: { ...placed, open } }).source.state();
    expect(problem).toBeUndefined();
    const [job] = jobs;
    expect(job?.id).toMatch(/^\\u001b\[2J\\u202ex+…$/);
    expect(job?.id.length).toBeLessThan(250);
    expect([job?.tenant, job?.note, job?.expectedAt, job?.dueAt]).toEqual([undefined, undefined, undefined, undefined]);
    expect(job?.types?.slice(0, 2)).toEqual(['', 'stt.completed']);
    expect(job?.types).toHaveLength(20);
  });
});
