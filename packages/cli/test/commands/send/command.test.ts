import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createReceiver, isEvent, verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { describe, expect, it } from 'vitest';
import { type Got, serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();
const receiver = () => serveListener(webhookHandler({ secret: SECRET, on: { '*': () => {} } }));
const verified = ({ headers, body }: Got) => verify({ headers, body, secret: SECRET });

describe('send', () => {
  it('delivers a signed sample, and says that it was acknowledged', async () => {
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
        kind: 'sent',
        type: 'generation.completed',
        id: event.id,
        url: `${app.url}/hook?a=1`,
        faults: [],
        status: 200,
        acknowledged: true,
        ms: expect.any(Number),
        answer: '',
      },
    ]);
  });

  it.each(WEBHOOK_EVENT_TYPES.filter((type) => /^(trigger|subtitle)/.test(type)))('send knows %s', async (type) => {
    const app = await serveApp();
    expect((await cli.run(['send', type, app.url])).exitCode).toBe(0);
    expect(verified(app.got[0] as Got).event.type).toBe(type);
  });

  it('send says what the receiver answered where it is not acknowledged, with exit code 1', async () => {
    const { url } = await receiver();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url], { env: { WEBHOOK_SECRET: 'another' } });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ status: 401, acknowledged: false, code: 'signature_mismatch' }]);
  });

  it('send takes a redirect for what it is to the service: not acknowledged', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(301, { location: '/elsewhere' }).end());
    const { exitCode, stdout } = await cli.run(['send', 'stt.completed', app.url, '--text']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('Redirects are not followed: send to /elsewhere');
    expect(app.got).toHaveLength(1);
  });

  it('--set sets fields: text, numbers where the sample has them, JSON', async () => {
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
      expect(() => verify({ headers, body, secret: SECRET })).toThrow('invalid_encoding'); // so the signature holds
    }
  });

  it('--body alone goes to where listen listens, with a type that does not count', async () => {
    writeFileSync(join(cli.cwd, 'body'), '{}');
    for (const args of [
      ['--body', 'body'],
      ['stt.failed', '--body', 'body'],
    ]) {
      const { records } = await cli.run(['send', ...args, '--timeout', '50ms']);
      expect(records).toEqual([expect.objectContaining({ kind: 'sent', url: 'http://127.0.0.1:4747/' })]);
      expect(records[0]).not.toHaveProperty('type');
    }
    const { exitCode, stderr } = await cli.run(['send', 'stt', 'http://localhost', '--body', 'body']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('stt is no event type: generation.completed, generation.failed, ');
  });

  it('--attempt, --webhook-id and --header-prefix are in the headers', async () => {
    const app = await serveApp();
    const options = ['--attempt', '3', '--webhook-id', 'endpoint_7', '--header-prefix', 'X-Vendor'];
    await cli.run(['send', 'stt.failed', app.url, ...options]);
    const [got] = app.got as [Got];
    expect(got.headers).toMatchObject({ 'x-vendor-attempt': '3', 'x-vendor-webhook-id': 'endpoint_7' });
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET, headerPrefix: 'x-vendor' }).scheme).toBe(
      'v2',
    );
  });

  it('--count sends as many events, --concurrency so many at once, and a summary ends it', async () => {
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
    const summary = records.at(-1) as { seconds: number };
    expect(summary.seconds).toBeLessThanOrEqual((performance.now() - begun) / 1000);
    expect(new Set(app.got.map((got) => verified(got).event.id)).size).toBe(40);
    expect(most).toBe(4);
    expect(records).toHaveLength(41);
    expect(summary).toMatchObject({
      kind: 'summary',
      sent: 40,
      acknowledged: 30,
      answers: { 500: 10, 202: 30 },
    });
  });

  it('send ends with what was sent so far after Ctrl+C', async () => {
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
  it.each([
    ['wrong-secret', 401, 'signature_mismatch'],
    ['flipped-bit', 401, 'signature_mismatch'],
    ['stale', 401, 'timestamp_too_old'],
    ['future', 401, 'timestamp_in_future'],
    ['stripped-v2', 401, 'legacy_not_accepted'],
    ['reserialised', 401, 'signature_mismatch'],
    ['truncated', 401, 'signature_mismatch'],
    ['stale,stripped-v2', 401, 'legacy_not_accepted'],
  ])('%s is refused by a receiver that is right: %i %s', async (fault, status, code) => {
    const { url } = await receiver();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url, '--fault', fault]);
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ faults: fault.split(','), status, code, acknowledged: false }]);
  });

  it('duplicate comes twice, and is handled once', async () => {
    const handled: unknown[] = [];
    const on = { '*': () => void handled.push(1) };
    const { url } = await serveListener(webhookHandler(createReceiver({ secret: SECRET, on })));
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url, '--fault', 'duplicate']);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ answer: '{"outcome":"handled"}' }, { answer: '{"outcome":"duplicate"}' }]);
    expect(handled).toHaveLength(1);
  });

  it('other-key changes what no signature covers', async () => {
    const app = await serveApp();
    expect((await cli.run(['send', 'stt.completed', app.url, '--fault', 'other-key'])).exitCode).toBe(0);
    expect(verified(app.got[0] as Got).unsigned.idempotencyKey).toBe('another-key');
  });

  it('reset cuts the connection in the middle of the body', async () => {
    const app = await serveApp();
    const { exitCode, records } = await cli.run(['send', 'stt.completed', app.url, '--fault', 'reset']);
    expect(exitCode).toBe(4);
    expect(records).toMatchObject([{ status: null, problem: expect.stringContaining('on purpose') }]);
  });

  it('slow brings the body in pieces', async () => {
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

  it('send --fault that there is not is refused with the names of those that there are', async () => {
    const { exitCode, stderr } = await cli.run(['send', 'stt.completed', '--fault', 'stall']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('There are: wrong-secret, flipped-bit, stale,');
  });
});

describe('where nobody answers, send', () => {
  const problemOf = async (url: string, ...options: string[]) => {
    const { exitCode, records, stderr } = await cli.run(['send', 'stt.completed', url, ...options]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
    return records[0]?.['problem'];
  };

  it('where nobody answers, send says that nothing listens there', async () => {
    expect(await problemOf('http://127.0.0.1:1')).toBe(
      '127.0.0.1:1: nothing listens there; is the app running, and on that port?',
    );
  });

  it('where nobody answers, send says that there is no such host', async () => {
    expect(await problemOf('http://no-such-host.invalid/')).toMatch(
      /^no-such-host.invalid: (there is no such host|the name cannot be looked up)/,
    );
  });

  it('where nobody answers, send waits no longer than it was told for a server that hangs', async () => {
    const { url } = await serveListener(() => {});
    expect(await problemOf(url, '--timeout', '100ms')).toBe('no answer within 0.1 s');
  });

  it('where nobody answers, send says that the connection was closed', async () => {
    const { url } = await serveListener((req) => req.socket.resetAndDestroy());
    expect(await problemOf(url)).toContain('closed without an answer; look into the log of the app');
  });

  it('where nobody answers, send says that no TLS is spoken there', async () => {
    const { port } = await receiver();
    expect(await problemOf(`https://127.0.0.1:${port}`)).toContain(
      'no TLS is spoken there; is it http: and not https:?',
    );
  });

  it('where nobody answers, send says that what came back is no HTTP', async () => {
    const { server, url } = await serveListener(() => {});
    server.removeAllListeners('connection');
    server.on('connection', (socket) => socket.end('220 mail.example ESMTP\r\n'));
    expect(await problemOf(url)).toContain('what came back is no HTTP; check the port');
  });

  it('where nobody answers, send takes an answer that breaks off for the status that it has', async () => {
    const { url } = await serveListener((req, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('half', () => req.socket.destroy());
    });
    const { exitCode, records } = await cli.run(['send', 'stt.completed', url]);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ status: 200, acknowledged: true, answer: 'half' }]);
  });

  it('where nobody answers, send reads no more of an answer than it shows, however much there is', async () => {
    const { url } = await serveListener((_, res) => {
      res.end('x'.repeat(5_000_000));
    });
    const { records, stdout } = await cli.run(['send', 'stt.completed', url]);
    expect(records).toMatchObject([{ status: 200 }]);
    expect(stdout.length).toBeLessThan(3_000);
  });

  it('where nobody answers, send ends at once with Ctrl+C', async () => {
    let asked = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { url } = await serveListener(() => asked());
    const { signal, ended } = cli.start(['send', 'stt.completed', url]);
    await arrived;
    signal('SIGINT');
    expect(await ended).toMatchObject({
      exitCode: 130,
      stdout: '',
      stderr: 'service-webhooks: stopped before it was done.\n',
    });
  });
});
