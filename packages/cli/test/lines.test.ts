import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { webhookHandler } from 'service-webhooks/node';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { json, serveApi } from '../../../test/client/serve-api.js';
import { serveApp, serveListener } from '../../../test/support/app.js';
import { aDelivery, NOW, SECRET } from '../../../test/support/deliveries.js';
import { shownBy } from './support/terminal.js';

const AT = new Date(NOW).toISOString();

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lines-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

/** A captured delivery of `secret`, as a file of that name. */
function capture(name: string, { secret = SECRET, more = '' } = {}): string {
  const { headers, body } = aDelivery({ secret });
  const lines = Object.entries(headers).map((pair) => pair.join(': '));
  const file = join(directory, name);
  writeFileSync(file, `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}${more}`);
  return file;
}

/** Without what is different each time. */
const steady = (text: string) => text.replaceAll(/\d+ ms/g, '0 ms').replaceAll(/evt_[0-9a-f]{8,}/g, 'evt_0');

describe('what commands print on a terminal', () => {
  it('verify shows a genuine delivery in one line', async () => {
    const { stdout } = await shownBy(['verify', capture('d.http')]);
    expect(stdout).toBe(`<good:verified>  v2  stt.completed  evt_1  signed ${AT}\n`);
  });

  it('verify shows in one line why a delivery is refused, and how to learn more', async () => {
    const { stdout } = await shownBy(['verify', capture('d.http', { more: ' ' })]);
    expect(stdout).toMatch(
      /^<bad:signature_mismatch> {2}The signature does not match: [^\n]+ {2}[A-Z][^\n]+ {2}<faint:More: npx service-webhooks-cli explain>\n$/,
    );
  });

  it('explain shows each cause with its certainty, and below what to do', async () => {
    const { stdout } = await shownBy(['explain', capture('d.http', { more: '\n' })]);
    expect(stdout).toMatch(
      /^<bad:signature_mismatch> {2}<faint:as of 2026-07-11T12:00:00\.000Z>\n<bad:certain> {2}<strong:newline_added> {2}\S[^\n]+\n {2}\S[^\n]+\n$/,
    );
    const late = await shownBy(['explain', capture('d.http')], { now: () => NOW + 3_600_000 });
    expect(late.stdout).toMatch(/\n<warn:likely> {2}<strong:old_delivery>[^\n]+\n {2}[^\n]+--at signed/);
    const other = await shownBy(['explain', capture('d.http', { secret: 'another' })]);
    expect(other.stdout).toMatch(/\n<faint:possible> {2}<strong:\w+>/);
  });

  it('explain shows that a capture verifies at the time when it came', async () => {
    const { stdout } = await shownBy(['explain', capture('20260711T120000.000Z-7f3a9c01.http')], { now: () => 0 });
    expect(stdout).toBe(
      `<good:It verifies>  <faint:when it was captured ${AT}>\n` +
        'An app that refuses this delivery refuses a good one:  npx service-webhooks-cli doctor 3000/hook\n',
    );
  });

  it('sign shows a line for each header', async () => {
    writeFileSync(join(directory, 'body'), '{}');
    const { stdout } = await shownBy(['sign', join(directory, 'body')]);
    expect(stdout).toMatch(/^X-Service-Signature-V2: t=1783771200,v1=\w+\nX-Service-Signature: sha256=\w+\n$/);
  });

  it('send shows in one line what was sent and what was answered', async () => {
    const { url } = await serveApp();
    const { stdout, stderr } = await shownBy(['send', 'stt.failed', url, '--set', 'id=evt_1']);
    expect(steady(stdout)).toBe(`<good:200>  acknowledged  <faint:0 ms>  stt.failed  evt_1  ${url}/\n`);
    expect(stderr).toBe('');
  });

  it.each([[['--no-color', 'send', 'stt.failed']], [['send', 'stt.failed', '--no-color']]])(
    '%j prints no colours',
    async ([...args]) => {
      const { url } = await serveApp();
      const { stdout } = await shownBy([...args, url]);
      expect(stdout).toMatch(/^200 {2}acknowledged {2}/);
    },
  );

  it('send --count draws a bar meanwhile, and shows a summary alone', async () => {
    const { url } = await serveApp();
    const { stdout, stderr } = await shownBy(['send', 'stt.failed', url, '--count', '2']);
    expect(stdout).toMatch(
      /^<good:2 of 2 acknowledged> {2}<faint:in [\d.]+ s>\n {2}200 {2}2 times\n<faint:[^\n]*median[^\n]*>\n$/,
    );
    expect(stderr).toMatch(/█.* 2 of 2\r\S\[K$/s);
    const records = await shownBy(['--json', 'send', 'stt.failed', url, '--count', '2']);
    expect(records.stderr).toBe('');
  });

  it('replay shows in one line what was sent again, and how', async () => {
    const { url } = await serveApp();
    const file = capture('d.http');
    const anew = await shownBy(['replay', file, url]);
    expect(steady(anew.stdout)).toBe(`<good:200>  acknowledged  <faint:0 ms>  signed again  ${file}  ${url}/hook\n`);
    const exact = await shownBy(['replay', file, url, '--exact']);
    expect(steady(exact.stdout)).toBe(`<good:200>  acknowledged  <faint:0 ms>  as captured  ${file}  ${url}/hook\n`);
  });

  it('doctor shows a line for each probe, the fix of a failure, and the counts', async () => {
    const { url } = await serveApp();
    const { exitCode, stdout } = await shownBy(['doctor', url, '--only', 'wrong-secret,duplicate']);
    expect(exitCode).toBe(1);
    expect(steady(stdout).split('\n')).toEqual([
      expect.stringMatching(/^<good:✓> {2}accepts {7}good {16}a good delivery, .+ {2}<faint:.+>$/),
      expect.stringMatching(/^<bad:✗> {2}refuses {7}wrong-secret {8}\S.+ {2}<faint:answered 200: it was accepted>$/),
      expect.stringMatching(/^ {3}Verify the V2 signature/),
      expect.stringMatching(/^<warn:\?> {2}deduplicates {2}duplicate {11}\S.+ {2}<faint:acknowledged, but .+>$/),
      '<bad:1 passed, 1 failed>  1 cannot be seen from outside',
      expect.stringMatching(/^To see them: --observer/),
      '',
    ]);
  });

  it('doctor shows that nothing is wrong, or what could not be asked', async () => {
    const good = await serveListener(webhookHandler({ secret: SECRET, on: { '*': () => {} } }));
    const { exitCode, stdout } = await shownBy(['doctor', good.url, '--only', 'stale']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\n<good:✓> {2}refuses .+\n<good:2 passed, 0 failed>\n$/);
    const bad = await serveListener((_, res) => res.writeHead(500).end());
    const refused = await shownBy(['doctor', bad.url, '--only', 'stale']);
    expect(refused.stdout).toMatch(
      /\n<faint:-> {2}1 other probes? .+\n<bad:0 passed, 1 failed>\n<strong:Fix first:> {2}The app failed\. .+\n$/,
    );
  });

  it('listen shows at its end the number of requests, and where they are kept', async () => {
    const until = /Listening/;
    const { exitCode, stdout } = await shownBy(['listen', '--port', '0'], { until });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^<strong:Listening on http:\S+>\n0 requests\n$/);
    const kept = await shownBy(['listen', '--port', '0', `--capture=${directory}`], { until });
    expect(kept.stdout).toMatch(new RegExp(`\n0 requests {2}kept in ${directory}\n$`));
  });
});

