import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { webhookHandler } from 'service-webhooks/node';
import { sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { serveListener } from '../../../../test/support/app.js';
import { SECRET } from '../../../../test/support/deliveries.js';
import { createDiagnosis, diagnose } from '../../src/diagnosis/diagnose.js';
import { deliverAsService } from '../../src/http/deliver.js';

const { signal } = new AbortController();

/** Sends a delivery to an app. Resolves to the delivery with the answer. */
async function answered(listener: RequestListener, change = (sent: ReturnType<typeof aDelivery>) => sent, path = '/') {
  let count = 0;
  const { url: origin } = await serveListener((req, res) => {
    count += 1;
    listener(req, res);
  });
  const url = new URL(path, origin);
  const delivery = change(aDelivery());
  const sent = await deliverAsService({ ...delivery }, url, { timeoutMs: 5_000, signal });
  return { ...delivery, sent, url, got: () => count, at: Date.now() };
}

const aDelivery = () => signDelivery({ secret: SECRET, event: sampleEvent('stt.completed') });

async function adviceOn(listener: RequestListener, path?: string) {
  const delivered = await answered(listener, undefined, path);
  return diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal });
}

const own = (options: object = {}) => webhookHandler({ secret: SECRET, on: { '*': () => {} }, ...options });

/** A receiver that somebody wrote by hand, with what it verifies. */
const byHand =
  ({ secret = SECRET, verified = (body: Buffer) => body, refusal = 401 }): RequestListener =>
  async (req, res) => {
    const body = verified(Buffer.concat(await req.toArray()));
    const [, t = '', mac = ''] = /^t=(\d+),v1=(\w+)$/.exec(String(req.headers['x-service-signature-v2'])) ?? [];
    const isValid = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') === mac;
    res.writeHead(isValid ? 200 : refusal).end();
  };
const parsed = (body: Buffer) => Buffer.from(JSON.stringify(JSON.parse(body.toString())));
/** A server that has the receiver at one path alone. */
const at =
  (path: string, listener: RequestListener): RequestListener =>
  (req, res) =>
    req.url === path ? listener(req, res) : void res.writeHead(404).end();

const answering =
  (status: number, body = '', headers = {}): RequestListener =>
  (_, res) =>
    void res.writeHead(status, headers).end(body);

