import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createReceiver, isEvent, verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it } from 'vitest';
import { type Got, serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { serveBytes } from '../../../../../test/support/hostile-app.js';
import { type Fields, useCli } from '../../support/cli.js';
import { failed, serveSilence } from '../support.js';

const cli = useCli();
const receiver = () => serveListener(webhookHandler({ secret: SECRET, on: { '*': () => {} } }));
const verified = ({ headers, body }: Got) => verify({ headers, body, secret: SECRET });

describe('the command send', () => {
  it('the app gets a signed delivery, and its answer is printed', async () => {
    const app = await serveApp();
    const { exitCode, records, stderr } = await cli.run(['send', 'generation.completed', `${app.url}/hook?a=1`]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [got] = app.got as [Got];
    const { event, scheme, unsigned } = verified(got);
    expect(got).toMatchObject({ method: 'POST', path: '/hook?a=1' });
    expect(unsigned).toMatchObject({ attempt: 1, webhookId: 'endpoint_sample' });
    expect(got.rawHeaders).toEqual(expect.arrayContaining(['X-Service-Signature-V2', 'Idempotency-Key']));
    expect({ scheme, isEvent: isEvent(event, 'generation.completed') }).toEqual({ scheme: 'v2', isEvent: true });
    expect(records).toEqual([
      {
        ...{ kind: 'sent', type: 'generation.completed', id: event.id, url: `${app.url}/hook?a=1`, faults: [] },
        ...{ status: 200, acknowledged: true, ms: expect.any(Number), answer: '' },
      },
    ]);
  });

  it('the newest event types have samples', async () => {
    const types = WEBHOOK_EVENT_TYPES.filter((type) => /^(trigger|subtitle)/.test(type)); // of the newest groups
    const app = await serveApp();
    for (const type of types) expect((await cli.run(['send', type, app.url])).exitCode).toBe(0);
    expect(app.got.map((got) => verified(got).event.type)).toEqual(types);
  });

  it('a refused delivery is printed with its error code, and the exit code is 1', async () => {
    const { url } = await receiver();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url], { env: { WEBHOOK_SECRET: 'another' } });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ status: 401, acknowledged: false, code: 'signature_mismatch' }]);
  });

  it('a redirect is not followed, and does not acknowledge', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(301, { location: '/elsewhere' }).end());
    const { exitCode, stdout } = await cli.run(['send', 'stt.completed', app.url, '--text']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('follows no redirect.\n   Use the final URL: /elsewhere\n');
    expect(app.got).toHaveLength(1);
  });

  it('--set sets fields of the event', async () => {
    const app = await serveApp();
    const set = ['data.clipId=clip_7', 'data.durationSec=12.5', 'id=evt_7', 'data.own.tags:=["a",1]', 'data.text=1=2'];
    await cli.run(['send', 'generation.completed', app.url, ...set.flatMap((one) => ['--set', one])]);
    const { event } = verified(app.got[0] as Got);
    expect(event).toMatchObject({
      id: 'evt_7',
      jobId: 'clip_7',
      data: { clipId: 'clip_7', durationSec: 12.5, own: { tags: ['a', 1] }, text: '1=2', feature: 'text-to-speech' },
    });
  });

  it('--body sends the exact bytes, of a file or of stdin', async () => {
    const app = await serveApp();
    const bytes = Buffer.from([0, 13, 10, 0xff]);
    writeFileSync(join(cli.cwd, 'body'), bytes);
    expect((await cli.run(['send', '--body', 'body', app.url])).exitCode).toBe(0);
    expect((await cli.run(['send', 'stt.failed', '--body', '-', app.url], { stdin: bytes })).exitCode).toBe(0);
    for (const { headers, body } of app.got) {
      expect(body).toEqual(bytes);
      // verify decodes the body only when the signature is valid.
      expect(() => verify({ headers, body, secret: SECRET })).toThrow('invalid_encoding');
    }
  });

  it('--body without a URL goes to port 4747, and needs no event type', async () => {
    writeFileSync(join(cli.cwd, 'body'), '{}');
    for (const args of [
      ['--body', 'body'],
      ['stt.failed', '--body', 'body'],
    ]) {
      const { records } = await cli.run(['send', ...args, '--timeout', '50ms']);
      expect(records).toEqual([expect.objectContaining({ kind: 'sent', url: 'http://127.0.0.1:4747/' })]);
      expect(records[0]).not.toHaveProperty('type');
    }
    const ended = await cli.run(['send', 'stt', 'http://localhost', '--body', 'body']);
    expect(ended).toMatchObject(failed(2, 'stt is no event type: generation.completed, generation.failed, '));
  });

  it('--attempt, --webhook-id and --header-prefix set the headers', async () => {
    const app = await serveApp();
    const options = ['--attempt', '3', '--webhook-id', 'endpoint_7', '--header-prefix', 'X-Vendor'];
    await cli.run(['send', 'stt.failed', app.url, ...options]);
    const [got] = app.got as [Got];
    expect(got.headers).toMatchObject({ 'x-vendor-attempt': '3', 'x-vendor-webhook-id': 'endpoint_7' });
    const { headers, body } = got;
    expect(verify({ headers, body, secret: SECRET, headerPrefix: 'x-vendor' }).scheme).toBe('v2');
  });

  it('--count and --concurrency send many events, and a summary ends the output', async () => {
    let most = 0;
    const open: ServerResponse[] = [];
    const app = await serveApp(async (_, __, res) => {
      res.statusCode = app.got.length <= 10 ? 500 : 202;
      open.push(res);
      most = Math.max(most, open.length);
      if (open.length < 4) return;
      await new Promise(setImmediate); // in which one more could come
      for (const one of open.splice(0)) one.end();
    });
    const options = ['--count', '40', '--concurrency', '4'];
    const begun = performance.now();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', app.url, ...options]);
    expect(exitCode).toBe(1);
    const summary = records.at(-2) as { seconds: number };
    expect(summary.seconds).toBeLessThanOrEqual((performance.now() - begun) / 1000);
    expect(new Set(app.got.map((got) => verified(got).event.id)).size).toBe(40);
    expect(most).toBe(4);
    expect(records).toHaveLength(42);
    expect(records.at(-1)).toMatchObject({ kind: 'advice', cause: 'failed', fix: 'Look at the log of the app.' });
    expect(summary).toMatchObject({ kind: 'summary', sent: 40, acknowledged: 30, answers: { 500: 10, 202: 30 } });
  });

  it('Ctrl+C ends a series with the summary of what was sent', async () => {
    const app = await serveApp((_, __, res) => {
      if (app.got.length < 3) res.end(); // the others wait
    });
    const { next, signal, ended } = cli.start(['send', 'stt.failed', app.url, '--count', '100', '--concurrency', '1']);
    await next('sent');
    await next('sent');
    signal('SIGINT');
    const { exitCode, stderr, records } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: 'service-webhooks: stopped before it was done.\n' });
    expect(records.at(-1)).toMatchObject({ kind: 'summary', sent: 2, acknowledged: 2 });
  });
});