describe('what account commands print on a terminal', () => {
  const ENDPOINT = { id: 'wh_1', url: 'https://app.example/', events: ['stt.failed', 'stt.completed'] };

  /** The lines of a command whose calls are answered with these, one after the other. */
  async function shown(args: readonly string[], ...replies: ReturnType<typeof json>[]) {
    const api = await serveApi();
    onTestFinished(() => api.close());
    api.replies.push(...replies);
    const { exitCode, stdout } = await shownBy(args, { env: { SERVICE_API_KEY: 'acct_1', SERVICE_URL: api.url } });
    expect(exitCode).toBe(0);
    return stdout;
  }

  it('endpoints list prints a line for each endpoint', async () => {
    expect(await shown(['endpoints', 'list'], json({ list: [ENDPOINT] }))).toBe(
      '<strong:wh_1>  https://app.example/  stt.failed, stt.completed\n',
    );
  });

  it('endpoints ensure prints a line, with the secret file of a new endpoint', async () => {
    const file = join(directory, 'secret.txt');
    const ensure = ['endpoints', 'ensure', ENDPOINT.url, '--events', 'stt.failed,stt.completed', '--save-secret', file];
    const made = json({ list: [ENDPOINT], signing_secret: 'whsec_1' });
    expect(await shown(ensure, json({ list: [] }), made)).toBe(
      `<good:created>  wh_1  https://app.example/  signing secret in ${file}\n`,
    );
    expect(await shown(ensure, json({ list: [ENDPOINT] }))).toBe('<good:unchanged>  wh_1  https://app.example/\n');
  });

  it('endpoints update and delete print a line', async () => {
    expect(await shown(['endpoints', 'update', 'wh_1', '--url', ENDPOINT.url])).toBe(
      '<good:updated>  wh_1  https://app.example/\n',
    );
    expect(await shown(['endpoints', 'delete', 'wh_1', '--yes'])).toBe('<good:deleted>  wh_1\n');
  });

  it('limits prints lines for the plan, the credits, the requests and the usage', async () => {
    const data = {
      plan: { type: 'FREE', name: 'Free', api_access: false },
      credits: { remaining: 1, monthly_allocation: 2 },
      limits: {
        ...{ daily_requests_used: 1, daily_requests_remaining: 3, daily_request_limit: 4 },
        ...{ rate_limit_per_minute: 5, max_keys_per_account: 6 },
      },
    };
    const lines = [
      'credits  1 of 2 a month',
      'requests  3 of 4 left today',
      'rate  5 a minute',
      'keys  6 at most',
      '',
    ].join('\n');
    const sandbox = json(data, 200, { 'x-service-sandbox': 'true' });
    const usage = json({ credits: { used: 1 } });
    const usageLines = 'usage  {"credits":{"used":1}}\n';
    expect(await shown(['limits'], sandbox, usage)).toBe(
      `<strong:Free>  without API access  sandbox key\n${lines}${usageLines}`,
    );
    const live = json({ ...data, plan: { ...data.plan, api_access: true } });
    const refused = json({ error: { type: 'permission_error', code: 'insufficient_scope', message: 'no' } }, 403);
    expect(await shown(['limits'], live, refused)).toBe(
      `<strong:Free>  with API access\n${lines}<warn:no usage>  The usage was not read, for which the key needs analytics:read: the service says no: insufficient_scope: no\n`,
    );
  });
});

describe('help on a terminal', () => {
  const widest = (text: string) =>
    Math.max(
      ...(text
        .split('\n\nExamples:')[0]
        ?.split('\n')
        .map(({ length }) => length) ?? []),
    );

  it('the help is as wide as the terminal', async () => {
    const narrow = await shownBy(['send', '--help'], { columns: 80 });
    expect(widest(narrow.stdout)).toBeLessThanOrEqual(80);
    const wide = await shownBy(['send', '--help'], { columns: 140 });
    expect(widest(wide.stdout)).toBeGreaterThan(110);
    const missing = await shownBy([], { columns: 80 });
    expect(widest(missing.stderr)).toBeLessThanOrEqual(80);
  });

  it('the help has a hundred columns where the width is unknown', async () => {
    const { stdout } = await shownBy(['send', '--help']);
    expect(widest(stdout)).toBeLessThanOrEqual(100);
    expect(widest(stdout)).toBeGreaterThan(90);
  });
});