describe('the diagnosis of a valid delivery that an app refuses', () => {
  it.each<[why: string, listener: RequestListener, cause: string, says: RegExp]>([
    ['a parser ran before verify', byHand({ verified: parsed }), 'parsed_body', /parses the body first.* raw body/],
    [
      'a parser ran first, and the refusal is a 400',
      byHand({ verified: parsed, refusal: 400 }),
      'parsed_body',
      /express\.json\(\)/,
    ],
    ['the app has another secret', own({ secret: 'another secret' }), 'other_secret', /another secret.*--secret/],
    [
      'an app without error codes has another secret',
      at('/hook', byHand({ secret: 'another' })),
      'secret_or_guard',
      /another secret, or a guard/,
    ],
    ['a refusal speaks of the signature', answering(401, 'bad signature'), 'other_secret', /t, a dot and the raw body/],
    ['a refusal speaks of the time', answering(400, 'Webhook is too old'), 'time_check', /now returns milliseconds/],
    ['a redirect leads to a login', answering(302, '', { location: '/login?next=%2Fhook' }), 'login', /Exempt/],
    ['a redirect leads to itself', answering(307, '', { location: '/hook' }), 'redirect', /to this URL again/],
    ['a redirect leads nowhere', answering(302), 'redirect', /log of the app/],
    ['a page asks to sign in', answering(200, '<html><title>Sign in</title>'), 'login', /Exempt/],
    [
      'a refusal names authentication and the signature',
      answering(401, 'Authentication failed: signature'),
      'other_secret',
      /./,
    ],
    [
      'the app looks for another prefix',
      own({ headerPrefix: 'x-acme' }),
      'header_prefix',
      /begin with x-service\. Pass .*--header-prefix/,
    ],
    [
      'something in front asks for a login',
      answering(401, 'no', { 'www-authenticate': 'Basic realm="a"' }),
      'login',
      /asks for a login\. Exempt/,
    ],
    [
      'a guard in front names a token',
      answering(401, '{"error":"No authorization token was found"}'),
      'login',
      /Exempt/,
    ],
    [
      'a CSRF filter refuses it',
      answering(403, 'CSRF verification failed. Request aborted.'),
      'csrf',
      /CSRF filter.*Exempt/,
    ],
    ['a firewall refuses every path', answering(403), 'refused_everywhere', /every path.*firewall/],
    ['the app redirects', answering(308, '', { location: '/webhooks/' }), 'redirect', /final URL: \/webhooks\/$/],
    ['the body is too large', answering(413), 'too_large', /body limit/],
    ['the app limits requests', answering(429), 'rate_limited', /Exempt/],
    ['the app failed', answering(500, 'Internal Server Error'), 'failed', /log of the app/],
    ['the status means nothing', answering(418), 'unclear', /log of the app/],
    [
      'a handler threw',
      own({
        logger: false,
        on: {
          '*': () => {
            throw new Error('broken');
          },
        },
      }),
      'handler_failed',
      /handler failed.*The log of the app has the details/,
    ],
  ])('%s', async (_, listener, cause, says) => {
    const advice = await adviceOn(listener, '/hook');
    expect(advice).toMatchObject({ cause });
    expect(`${advice?.message} ${advice?.fix}`).toMatch(says);
  });

  it.each([
    [-600, 'The clock of your app is 10 minutes behind (Date header).'],
    [7_500, 'The clock of your app is 2 hours ahead (Date header).'],
    [-90, 'The clock of your app is 90 seconds behind (Date header).'],
  ])('a clock that is %i s ahead is read from the Date header', async (seconds, message) => {
    const now = () => Date.now() + seconds * 1_000;
    const receiver = own({ now, toleranceSeconds: 60 });
    const advice = await adviceOn((req, res) => {
      res.setHeader('date', new Date(now()).toUTCString());
      receiver(req, res);
    });
    expect(advice).toMatchObject({ cause: 'clock', message });
  });

  it('an app without error codes whose Date header is ten minutes behind has a wrong clock', async () => {
    const advice = await adviceOn(answering(401, 'no', { date: new Date(Date.now() - 600_000).toUTCString() }));
    expect(advice).toMatchObject({ cause: 'clock', message: expect.stringContaining('10 minutes behind') });
  });

  it('a signed time that is refused by a right clock points to the options of the receiver', async () => {
    const advice = await adviceOn(own({ now: () => Date.now() - 600_000 }));
    expect(advice).toMatchObject({ cause: 'time_check', fix: expect.stringContaining('now and toleranceSeconds') });
  });

  it.each([
    [
      'its answer',
      answering(404, '<html><title>Grafana</title></html>'),
      /Its title is "Grafana": if that is not your/,
    ],
    [
      'its home page',
      (req: { url?: string }, res: Parameters<RequestListener>[1]) =>
        void (req.url === '/'
          ? res.end('<!doctype html><title>Grafana</title>')
          : res.writeHead(404).end('<title>Error</title>')),
      /Its title is "Grafana"/,
    ],
    ['nothing', answering(404), /not mounted there, or another app answers here/],
  ] as [string, RequestListener, RegExp][])('a 404 names another app by the title of %s', async (_, listener, says) => {
    const advice = await adviceOn(listener, '/webhooks');
    expect(advice).toMatchObject({ cause: 'no_route', message: expect.stringMatching(says) });
    expect(advice?.message).toMatch(/^The app at http:\/\/127\.0\.0\.1:\d+ has no route for POST \/webhooks\./);
    expect(advice?.fix).toMatch(/as in \d+\/api\/webhooks\. A port alone means \/webhooks/);
  });

  it('a 200 with an HTML page is that of another app', async () => {
    expect(await adviceOn(answering(200, '<!doctype html><title>Vite App</title>'))).toMatchObject({
      cause: 'web_page',
      message: 'Another app answers here, with an HTML page. Its title is "Vite App".',
    });
  });

  it('no handler of the app’s events runs for the comparison', async () => {
    const types: unknown[] = [];
    const verified = (body: Buffer) => {
      types.push(JSON.parse(body.toString()).type);
      return parsed(body);
    };
    const { got, ...delivered } = await answered(byHand({ verified }));
    await diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal });
    expect(types).toEqual(['stt.completed', 'doctor.compared', 'doctor.compared']);
  });

  it('an app that refuses types that it does not know has no parser in front', async () => {
    const advice = await adviceOn(async (req, res) => {
      const { type } = JSON.parse(Buffer.concat(await req.toArray()).toString());
      res.writeHead(type === 'doctor.compared' ? 400 : 401).end();
    });
    expect(advice?.cause).toBe('unclear');
  });
});

