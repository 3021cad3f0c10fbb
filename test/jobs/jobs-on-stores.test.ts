import { createReceiver, type DedupeStore, isWebhookError, type Outcome } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { afterAll, describe, expect, it } from 'vitest';
import { findBackends } from '../faults/backends.js';
import { openStore } from '../faults/places.js';
import { aDelivery, inShort, later, now, SECRET } from '../support/deliveries.js';

const backends = await findBackends();

afterAll(async () => {
  for (const backend of backends) await backend.stop();
});

/** Longer than a test may take: what is found sooner was notified. */
const NEVER_MS = 3_600_000;

const done = async () => ({ type: 'stt.completed', data: { text: 'found' } });

describe.each(backends)('jobs over $name', ({ name, place }) => {
  const notifies = !['sqlite', 'mysql', 'dynamodb'].includes(name);
  const aJobId = () => `clip_${crypto.randomUUID()}`;

  /** A process: a store with a client of its own, its jobs and its receiver. */
  async function aProcess(pollMs = 10) {
    const store: DedupeStore = await openStore(place);
    const jobs = createJobs({ store, pollMs });
    const outcomes: Outcome[] = [];
    const observe = (outcome: Outcome) => void outcomes.push(outcome);
    const handled: string[] = [];
    const on = { '*': ({ id }: { id: string }) => void handled.push(id) };
    const dedupe = { store, name: 'clips' };
    const receiver = createReceiver({ secret: SECRET, on, jobs, dedupe, now, logger: false, observe });
    const send = async (jobId: string, id = `evt_${jobId}`) =>
      inShort(await receiver({ method: 'POST', ...aDelivery({ event: { id, jobId } }) }));
    const reconcile = (fetch = done, more = {}) =>
      jobs.reconcile({ on, fetch, name: 'clips', logger: false, observe, ...more });
    return { store, jobs, receiver, send, reconcile, handled, outcomes };
  }

  it('a job that one process expects is ended by another, and a third one that waits gets the event', async () => {
    const [submitting, receiving, waiting] = [await aProcess(), await aProcess(), await aProcess()];
    const jobId = aJobId();
    const event = waiting.jobs.ended(jobId);
    await submitting.jobs.expect(jobId, { within: '1h', note: 'the intro “1”' });
    expect(await receiving.send(jobId)).toBe('200 handled');
    expect(await event).toMatchObject({ id: `evt_${jobId}`, jobId });
    expect(await submitting.jobs.find(jobId)).toMatchObject({ state: 'completed', note: 'the intro “1”' });
  });

  it.runIf(notifies)('a process that never asks is notified of the end of a job', async () => {
    const [receiving, waiting] = [await aProcess(), await aProcess(NEVER_MS)];
    const jobId = aJobId();
    const started = later();
    const { jobs } = waiting.store;
    const { watch } = jobs ?? {};
    Object.assign(jobs ?? {}, {
      async watch(changed: (key: string) => void) {
        const end = await watch?.(changed);
        started.resolve();
        return end;
      },
    });
    const event = waiting.jobs.ended(jobId);
    await started.promise;
    await receiving.send(jobId);
    expect(await event).toMatchObject({ jobId });
  });

  it('a process whose notifications are lost asks the store', async () => {
    const [receiving, waiting] = [await aProcess(), await aProcess()];
    Object.assign(waiting.store.jobs ?? {}, { watch: async () => () => {} });
    const jobId = aJobId();
    const event = waiting.jobs.ended(jobId);
    await receiving.send(jobId);
    expect(await event).toMatchObject({ jobId });
  });

  it('many processes reconcile overdue jobs at once, and each job is asked for and handled once', async () => {
    const processes = await Promise.all([aProcess(), aProcess(), aProcess(), aProcess()]);
    const ids = Array.from({ length: 40 }, aJobId);
    for (const id of ids) await processes[0]?.jobs.expect(id, { within: 1 });
    const asked: string[] = [];
    const fetch = async (job?: { jobId: string }) => {
      asked.push(String(job?.jobId));
      return done();
    };
    const counts = await Promise.all(processes.map(({ reconcile }) => reconcile(fetch, { concurrency: 8 })));
    expect(counts.reduce((sum, { ended }) => sum + ended, 0)).toBe(40);
    expect(asked.sort()).toEqual([...ids].sort());
    const handled = processes.flatMap((one) => one.handled);
    expect(handled).toHaveLength(40);
    const notices = processes.flatMap(({ outcomes }) => outcomes).filter(({ kind }) => kind === 'overdue');
    expect(notices).toHaveLength(40);
    expect(await processes[1]?.jobs.stats()).toMatchObject({ expected: 0, overdue: 0 });
  });

  it('a webhook and a reconciliation that race for a job run one handler, whichever is first', async () => {
    const [one, other] = [await aProcess(), await aProcess()];
    for (let race = 0; race < 20; race += 1) {
      const jobId = aJobId();
      await one.jobs.expect(jobId, { within: 1 });
      const before = one.handled.length + other.handled.length;
      const sent = (async () => {
        for (;;) {
          const answer = await one.send(jobId);
          if (answer.startsWith('2')) return answer;
        }
      })();
      const [answer, counts] = await Promise.all([sent, other.reconcile()]);
      expect(one.handled.length + other.handled.length - before).toBe(1);
      expect(answer).toBe(counts.ended === 1 ? '200 duplicate' : '200 handled');
      expect(await one.jobs.find(jobId)).toMatchObject({ state: 'completed', reconciled: counts.ended === 1 });
    }
  });

  it('a job of an awkward name, with a note and an event of any characters, is kept as it is', async () => {
    const { jobs, receiver } = await aProcess();
    const jobId = `job "1"\n\u001e\u0000\ud800 ${'é'.repeat(300)} ${crypto.randomUUID()}`;
    const note = '\u001e\n"\u2028';
    await jobs.expect(jobId, { within: '1h', note, tenant: undefined });
    const event = { jobId, id: `evt_${crypto.randomUUID()}`, data: { text: '\u001e\n\u0000\ud800"{}'.repeat(1_000) } };
    expect(inShort(await receiver({ method: 'POST', ...aDelivery({ event }) }))).toBe('200 handled');
    expect(await jobs.ended(jobId)).toMatchObject(event);
    expect(await jobs.find(jobId)).toMatchObject({ jobId, note, state: 'completed' });
    await jobs.forget(jobId);
    expect(await jobs.find(jobId)).toBeUndefined();
  });

  it('a wait ends with job_timeout, and lets the process end its connections', async () => {
    const { jobs } = await aProcess();
    const error = await jobs.ended(aJobId(), { timeoutMs: 30 }).catch((thrown) => thrown);
    expect(isWebhookError(error) && error.code).toBe('job_timeout');
  });
});
