import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleEvent } from 'service-webhooks/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aDelivery, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { buildPrograms, filesOf } from './build-programs.js';
import { type Miniflare, miniflare, startWorkers } from './miniflare.js';
import type { Stored } from './programs/worker-objects.js';
import type { SuiteResults } from './programs/worker-suite.js';

const receivers = ['receivers', 'more-receivers'] as const;

describe.skipIf(miniflare === undefined)('the stores on Cloudflare Workers', () => {
  let programs: Awaited<ReturnType<typeof buildPrograms>>;
  let data: string;
  let workers: Miniflare;

  const start = async () => {
    workers = await startWorkers(programs.folderOf('WebCrypto'), data, SECRET);
  };

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'workers-'));
    const recipes = writeRecipes(data);
    programs = await buildPrograms({ ...filesOf('worker-receivers', 'worker-suite', 'worker-objects'), ...recipes });
    await start();
  });

  afterAll(async () => {
    await workers.dispose();
    programs.remove();
    rmSync(data, { recursive: true, force: true });
  });

  async function ask(worker: string, path: string, init?: RequestInit) {
    const { fetch } = await workers.getWorker(worker);
    return fetch(`http://worker${path}`, init);
  }

  const jsonOf = async <T>(worker: string, path: string) => (await (await ask(worker, path)).json()) as T;

  it.each([
    ['d1Store', '/suite/d1', ['needs restart', 'needs disconnect', 'needs unreachable']],
    [
      'durableObjectStore, on objects with SQLite',
      '/suite/sqlite-objects',
      ['has no purgeExpired', 'has no saveReport', 'has no jobs'],
    ],
    [
      'durableObjectStore, on objects without SQLite',
      '/suite/kv-objects',
      ['has no purgeExpired', 'has no saveReport', 'has no jobs'],
    ],
  ])(
    'the store suite passes on %s',
    async (_, suite, skipped) => {
      const results = Object.entries(await jsonOf<SuiteResults>('suite', suite));
      expect(results.filter(([, result]) => result !== 'passed' && !skipped.includes(result))).toEqual([]);
      expect(results.filter(([, result]) => result === 'passed').length).toBeGreaterThan(50);
    },
    120_000,
  );

  describe.each([
    ['d1Store', '/d1'],
    ['durableObjectStore', '/durable-object'],
  ])('a receiver with %s', (_, path) => {
    async function deliver(id: string, worker: string = receivers[0]): Promise<string> {
      const { headers, body } = aDelivery({ event: { id }, at: Date.now() });
      const response = await ask(worker, path, { method: 'POST', headers, body });
      const { outcome, error } = (await response.json()) as { outcome?: string; error?: { code: string } };
      return `${response.status} ${outcome ?? error?.code}`;
    }

    /** How often its handler ran, in whichever Worker. */
    async function runsOf(id: string): Promise<number> {
      const taken = await Promise.all(receivers.map((worker) => jsonOf<Record<string, string[]>>(worker, '/taken')));
      return taken.flatMap(({ [path]: ids = [] }) => ids).filter((other) => other === id).length;
    }

    it('an event handled in one Worker is a duplicate in every other Worker', async () => {
      expect(await deliver('evt_once')).toBe('200 handled');
      for (const worker of receivers) expect(await deliver('evt_once', worker)).toBe('200 duplicate');
      expect(await runsOf('evt_once')).toBe(1);
    });

    it('an event that two Workers get simultaneously is handled once', async () => {
      for (const id of ['evt_race_1', 'evt_race_2', 'evt_race_3']) {
        const all = Array.from({ length: 8 }, () => receivers).flat();
        const answers = await Promise.all(all.map((worker) => deliver(id, worker)));
        expect(answers.filter((answer) => answer === '200 handled')).toHaveLength(1);
        expect(answers).toEqual(
          answers.map(() => expect.stringMatching(/^(200 (handled|duplicate)|409 delivery_in_)/)),
        );
        expect(await runsOf(id)).toBe(1);
      }
    });

    it('an event whose handler has failed is handled again', async () => {
      expect(await deliver('evt_bad')).toBe('500 handler_failed');
      expect(await deliver('evt_bad', receivers[1])).toBe('500 handler_failed');
      expect(await runsOf('evt_bad')).toBe(2);
    });

    it('a handled event is remembered after a restart', async () => {
      expect(await deliver('evt_kept')).toBe('200 handled');
      await workers.dispose();
      await start();
      expect(await deliver('evt_kept')).toBe('200 duplicate');
      expect(await runsOf('evt_kept')).toBe(0);
    });
  });

  it('an init() cut off at the end of its request does not block the next request', async () => {
    const deliver = (worker: string) => {
      const { headers, body } = aDelivery({ event: { id: 'evt_slow' }, at: Date.now() });
      return ask(worker, '/slow', { method: 'POST', headers, body });
    };
    expect(await (await deliver('suite')).text()).toContain('TimeoutError');
    const statuses = [(await deliver('receivers')).status, (await deliver('receivers')).status];
    expect(statuses).toEqual([503, 200]);
  });

  it('the cron trigger of the D1 recipe succeeds before any delivery', async () => {
    const worker = await workers.getWorker('recipe-d1');
    expect(await worker.scheduled({ cron: '*/10 * * * *' })).toMatchObject({ outcome: 'ok' });
  });

  it.each(['durable-object', 'd1'])('the documented recipe with stores/%s handles an event once', async (name) => {
    const { headers, body } = aDelivery({ event: { ...sampleEvent('generation.completed') }, at: Date.now() });
    const deliver = () => ask(`recipe-${name}`, '/webhooks', { method: 'POST', headers, body });
    expect(await (await deliver()).text()).toContain('handled');
    expect(await (await deliver()).text()).toContain('duplicate');
  });

  describe('the Durable Object store', () => {
    const claimOf = (key: string) => ({
      key,
      token: 'owner',
      fingerprint: 'body',
      leaseMs: 60_000,
      retainMs: 3_600_000,
    });
    const operate = (...call: unknown[]) => ask('suite', '/', { method: 'POST', body: JSON.stringify(call) });
    const storedBy = (key: string) => jsonOf<Stored>('suite', `/stored/${key}`);

    it('the storage is emptied when the retention time of the event is over', async () => {
      await operate('claim', { ...claimOf('brief'), retainMs: 1_000 });
      expect(await storedBy('brief')).toEqual({ entries: [['entry', expect.anything()]], alarm: expect.any(Number) });
      await vi.waitFor(async () => expect(await storedBy('brief')).toEqual({ entries: [], alarm: null }), PATIENTLY);
    });

    it('the storage is kept where a completion has extended the retention time', async () => {
      const claim = claimOf('renewed');
      await operate('claim', { ...claim, retainMs: 1_000 });
      const first = (await storedBy('renewed')).alarm ?? expect.fail('no alarm');
      await operate('complete', claim, claim);
      expect((await storedBy('renewed')).alarm).toBe(first);
      await vi.waitFor(
        async () => expect((await storedBy('renewed')).alarm).toBeGreaterThan(first + 3_000_000),
        PATIENTLY,
      );
      expect((await storedBy('renewed')).entries).toHaveLength(1);
    });

    it('operations on a forgotten or unknown key leave nothing in the storage', async () => {
      await operate('claim', claimOf('forgotten'));
      await operate('forget', 'forgotten');
      await operate('inspect', 'unknown');
      await operate('release', claimOf('unknown'));
      await operate('extend', claimOf('unknown'), { leaseMs: 1_000 });
      for (const key of ['forgotten', 'unknown']) expect(await storedBy(key)).toEqual({ entries: [], alarm: null });
    });
  });
});

/** The Workers of docs/runtimes.md as files, by the store they have. */
function writeRecipes(folder: string): Record<string, string> {
  const page = readFileSync(new URL('../../docs/runtimes.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)].map(([, code = '']) => {
    const [, store] = /'service-webhooks\/stores\/([\w-]+)'/.exec(code) ?? [];
    const file = join(folder, `${store}.ts`);
    writeFileSync(file, code);
    return [`recipe-${store}`, file];
  });
  return Object.fromEntries(blocks);
}
