import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:net';
import { verify } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { tamper } from 'service-webhooks/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type Got, serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { aDelivery, runListen } from './run-listen.js';

const cli = useCli();
const listen = (...args: string[]) => runListen(cli, ['--ui=0', ...args]);

it('the page of listen shows a delivery with its attempts, verdict and cause of refusal', async () => {
  const app = await serveApp((_, __, res) => res.writeHead(500).end());
  const { url, browser, next } = await listen(app.url);
  const send = ['send', 'stt.failed', url, '--set', 'id=evt_1'];
  await cli.run(send);
  await cli.run([...send, '--attempt', '2', '--fault', 'reserialised']);
  await next('delivery');
  await next('delivery');
  expect((await browser.snapshot()).deliveries).toMatchObject([
    {
      ...{ id: 'evt_1', eventId: 'evt_1', type: 'stt.failed', state: 'failed', attempts: 2, status: 500 },
      ...{ url: `${app.url}/`, verdict: 'signature_mismatch', cause: 'body reserialised' },
    },
  ]);
  const { attempts } = await browser.read('/page/deliveries/evt_1');
  expect(attempts).toMatchObject([{ number: 1 }, { number: 2 }]);
  const [first, second] = await Promise.all(
    attempts.map(({ id }: { id: string }) => browser.read(`/page/attempts/${id}`)),
  );
  expect(first).toMatchObject({
    request: { url: `${app.url}/` },
    answer: { status: 500 },
    verdict: { verdict: 'accepted' },
  });
  const causes = [{ cause: 'body_reserialised', certainty: 'certain' }];
  expect(second).toMatchObject({ verdict: { verdict: 'signature_mismatch', causes } });
});

it('a valid delivery that the app refuses has the advice on the page, as its replay, and send points to listen', async () => {
  const requests: IncomingHttpHeaders[] = [];
  const receive = webhookHandler({ secret: 'another secret', logger: false, on: { '*': () => {} } });
  const app = await serveListener((req, res) => {
    requests.push(req.headers);
    receive(req, res);
  });
  const { url, browser, next, stop } = await listen(app.url);
  const { records } = await cli.run(['send', 'stt.failed', url, '--set', 'id=evt_1']);
  expect(records).toMatchObject([
    { kind: 'sent', status: 401, advice: { cause: 'behind_listen', fix: 'The terminal of listen says why.' } },
  ]);
  const { advice } = await next('delivery');
  expect(advice).toMatchObject({ cause: 'other_secret' });
  expect((await browser.snapshot()).deliveries).toMatchObject([{ cause: 'another secret', hasFailed: true }]);
  const found = async (words: string) => (await browser.read(`/page/search/${encodeURIComponent(words)}`)).ids;
  expect(await found('content-type EVT_1 signature_mismatch')).toEqual(['evt_1']);
  expect(await found('evt_1 no-such-word')).toEqual([]);
  const { attempts } = await browser.read('/page/deliveries/evt_1');
  expect(await browser.read(`/page/attempts/${attempts[0].id}`)).toMatchObject({
    ...{ status: 401, verdict: { verdict: 'accepted' }, advice },
  });
  await browser.act('replay', { delivery: 'evt_1', exact: false });
  const { attempts: replayed } = await browser.read('/page/deliveries/evt_1');
  expect(await browser.read(`/page/attempts/${replayed[1].id}`)).toMatchObject({ kind: 'replay', advice });
  expect((await stop()).records.at(-1)).toMatchObject({ kind: 'ended', deliveries: 1 });
  // listen asks the app itself, so that only the delivery has its mark.
  expect(requests.map((headers) => 'x-service-webhooks-listen' in headers)).toEqual([true, false, false, false]);
});

it('a forged delivery that the app refuses has its causes on the page, and no advice', async () => {
  const app = await serveApp((_, __, res) => res.writeHead(401).end());
  const { post, browser, next } = await listen(app.url);
  await post(tamper.wrongSecret(aDelivery()));
  await next('delivery');
  const shown = await browser.read('/page/attempts/1');
  expect(shown).toMatchObject({ status: 401, verdict: { verdict: 'signature_mismatch' } });
  expect(shown.verdict.causes).not.toEqual([]);
  expect(shown).not.toHaveProperty('advice');
  expect(app.got).toHaveLength(1);
});

