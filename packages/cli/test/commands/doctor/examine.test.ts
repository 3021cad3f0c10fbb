import { setMaxListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { diagnose, type Examined, examine } from '../../../src/commands/doctor/examine.js';
import { acknowledged } from '../../../src/commands/doctor/judge.js';
import { PROBES, type Probe } from '../../../src/commands/doctor/probes.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';
import type { SendResult } from '../../../src/http/deliver.js';

/** All that the probes of these names, and more, have found. */
async function examined(url: string, names: readonly string[], ...more: readonly Probe[]): Promise<Examined[]> {
  const wanted = PROBES.filter(({ name }) => names.includes(name));
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // as the program does
  const wire = { url: new URL(url), timeoutMs: 5_000, signal };
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

const url = new URL('http://127.0.0.1:3000/');
const answer = (status: number, code?: string, headers: Record<string, string> = {}): SendResult => ({
  ...{ status, headers, ms: 1 },
  body: code === undefined ? '' : JSON.stringify({ error: { code } }),
});

describe('the advice of doctor about a refused good delivery', () => {
  it.each<[why: string, good: SendResult, says: RegExp]>([
    ['a 404 asks about the path', answer(404), /no route for POST at http:\/\/127\.0\.0\.1:3000\/\. .*3000\/webhooks/],
    ['a redirect asks for the final URL', answer(302, undefined, { location: '/login' }), /final URL: \/login/],
    ['a 500 points at the log of the app', answer(500), /log of the app/],
    ['a failed handler points at its cause', answer(500, 'handler_failed'), /handler failed.*error\.cause/],
    ['a store that is down points at the store', answer(503, 'store_unavailable'), /store failed/],
    ['a body parser is named where the receiver names it', answer(500, 'body_already_parsed'), /parser ran first/],
    ['a missing header asks for the prefix', answer(401, 'missing_signature'), /headerPrefix/],
    ['a body that is too large asks for the limit', answer(413), /body limit/],
    ['a plain 401 asks for the secret', answer(401), /Compare the secret/],
    ['a mismatch asks for the secret', answer(401, 'signature_mismatch'), /Compare the secret/],
    [
      'no answer gives the reason of the connection',
      { problem: 'nothing listens there', ms: 1 },
      /nothing listens there/,
    ],
    ['an unknown status points at the log of the endpoint', answer(418), /log of the endpoint/],
  ])('%s', (_, good, says) => {
    const { fix } = diagnose(good, good, url);
    expect(fix).toMatch(says);
    expect(fix).not.toContain('parser runs before');
  });

  it('a body parser is the cause where compact JSON is accepted', () => {
    const { diagnosis, fix } = diagnose(answer(401, 'signature_mismatch'), answer(200), url);
    expect([diagnosis, fix]).toEqual(['parsed_body', expect.stringContaining('Verify the raw body')]);
  });
});
