import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aDelivery, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { buildPrograms, filesOf } from './build-programs.js';
import { type Miniflare, miniflare, startWorker } from './miniflare.js';

describe.skipIf(miniflare === undefined)('waitUntil of cloudflare:workers', () => {
  let programs: Awaited<ReturnType<typeof buildPrograms>>;
  let workers: Miniflare;

  beforeAll(async () => {
    programs = await buildPrograms(filesOf('worker-wait-until'));
    workers = await startWorker(programs.folderOf('WebCrypto'), 'worker-wait-until', SECRET);
  });

  afterAll(async () => {
    await workers?.dispose();
    programs?.remove();
  });

  async function ask(path: string, init?: RequestInit): Promise<Response> {
    const { fetch } = await workers.getWorker('worker-wait-until');
    return fetch(`http://worker/${path}`, init);
  }

  async function deliver(path: string, id: string): Promise<number> {
    const response = await ask(path, { method: 'POST', ...aDelivery({ event: { id }, at: Date.now() }) });
    await response.text();
    return response.status;
  }

  /** The work that goes on after the response without `waitUntil` begins earlier, so it would end earlier. */
  async function onlyEndsWith(name: string): Promise<number[]> {
    const statuses = [
      await deliver(`without/${name}`, `evt_${name}_without`),
      await deliver(`with/${name}`, `evt_${name}_with`),
    ];
    const ended = async () => (await (await ask('')).json()) as string[];
    await vi.waitFor(async () => expect(await ended()).toContain(`evt_${name}_with`), PATIENTLY);
    expect(await ended()).not.toContain(`evt_${name}_without`);
    return statuses;
  }

  it('a handler that is past its deadline completes its event with waitUntil, and is stopped without it', async () => {
    expect(await onlyEndsWith('late')).toEqual([503, 503]);
    await vi.waitFor(async () => expect(await deliver('with/late', 'evt_late_with')).toBe(200), PATIENTLY);
    expect(await deliver('without/late', 'evt_late_without')).toBe(409);
  });

  it('a promise of the observer resolves with waitUntil, and is stopped without it', async () => {
    expect(await onlyEndsWith('observed')).toEqual([200, 200]);
  });

  it.each(['with', 'without'])('the Response of a route completes its event %s waitUntil', async (platform) => {
    expect(await deliver(`${platform}/routed`, `evt_routed_${platform}`)).toBe(200);
    const again = await ask(`${platform}/routed`, {
      method: 'POST',
      ...aDelivery({ event: { id: `evt_routed_${platform}` }, at: Date.now() }),
    });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });
});
