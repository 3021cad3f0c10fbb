import { setMaxListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { type Examined, examine } from '../../../src/commands/doctor/examine.js';
import { acknowledged } from '../../../src/commands/doctor/judge.js';
import { PROBES, type Probe } from '../../../src/commands/doctor/probes.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';

/** All that the probes of these names, and more, have found. */
async function examined(url: string, names: readonly string[], ...more: readonly Probe[]): Promise<Examined[]> {
  const wanted = PROBES.filter(({ name }) => names.includes(name));
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // as the program does
  const wire = { url: new URL(url), secret: SECRET, headerPrefix: 'x-service', timeoutMs: 5_000, signal };
  const found: Examined[] = [];
  for await (const one of examine([...wanted, ...more], createRequests(SECRET, 'x-service'), wire)) found.push(one);
  return found;
}

const verdicts = (found: readonly Examined[]) => found.map(({ name, verdict }) => `${name} ${verdict}`);

describe('an examination by doctor', () => {
  it('the other probes are skipped where nothing answers a good delivery', async () => {
    const app = await serveApp((_, req) => req.socket.destroy());
    const found = await examined(app.url, ['good', 'stale', 'burst']);
    expect(verdicts(found)).toEqual(['good failed', 'stale skipped', 'burst skipped']);
    expect(found[0]?.problem).toContain('closed');
  });

  it('a later probe that fails does not stop the rest', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 2 ? 500 : 200).end());
    const found = await examined(app.url, ['good', 'new-type', 'new-version']);
    expect(verdicts(found)).toEqual(['good passed', 'new-type failed', 'new-version passed']);
  });

  it.each([
    [true, [1, 1, 1]],
    [undefined, [1, 2, 3]],
  ] as const)(
    'atOnce decides whether the requests of a probe are sent at the same time: %s',
    async (atOnce, answered) => {
      const app = await serveApp();
      const before: number[] = [];
      const get = () => void before.push(app.got.length);
      const watched = (delivery: object) =>
        Object.defineProperty({ ...delivery }, 'slowMs', { enumerable: true, get }) as ReturnType<
          Probe['requests']
        >[number];
      const probe: Probe = {
        ...{ group: 'in time', name: 'three', says: 'three', fix: 'Look.', judge: acknowledged },
        requests: ({ good }) => [good(), good(), good()].map(watched),
        ...(atOnce && { atOnce }),
      };
      expect(verdicts(await examined(app.url, ['good'], probe))).toEqual(['good passed', 'three passed']);
      expect(before).toEqual(answered);
    },
  );

  it('each probe has its duration, and requests have the header names of the service', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(5_000);
    const app = await serveApp();
    expect((await examined(app.url, ['good', 'new-type'])).map(({ ms }) => ms)).toEqual([0, 0]);
    expect(app.got[0]?.rawHeaders).toContain('X-Service-Signature-V2');
  });
});

describe('the advice of doctor about a good delivery', () => {
  it.each([
    [401, 'signature_mismatch', 'other_secret', /Compare the secret/],
    [503, 'store_unavailable', 'store_unavailable', /store failed/],
    [418, undefined, 'unclear', /log of the app/],
  ])('a refusal with %s %s is diagnosed as %s', async (status, code, diagnosis, says) => {
    const app = await serveApp((_, __, res) => res.writeHead(status).end(JSON.stringify({ error: { code } })));
    const [gate] = await examined(app.url, ['good']);
    expect(gate).toMatchObject({ diagnosis, fix: expect.stringMatching(says) });
  });

  it('a missing answer has the reason of the connection', async () => {
    const app = await serveApp((_, req) => req.socket.destroy());
    const [gate] = await examined(app.url, ['good']);
    expect(gate).toMatchObject({ diagnosis: 'no_answer', fix: expect.stringContaining('closed without an answer') });
  });
});