describe('send --fault', () => {
  it('several faults are applied to one delivery, and the refusal is printed', async () => {
    const { url } = await receiver();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url, '--fault', 'stale,stripped-v2']);
    expect(exitCode).toBe(1);
    const refused = { status: 401, code: 'legacy_not_accepted', acknowledged: false };
    expect(records).toMatchObject([{ faults: ['stale', 'stripped-v2'], ...refused }]);
  });

  it('--fault duplicate sends a delivery twice, and the receiver handles it once', async () => {
    const handled: unknown[] = [];
    const on = { '*': () => void handled.push(1) };
    const { url } = await serveListener(webhookHandler(createReceiver({ secret: SECRET, on })));
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url, '--fault', 'duplicate']);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ answer: '{"outcome":"handled"}' }, { answer: '{"outcome":"duplicate"}' }]);
    expect(handled).toHaveLength(1);
  });

  it('--fault reset cuts the connection in the middle of the body', async () => {
    const app = await serveApp();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', app.url, '--fault', 'reset']);
    expect(exitCode).toBe(4);
    expect(records).toMatchObject([{ status: null, problem: expect.stringContaining('on purpose') }]);
  });

  it('--fault slow sends the body in pieces', async () => {
    const seen: number[] = [];
    const { url } = await serveListener((req, res) => {
      req.on('data', () => {
        seen.push(1);
        if (seen.length === 2) res.end(); // that is enough
      });
    });
    const { exitCode } = await cli.run(['send', 'stt.completed', url, '--fault', 'slow']);
    expect(exitCode).toBe(0);
    expect(seen.length).toBeGreaterThanOrEqual(2);
  });

  it('an unknown fault is refused with the names of all faults', async () => {
    const ended = await cli.run(['send', 'stt.completed', '--fault', 'stall']);
    expect(ended).toMatchObject(failed(2, 'There are: wrong-secret, flipped-bit, stale,'));
  });
});

