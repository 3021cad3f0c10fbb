import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aDelivery, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { buildPrograms, filesOf } from './build-programs.js';
import { type Miniflare, miniflare, startQueueWorker } from './miniflare.js';

describe.skipIf(miniflare === undefined)('Cloudflare Queues in Miniflare', () => {
  let programs: Awaited<ReturnType<typeof buildPrograms>>;
  let workers: Miniflare;

  beforeAll(async () => {
    programs = await buildPrograms(filesOf('worker-queue'));
    workers = await startQueueWorker(programs.folderOf('WebCrypto'), SECRET);
  });

  afterAll(async () => {
    await workers?.dispose();
    programs?.remove();
  });

  async function ask(path: string, init?: RequestInit): Promise<Response> {
    const { fetch } = await workers.getWorker('queue');
    return fetch(`http://worker${path}`, init);
  }

  async function deliver(id: string, jobId: string | null = null, text?: string): Promise<string> {
    const event = { id, jobId, ...(text !== undefined && { data: { text } }) };
    const { headers, body } = aDelivery({ event, at: Date.now() });
    const response = await ask('/', { method: 'POST', headers, body });
    return `${response.status} ${((await response.json()) as { outcome?: string }).outcome}`;
  }

  interface Seen {
    runs: { id: string; attempt: number; bytes: number }[];
    dead: { key?: string }[];
    objects: number;
  }
  const seen = async () => (await (await ask('/seen')).json()) as Seen;
  const attemptsOf = async (event: string) =>
    (await seen()).runs.filter(({ id }) => id === event).map(({ attempt }) => attempt);
  const isDead = async (id: string) => (await seen()).dead.filter(({ key }) => key === `queued:${id}`).length;

  it('a delivery that arrives twice is handled once', async () => {
    expect(await deliver('evt_one')).toBe('202 queued');
    await vi.waitFor(async () => expect(await attemptsOf('evt_one')).toEqual([1]), PATIENTLY);
    expect(await deliver('evt_one')).toBe('200 duplicate');
    expect(await deliver('evt_later')).toBe('202 queued');
    await vi.waitFor(async () => expect(await attemptsOf('evt_later')).toEqual([1]), PATIENTLY);
    expect(await attemptsOf('evt_one')).toEqual([1]);
  });

  it('a job whose handler failed runs again in the next attempt', async () => {
    await deliver('evt_once', 'once');
    await vi.waitFor(async () => expect(await attemptsOf('evt_once')).toEqual([1, 2]), PATIENTLY);
    expect(await isDead('evt_once')).toBe(0);
  });

  it('the last failed attempt sends the job to the dead-letter queue', async () => {
    await deliver('evt_never', 'never');
    await vi.waitFor(async () => expect(await isDead('evt_never')).toBe(1), PATIENTLY);
    expect(await attemptsOf('evt_never')).toEqual([1, 2, 3]);
  });

  it('a PermanentError sends the job to the dead-letter queue after one run', async () => {
    await deliver('evt_dead', 'dead');
    await vi.waitFor(async () => expect(await isDead('evt_dead')).toBe(1), PATIENTLY);
    expect(await attemptsOf('evt_dead')).toEqual([1]);
  });

  it('a body that is larger than a message is kept in R2 until its job is done', async () => {
    expect(await deliver('evt_large', null, 'x'.repeat(1_000_000))).toBe('202 queued');
    await vi.waitFor(async () => {
      const { runs, objects } = await seen();
      const [run] = runs.filter(({ id }) => id === 'evt_large');
      expect([run?.bytes ?? 0, objects]).toEqual([expect.closeTo(1_000_000, -4), 0]);
    }, PATIENTLY);
  });

  it('a dead letter keeps its body in R2', async () => {
    await deliver('evt_large_dead', 'dead', 'x'.repeat(200_000));
    await vi.waitFor(async () => expect(await isDead('evt_large_dead')).toBe(1), PATIENTLY);
    expect((await seen()).objects).toBe(1);
  });

  it('a job of another version does not delay the other jobs', async () => {
    await ask('/unreadable');
    for (const id of ['evt_a', 'evt_b', 'evt_c']) {
      await deliver(id);
      await vi.waitFor(async () => expect(await attemptsOf(id)).toEqual([1]), PATIENTLY);
    }
    expect((await seen()).dead.filter(({ key }) => key === undefined)).toEqual([]);
  });

  it('the bundle for Workers does not mention node:', () => {
    const text = readFileSync(`${programs.folderOf('WebCrypto')}/worker-queue.mjs`, 'utf8');
    expect(text).toContain('cloudflareProcessor');
    expect(text).not.toContain('node:');
  });
});