describe('the diagnosis of other deliveries', () => {
  it('an acknowledged delivery has none', async () => {
    expect(await adviceOn(own())).toBeUndefined();
  });

  it('a delivery without an answer has the reason, and what to do', async () => {
    expect(await adviceOn((req) => req.socket.destroy())).toEqual({
      cause: 'no_answer',
      message: expect.stringMatching(/^127\.0\.0\.1:\d+: the connection was closed without an answer\.$/),
      fix: 'Look into the log of the app.',
    });
  });

  it.each([
    ['another secret', tamper.wrongSecret],
    ['an old time', (sent: ReturnType<typeof aDelivery>) => tamper.stale(sent)],
  ])('a delivery with %s is correctly refused, and nothing more is sent', async (_, change) => {
    const { got, ...delivered } = await answered(own({ logger: false }), (sent) => ({ ...sent, ...change(sent) }));
    const advice = await diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal });
    expect(advice?.cause).toBe('correctly_refused');
    expect(got()).toBe(1);
  });

  it('a delivery that does not verify is accepted by an app that does not check', async () => {
    const { got, ...delivered } = await answered(answering(200), (sent) => ({ ...sent, ...tamper.stale(sent) }));
    const advice = await diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal });
    expect(advice?.cause).toBe('accepted_invalid');
  });

  it('a legacy signature may be accepted by choice', async () => {
    const accepting = own({ legacy: 'accept' });
    const { got, ...delivered } = await answered(accepting, (sent) => ({ ...sent, ...tamper.strippedV2(sent) }));
    expect(await diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal })).toBeUndefined();
  });

  it('an unknown secret leads to no further request', async () => {
    const { got, ...delivered } = await answered(answering(401));
    const advice = await diagnose(delivered, { secret: undefined, headerPrefix: 'x-service', signal });
    expect([advice?.cause, got()]).toEqual(['unclear', 1]);
  });

  it.each(['signature_mismatch', 'timestamp_too_old', 'timestamp_in_future', 'none'])(
    'the terminal of listen has the reason where listen passes on %s, and nothing more is sent',
    async (code) => {
      const body = JSON.stringify({ error: { code } });
      const passingOn = answering(401, body, { 'x-service-webhooks-listen': 'answer of the app' });
      const { got, ...delivered } = await answered(passingOn);
      const advice = await diagnose(delivered, { secret: SECRET, headerPrefix: 'x-service', signal });
      expect([advice?.cause, got()]).toEqual(['behind_listen', 1]);
    },
  );

  it('an app that stops answering during the comparison has the advice of its answer', async () => {
    let count = 0;
    const advice = await adviceOn((req, res) => {
      count += 1;
      if (count === 1) res.writeHead(401).end();
      else req.socket.destroy();
    });
    expect(advice?.cause).toBe('unclear');
  });
});

describe('the diagnosis of many deliveries', () => {
  it('an app that answers the same is asked once in ten seconds', async () => {
    let now = 0;
    const diagnosis = createDiagnosis(() => now);
    const { got, ...delivered } = await answered(at('/hook', byHand({ secret: 'another' })), undefined, '/hook');
    const options = { secret: SECRET, headerPrefix: 'x-service', signal };
    const causes = async () => (await diagnosis(delivered, options))?.cause;
    expect(await Promise.all([causes(), causes(), causes()])).toEqual(Array(3).fill('secret_or_guard'));
    const once = got();
    now = 9_999;
    await causes();
    expect(got()).toBe(once);
    now = 10_000;
    await causes();
    expect(got()).toBe(2 * once - 1);
  });

  it('an acknowledged delivery ends what was concluded about the app', async () => {
    const diagnosis = createDiagnosis(() => 0);
    const { got, ...delivered } = await answered(answering(403));
    const options = { secret: SECRET, headerPrefix: 'x-service', signal };
    await diagnosis(delivered, options);
    const once = got();
    expect(
      await diagnosis({ ...delivered, sent: { status: 200, headers: {}, body: '', ms: 1 } }, options),
    ).toBeUndefined();
    await diagnosis(delivered, options);
    expect(got()).toBe(2 * once - 1);
  });
});
