import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

describe('doctor', () => {
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

  it('a receiver that is created inside the route fails, and the text has the cause and the fix once', async () => {
    const { url } = await serveListener((req, res) =>
      webhookHandler({ secret: SECRET, on: { '*': () => {} } })(req, res),
    );
    const { exitCode, stdout } = await doctor(url, '--text', '--only', 'duplicate,same-moment');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'the handler ran 2 times for one event, as the answers say\n   Likely cause: the receiver is',
    );
    expect(stdout).toContain(
      'or it has dedupe: false.\n   Create the receiver once, when the app starts, and leave dedupe',
    );
    expect(stdout).toContain('the same store: dedupe: { store, name }.\n');
    expect(stdout).toContain('the handler ran 5 times for one event, as the answers say\n   As above.\n');
    expect(stdout).toMatch(/\n1 passed, 2 failed\n$/);
  });

  it('--type sends events of the type that the app handles', async () => {
    const { url } = await serveListener(
      webhookHandler({ secret: SECRET, dedupe: false, on: { 'stt.completed': () => {} } }),
    );
    const ofAnother = await doctor(url, '--only', 'duplicate');
    expect([ofAnother.exitCode, ofAnother.named('unknown')]).toEqual([0, ['duplicate']]);
    expect(ofAnother.records[1]).toMatchObject({ diagnosis: 'no_handler', fix: expect.stringContaining('--type') });
    const ofThatType = await doctor(url, '--only', 'duplicate', '--type', 'stt.completed');
    expect([ofThatType.exitCode, ofThatType.named('failed')]).toEqual([1, ['duplicate']]);
    expect(ofThatType.records[1]).toMatchObject({ diagnosis: 'handled_twice' });
  });

  it('the text points at --observer where the answers do not say enough', async () => {
    const app = await serveApp();
    const { stdout } = await doctor(app.url, '--text', '--only', 'duplicate');
    expect(stdout).toMatch(
      /1 passed, 0 failed {2}1 cannot be seen from outside\nTo see them: --observer, with a command/,
    );
  });

  it('a broken observer ends doctor before the first delivery, with exit code 2, also in the report', async () => {
    const app = await serveApp();
    const { exitCode, stdout, stderr } = await doctor(app.url, '--observer', 'echo hello', '--junit', 'doctor.xml');
    expect([exitCode, stdout, app.got.length]).toEqual([2, '', 0]);
    expect(stderr).toMatch(
      /^service-webhooks: --observer: the command printed "hello"\. .+ The command: echo hello\n$/,
    );
    const xml = readFileSync(join(cli.cwd, 'doctor.xml'), 'utf8');
    expect(xml).toContain('errors="1"');
    expect(xml).toContain('<error message="--observer: the command printed &quot;hello&quot;');
  });

  it('an observer that breaks later ends doctor with exit code 2, and what was found before is in the report', async () => {
    const app = await serveApp();
    const state = join(cli.cwd, 'state');
    const command = `test -e ${state} && exit 1; touch ${state}; echo 1`;
    const { exitCode, records, stderr } = await doctor(app.url, '--observer', command, '--junit', 'doctor.xml');
    expect([exitCode, records.at(-1)]).toMatchObject([2, { kind: 'probe', name: 'large-forgery' }]);
    expect(stderr).toContain('--observer: the command ended with exit code 1, and printed nothing.');
    const xml = readFileSync(join(cli.cwd, 'doctor.xml'), 'utf8');
    expect(xml).toMatch(/name="good: .+\n.*name="every-type: [\s\S]+<error message="--observer: the command ended/);
  });

  it('an observer that does not end is ended after --timeout', async () => {
    const app = await serveApp();
    const { exitCode, stderr } = await doctor(app.url, '--observer', 'sleep 600', '--timeout', '500ms');
    expect([exitCode, app.got.length]).toEqual([2, 0]);
    expect(stderr).toContain('the command did not end within 0.5 s, and printed nothing.');
  });

  it('a blank observer is refused', async () => {
    const { exitCode, stderr } = await doctor('3000', '--observer', '  ');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('It takes a command that prints a number.')]);
  });

  it.each(['.env', '.env.local', '.dev.vars'])(
    'the observer has the environment of the shell, and nothing from %s',
    async (file) => {
      const app = await serveApp();
      writeFileSync(join(cli.cwd, file), `WEBHOOK_SECRET=${SECRET}\nSERVICE_API_KEY=sk_from_the_file\n`);
      const run = (env: Record<string, string | undefined>) =>
        cli.run(['doctor', app.url, '--only', 'stale', '--observer', 'env | grep -E "SECRET|KEY|SHOWN"'], { env });
      const { stderr } = await run({ WEBHOOK_SECRET: undefined, SHOWN: 'yes' });
      expect(stderr).toContain('the command printed "SHOWN=yes". It must');
      const ofShell = await run({ SHOWN: 'yes' });
      expect(ofShell.stderr).toContain('WEBHOOK_SECRET=[secret]');
      expect(stderr + ofShell.stderr).not.toMatch(new RegExp(`${SECRET}|sk_from_the_file`));
    },
  );

  it('Ctrl+C ends an observer that runs', async () => {
    const started = join(cli.cwd, 'started');
    const app = await serveApp();
    const { signal, ended } = cli.start(['doctor', app.url, '--observer', `touch ${started}; sleep 600`]);
    await expect.poll(() => existsSync(started)).toBe(true);
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, stdout: '' });
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
        /^ {4}<testcase classname="accepts" name="good: a good delivery, .+"><failure message="answered 400 &lt;&amp;&quot;\\u0007">Your app refuses every path .+ compare its secret .+<\/failure><\/testcase>$/,
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
