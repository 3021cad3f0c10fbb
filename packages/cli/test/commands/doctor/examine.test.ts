import { setMaxListeners } from 'node:events';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it, vi } from 'vitest';
import { serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { diagnose, type Examined, examine } from '../../../src/commands/doctor/examine.js';
import { acknowledged } from '../../../src/commands/doctor/judge.js';
import { PROBES, type Probe } from '../../../src/commands/doctor/probes.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';
import type { SendResult } from '../../../src/http/deliver.js';
import { brokenReceivers } from '../../broken-receivers.js';

/** These take their time, on purpose. */
const SLOW = ['slow-body', 'broken-off'];

/** All that was found, by the probes of these names; all but those that take their time. */
async function examined(url: string, names?: readonly string[], more: readonly Probe[] = []): Promise<Examined[]> {
  const wanted = PROBES.filter(({ name }) => (names ? names.includes(name) : !SLOW.includes(name)));
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // as the program does
  const wire = { url: new URL(url), timeoutMs: 5_000, signal };
  const found: Examined[] = [];
  for await (const one of examine([...wanted, ...more], createRequests(SECRET, 'x-service'), wire)) found.push(one);
  return found;
}

const verdicts = (found: readonly Examined[]) => Object.fromEntries(found.map(({ name, verdict }) => [name, verdict]));
const all = (names: readonly string[], verdict: string) => Object.fromEntries(names.map((name) => [name, verdict]));

describe('an examination', () => {
  it('an examination finds nothing wrong with a receiver of this library', async () => {
    const { url } = await serveListener(webhookHandler(createReceiver({ secret: SECRET, on: { '*': () => {} } })));
    const found = await examined(url);
    expect(found).toHaveLength(PROBES.length - SLOW.length);
    expect(found.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    expect(found[0]).toEqual({
      ...{ group: 'accepts', name: 'good', says: PROBES[0]?.says, fix: PROBES[0]?.fix, verdict: 'passed' },
      ...{ evidence: expect.stringContaining('200'), ms: expect.toSatisfy(Number.isInteger) },
    });
  });

  it.each(brokenReceivers.filter(({ failed }) => !failed.includes('broken-off')))(
    'finds what is wrong with a receiver that $name',
    async ({ create, failed, warned = [] }: (typeof brokenReceivers)[number]) => {
      const { url } = await serveListener(create());
      const names = ['good', ...failed.filter((name) => name !== 'good'), ...warned];
      const passed = failed.includes('good') ? 'failed' : 'passed';
      expect(verdicts(await examined(url, names))).toEqual({
        ...all(names, 'failed'),
        ...all(warned, 'warned'),
        good: passed,
      });
    },
  );

  it('an examination skips the rest where the first is not passed, and sends nothing more', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(500).end());
    const found = await examined(app.url, ['good', 'stale', 'burst']);
    expect(verdicts(found)).toEqual({ good: 'failed', stale: 'skipped', burst: 'skipped' });
    expect(found[1]?.evidence).toContain('while a good delivery is not accepted');
    expect(app.got).toHaveLength(2); // the good delivery, and one in compact JSON to find the cause
  });

  it('an examination goes on where another than the first is failed', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 2 ? 500 : 200).end());
    const found = await examined(app.url, ['good', 'new-type', 'new-version']);
    expect(verdicts(found)).toEqual({ good: 'passed', 'new-type': 'failed', 'new-version': 'passed' });
  });

  it('an examination ends where nothing answers', async () => {
    const app = await serveApp((_, req) => req.socket.destroy());
    const [good, ...others] = await examined(app.url);
    expect(good).toMatchObject({ verdict: 'failed', problem: expect.stringContaining('closed') });
    expect(others.every(({ verdict }) => verdict === 'skipped')).toBe(true);
  });

  it('an examination goes on where nothing answers to another than the first', async () => {
    const app = await serveApp((_, req, res) => (app.got.length === 1 ? res.end() : req.socket.destroy()));
    expect(verdicts(await examined(app.url, ['good', 'new-type']))).toEqual({ good: 'passed', 'new-type': 'failed' });
  });

  it.each([
    [true, [1, 1, 1]],
    [undefined, [1, 2, 3]],
  ] as const)('sends the requests of a probe at once where it says so: %s', async (atOnce, answered) => {
    const app = await serveApp();
    const before: number[] = [];
    const watched = (delivery: object) =>
      Object.defineProperty({ ...delivery }, 'slowMs', {
        enumerable: true,
        get: () => void before.push(app.got.length),
      }) as ReturnType<Probe['requests']>[number];
    const probe: Probe = {
      ...{ group: 'in time', name: 'three', says: 'three', fix: 'Look.', judge: acknowledged },
      requests: ({ good }) => [good(), good(), good()].map(watched),
      ...(atOnce && { atOnce }),
    };
    expect(verdicts(await examined(app.url, ['good'], [probe]))).toEqual({ good: 'passed', three: 'passed' });
    expect(before).toEqual(answered);
  });

  it('an examination says how long each probe took', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(5_000);
    const app = await serveApp();
    expect((await examined(app.url, ['good', 'new-type'])).map(({ ms }) => ms)).toEqual([0, 0]);
  });

  it('an examination sends names of headers as the service writes them', async () => {
    const app = await serveApp();
    await examined(app.url, ['good']);
    expect(app.got[0]?.rawHeaders).toContain('X-Service-Signature-V2');
  });
});

const url = new URL('http://127.0.0.1:3000/');
const answer = (status: number, code?: string, headers: Record<string, string> = {}): SendResult => ({
  ...{ status, headers, ms: 1 },
  body: code === undefined ? '' : JSON.stringify({ error: { code } }),
});

describe('the cause of a refused good delivery', () => {
  it.each<[why: string, good: SendResult, says: RegExp]>([
    ['a 404 asks about the path', answer(404), /no route for POST \/\. .*3000\/webhooks/],
    ['a redirect asks for the final URL', answer(302, undefined, { location: '/login' }), /final URL: \/login/],
    ['a 500 points at the log of the app', answer(500), /log of the app/],
    ['a failed handler points at its cause', answer(500, 'handler_failed'), /handler failed.*error\.cause/],
    ['a store that is down points at the store', answer(503, 'store_unavailable'), /store failed/],
    ['a body parser is named where the receiver names it', answer(500, 'body_already_parsed'), /parser ran first/],
    ['a missing header asks for the prefix', answer(401, 'missing_signature'), /headerPrefix/],
    ['a body that is too large asks for the limit', answer(413), /body limit/],
    ['a plain 401 asks for the secret', answer(401), /Compare the secret/],
    ['a mismatch asks for the secret', answer(401, 'signature_mismatch'), /Compare the secret/],
    ['no answer says so', { problem: 'nothing listens there', ms: 1 }, /nothing listens there/],
    ['an answer that says nothing points at the log', answer(418), /log of the endpoint/],
  ])('%s', (_, good, says) => {
    const { fix } = diagnose(good, good, url);
    expect(fix).toMatch(says);
    expect(fix).not.toContain('parser runs before');
  });

  it('a body that is parsed and written again shows where compact JSON is accepted', () => {
    const { diagnosis, fix } = diagnose(answer(401, 'signature_mismatch'), answer(200), url);
    expect([diagnosis, fix]).toEqual(['parsed_body', expect.stringContaining('Verify the raw body')]);
  });
});