it('the page of listen sends a sample to listen, and replays a delivery to the app', async () => {
  const app = await serveApp((_, __, res) => res.writeHead(app.got.length === 1 ? 500 : 204).end());
  const { browser, next } = await listen(app.url);
  expect((await browser.act('send', { type: 'stt.completed' })).text).toContain('stt.completed was sent: 500.');
  const { id } = await next('delivery');
  expect((await browser.act('replay', { delivery: id, exact: false })).text).toContain('It was sent again: 204.');
  const { deliveries } = await browser.snapshot();
  expect(deliveries).toMatchObject([{ id, state: 'delivered', attempts: 1, replays: 1, status: 204 }]);
  const [first, second] = app.got as [Got, Got];
  expect(second.body).toEqual(first.body);
  expect(verify({ headers: second.headers, body: second.body, secret: SECRET }).event.id).toBe(id);
});

it('the page of listen shows a request without an event by its request line, with its replay', async () => {
  const app = await serveApp();
  const { url, browser, next } = await listen(app.url);
  await fetch(`${url}hook`, { method: 'POST', body: 'no event' });
  await next('delivery');
  const { deliveries } = await browser.snapshot();
  expect(deliveries).toMatchObject([{ type: 'POST /hook', eventId: '', url: `${app.url}/hook` }]);
  const id = deliveries[0]?.id;
  await browser.act('replay', { delivery: id, exact: true });
  expect((await browser.snapshot()).deliveries).toMatchObject([{ id, replays: 1 }]);
  const { attempts } = await browser.read(`/page/deliveries/${id}`);
  const { request } = await browser.read(`/page/attempts/${attempts.at(-1).id}`);
  expect(new Map(request.headers).get('host')).toBe(`127.0.0.1:${app.port}`);
});

it('the page of listen shows requests that could not be handled, with the reason', async () => {
  const { url, browser, next, breakOff } = await listen();
  await fetch(`${url}hook`, { method: 'PUT', body: 'x' });
  await next('problem');
  breakOff();
  await next('problem');
  expect((await browser.snapshot()).deliveries).toMatchObject([
    { type: 'PUT /hook', verdict: 'method_not_allowed', status: 405 },
    { type: 'POST /hook', state: 'failed', verdict: 'body_incomplete', status: 400 },
  ]);
});

it('the page of listen shows a request whose target is no path, with a command to resend it', async () => {
  const { url, port, browser } = await listen();
  const { host } = new URL(url);
  for (const path of ['http://other.example/hook', '*', '//other.example/hook']) {
    await exchange(port, toBytes({ path, host, headers: [], body: Buffer.from('{}') }));
  }
  const { deliveries } = await browser.snapshot();
  expect(deliveries.map((row) => row.url)).toEqual([url, url, `${url}/other.example/hook`]);
  for (const id of ['1', '2', '3']) expect((await browser.open(`/page/curl/${id}`)).status).toBe(200);
});

it('the page is served until listen ends', async () => {
  const { browser, post, stop } = await listen();
  await post(tamper.stale(aDelivery()));
  expect((await browser.open('/')).status).toBe(200);
  await stop();
  await expect(browser.open('/')).rejects.toThrow();
});

it('listen --ui takes its own port, and is refused where that port is in use', async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  await once(other.listen(4749, '127.0.0.1'), 'listening').catch(() => {}); // or another program has it
  const bare = await cli.run(['listen', '--port', '0', '--ui']);
  expect(bare).toMatchObject(failed(4, /port 4749 of 127\.0\.0\.1 is in use.+with --ui\./));
  const { port } = await serveApp();
  expect(await cli.run(['listen', '--port', '0', `--ui=${port}`])).toMatchObject(failed(4, `port ${port} of`));
});
