import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReceiver, verify, type WebhookError } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it } from 'vitest';
import { serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { brokenReceivers } from '../../broken-receivers.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();
const good = () => serveListener(webhookHandler(createReceiver({ secret: SECRET, on: { '*': () => {} } })));

async function doctor(url: string, ...options: string[]) {
  const ended = await cli.run(['doctor', url, ...options]);
  const named = (verdict: string) =>
    ended.records.filter((record) => record['verdict'] === verdict).map(({ name }) => name as string);
  return { ...ended, named, summary: ended.records.at(-1) };
}

describe('doctor', { timeout: 30_000 }, () => {
  it('doctor finds nothing wrong with a receiver of this library, and says what it tried', async () => {
    const { url } = await good();
    const { exitCode, summary, named, records } = await doctor(`${url}/hook`);
    expect(named('failed')).toEqual([]);
    expect(named('unknown')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(summary).toEqual({ kind: 'summary', passed: 31, failed: 0, warned: 0, unknown: 0, skipped: 0 });
    expect(records[0]).toMatchObject({
      kind: 'probe',
      group: 'accepts',
      name: 'good',
      verdict: 'passed',
      fix: expect.any(String),
    });
  });

  it.each(brokenReceivers)(
    'names what is wrong with a receiver that $name',
    async ({ create, failed, warned = [] }) => {
      const { url } = await serveListener(create());
      const { exitCode, named } = await doctor(url, '--skip', 'slow-body');
      expect(named('failed')).toEqual(failed);
      expect(named('warned')).toEqual(warned);
      expect(exitCode).toBe(failed.length > 0 ? 1 : 0);
    },
  );

  it('doctor says nothing about the rest where a good delivery is refused', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(401).end('{"error":{"code":"signature_mismatch"}}'));
    const { exitCode, records, summary } = await doctor(app.url, '--only', 'stale,burst');
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([
      { name: 'good', verdict: 'failed', evidence: 'answered 401 signature_mismatch' },
      { name: 'stale', verdict: 'skipped' },
      { name: 'burst', verdict: 'skipped' },
      { kind: 'summary', failed: 1, skipped: 2 },
    ]);
    expect(summary).toBeDefined();
    expect(app.got).toHaveLength(2);
  });

  it('doctor names a limit of requests that a burst runs into', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length > 10 ? 429 : 200).end());
    const { named, records } = await doctor(app.url, '--only', 'burst');
    expect(named('failed')).toEqual(['burst']);
    expect(records[1]).toMatchObject({ evidence: 'answered 429' });
  });

  it('doctor does not take silence about duplicates for a proof of anything', async () => {
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

  it('doctor writes a report for CI', async () => {
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

  it('doctor prints a line for each probe, and what to do about those that fail', async () => {
    const app = await serveApp();
    const { stdout } = await doctor(app.url, '--text', '--only', 'wrong-secret');
    expect(stdout).toMatch(/^✓ {2}accepts {7}good /);
    expect(stdout).toContain('✗  refuses       wrong-secret');
    expect(stdout).toContain('answered 200: it was accepted\n   Verify the V2 signature of every request');
    expect(stdout).toMatch(/1 passed, 1 failed\n$/);
  });

  it('doctor asks with the headers that the endpoint knows', async () => {
    const headerPrefix = 'x-vendor';
    const { url } = await serveListener(webhookHandler({ secret: SECRET, headerPrefix, on: { '*': () => {} } }));
    const { exitCode, summary } = await doctor(url, '--only', 'stale', '--header-prefix', headerPrefix);
    expect(exitCode).toBe(0);
    expect(summary).toEqual({ kind: 'summary', passed: 2, failed: 0, warned: 0, unknown: 0, skipped: 0 });
  });

  it('doctor ends at once with Ctrl+C', async () => {
    let asked = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { url } = await serveListener(() => asked());
    const { signal, ended } = cli.start(['doctor', url]);
    await arrived;
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' });
  });

  it('doctor waits no longer than it was told', async () => {
    let count = 0;
    const { url } = await serveListener((_, res) => {
      count += 1;
      if (count === 1) res.end();
    });
    const { named, records } = await doctor(url, '--only', 'new-type', '--timeout', '500ms');
    expect(named('failed')).toEqual(['new-type']);
    expect(records[1]).toMatchObject({ evidence: 'no answer within 0.5 s' });
  });

  it('doctor never sends the secret, and never says it', async () => {
    const app = await serveApp();
    const { stdout, stderr } = await doctor(app.url, '--skip', 'large,large-forgery');
    for (const { rawHeaders, body } of app.got) expect(`${rawHeaders}${body}`).not.toContain(SECRET);
    expect(stdout + stderr).not.toContain(SECRET);
  });
});
