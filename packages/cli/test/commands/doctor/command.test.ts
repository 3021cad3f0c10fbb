import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReceiver, verify, type WebhookError } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it } from 'vitest';
import { serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { brokenReceivers } from '../../broken-receivers.js';
import { useCli } from '../../support/cli.js';
import { serveSilence } from '../support.js';

const cli = useCli();
const good = () => serveListener(webhookHandler(createReceiver({ secret: SECRET, on: { '*': () => {} } })));

async function doctor(url: string, ...options: string[]) {
  const ended = await cli.run(['doctor', url, ...options]);
  const named = (verdict: string) =>
    ended.records.filter((record) => record['verdict'] === verdict).map(({ name }) => name as string);
  return { ...ended, named, summary: ended.records.at(-1) };
}

describe('doctor', { timeout: 30_000 }, () => {
  it('a receiver of this library passes every probe', async () => {
    const { url } = await good();
    const { exitCode, summary, named, records } = await doctor(`${url}/hook`);
    expect(named('failed')).toEqual([]);
    expect(named('unknown')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(summary).toEqual({ kind: 'summary', passed: 31, failed: 0, warned: 0, unknown: 0, skipped: 0 });
    expect(records[0]).toMatchObject({
      ...{ kind: 'probe', group: 'accepts', name: 'good', verdict: 'passed', fix: expect.any(String) },
      ...{ evidence: expect.stringContaining('200'), ms: expect.toSatisfy(Number.isInteger) },
    });
  });

  it.each(brokenReceivers)(
    'a receiver that $name fails exactly the probes for that mistake',
    async ({ create, failed, warned = [] }) => {
      const { url } = await serveListener(create());
      const { exitCode, named } = await doctor(url, '--skip', 'slow-body');
      expect(named('failed')).toEqual(failed);
      expect(named('warned')).toEqual(warned);
      expect(exitCode).toBe(failed.length > 0 ? 1 : 0);
    },
  );

  it('the other probes are skipped where a good delivery is refused', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end('{"error":{"code":"signature_mismatch"}}'));
    const { exitCode, records } = await doctor(app.url, '--only', 'stale,burst');
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([
      { name: 'good', verdict: 'failed', evidence: 'answered 401 signature_mismatch' },
      { name: 'stale', verdict: 'skipped', evidence: expect.stringContaining('a good delivery is not accepted') },
      { name: 'burst', verdict: 'skipped' },
      { kind: 'summary', failed: 1, skipped: 2 },
    ]);
    expect(app.got).toHaveLength(2); // the good delivery, and one in compact JSON to find the cause
  });

  it('the probe burst fails where the endpoint limits the rate of requests', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length > 10 ? 429 : 200).end());
    const { named, records } = await doctor(app.url, '--only', 'burst');
    expect(named('failed')).toEqual(['burst']);
    expect(records[1]).toMatchObject({ evidence: 'answered 429' });
  });

  it('the verdict on duplicates is unknown where the answers do not mark them', async () => {
    const app = await serveApp(({ headers, body }, _, res) => {
      try {
        verify({ headers, body, secret: SECRET });
        res.end();
      } catch (error) {
        res.writeHead((error as WebhookError).status).end();
      }
    });
    const { exitCode, named } = await doctor(app.url, '--skip', 'large,large-forgery');
    expect(named('unknown')).toEqual(['duplicate', 'duplicate-new-key', 'same-moment']);
    expect(named('failed')).toEqual([]);
    expect(exitCode).toBe(0);
  });

  it('--junit writes a report for CI', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(400).end('<&"\u0007'));
    await doctor(app.url, '--junit', 'doctor.xml', '--only', 'stale');
    const xml = readFileSync(join(cli.cwd, 'doctor.xml'), 'utf8');
    expect(xml.replaceAll(/time="[\d.]+"/g, 'time="0"').split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites>',
      '  <testsuite name="service-webhooks doctor" tests="2" failures="1" errors="0" skipped="1" time="0">',
      expect.stringMatching(
        /^ {4}<testcase classname="accepts" name="good: a good delivery, .+"><failure message="answered 400 &lt;&amp;&quot;\\u0007">Compare the secret .+<\/failure><\/testcase>$/,
      ),
      expect.stringMatching(
        /^ {4}<testcase classname="refuses" name="stale: .+"><skipped message="[^"]+"\/><\/testcase>$/,
      ),
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('the text has a line for each probe, and what to do about a failed one', async () => {
    const app = await serveApp();
    const { stdout } = await doctor(app.url, '--text', '--only', 'wrong-secret');
    expect(stdout).toMatch(/^✓ {2}accepts {7}good /);
    expect(stdout).toContain('✗  refuses       wrong-secret');
    expect(stdout).toContain('answered 200: it was accepted\n   Verify the V2 signature of every request');
    expect(stdout).toMatch(/1 passed, 1 failed\n$/);
  });

  it('--header-prefix sets the prefix of the headers that are sent', async () => {
    const headerPrefix = 'x-vendor';
    const { url } = await serveListener(webhookHandler({ secret: SECRET, headerPrefix, on: { '*': () => {} } }));
    const { exitCode, summary } = await doctor(url, '--only', 'stale', '--header-prefix', headerPrefix);
    expect(exitCode).toBe(0);
    expect(summary).toEqual({ kind: 'summary', passed: 2, failed: 0, warned: 0, unknown: 0, skipped: 0 });
  });

  it('Ctrl+C ends the examination at once', async () => {
    const { url, asked } = await serveSilence();
    const { signal, ended } = cli.start(['doctor', url]);
    await asked;
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' });
  });

  it('--timeout limits the wait for an answer', async () => {
    const app = await serveApp((_, __, res) => void (app.got.length === 1 && res.end()));
    const { named, records } = await doctor(app.url, '--only', 'new-type', '--timeout', '500ms');
    expect(named('failed')).toEqual(['new-type']);
    expect(records[1]).toMatchObject({ evidence: 'no answer within 0.5 s' });
  });

  it('the secret is neither sent nor printed', async () => {
    const app = await serveApp();
    const { stdout, stderr } = await doctor(app.url, '--skip', 'large,large-forgery');
    for (const { rawHeaders, body } of app.got) expect(`${rawHeaders}${body}`).not.toContain(SECRET);
    expect(stdout + stderr).not.toContain(SECRET);
  });
});