describe('the command send to an app without a proper answer', () => {
  it('the status comes first, and below it the cause and the fix', async () => {
    const { stdout } = await cli.run(['send', '--text', 'stt.completed', 'http://127.0.0.1:1']);
    expect(stdout).toMatch(
      /^no answer {2}\d+ ms {2}.*\n {3}127\.0\.0\.1:1: nothing listens there\.\n {3}Start the app, or correct the port\.\n$/,
    );
  });

  it.each<[situation: string, problem: string | RegExp, app: () => Promise<string>, options?: string[]]>([
    ['nothing listens', 'nothing listens there', async () => 'http://127.0.0.1:1'],
    [
      'there is no such host',
      /^(there is no such host|the name cannot be looked up)/,
      async () => 'http://no-such-host.invalid/',
    ],
    ['the app hangs', /^no answer within 0\.1 s$/, async () => (await serveSilence()).url, ['--timeout', '100ms']],
    [
      'the connection is closed',
      'closed without an answer',
      async () => (await serveListener((req) => req.socket.resetAndDestroy())).url,
    ],
    ['no TLS is spoken', 'no TLS is spoken there', async () => `https://127.0.0.1:${(await receiver()).port}`],
    [
      'no HTTP is spoken',
      'what came back is no HTTP',
      async () => (await serveBytes('220 mail.example ESMTP\r\n')).url,
    ],
  ])('the reason for the missing answer is printed where %s', async (_, problem, app, options = []) => {
    // biome-ignore format: a row each
    const { exitCode, records, stderr } = await cli.run(['send', 'stt.completed', await app(), ...options]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
    const [{ problem: printed, advice }] = records as [Fields];
    expect(printed).toMatch(problem);
    const message = expect.stringMatching(new RegExp(`: ${printed}\\.$`));
    expect(advice).toEqual({ cause: 'no_answer', message, fix: expect.stringMatching(/^[A-Z].+[.?]$/) });
  });

  it('an answer that breaks off acknowledges by its status', async () => {
    const { url } = await serveListener((req, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('half', () => req.socket.destroy());
    });
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url]);
    expect([exitCode, records]).toMatchObject([0, [{ status: 200, acknowledged: true, answer: 'half' }]]);
  });

  it('a very long answer is cut in the output', async () => {
    const { url } = await serveListener((_, res) => void res.end('x'.repeat(5_000_000)));
    const { records, stdout } = await cli.run(['send', 'stt.completed', url]);
    expect(records).toMatchObject([{ status: 200 }]);
    expect(stdout.length).toBeLessThan(3_000);
  });

  it('Ctrl+C ends the wait for an answer at once', async () => {
    const { url, asked } = await serveSilence();
    const { signal, ended } = cli.start(['send', 'stt.completed', url]);
    await asked;
    signal('SIGINT');
    expect(await ended).toMatchObject(failed(130, /^service-webhooks: stopped before it was done\.\n$/));
  });
});
