import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEmulator } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chromium } from '../../../../../test/integration/chromium.js';
import { emulatorSource } from '../../../src/page/emulator/emulator-source.js';
import { memorySource } from '../memory-source.js';
import { deliveries, useBrowser } from './use-browser.js';

describe.skipIf(chromium === undefined)('an attack on the page', () => {
  const { open } = useBrowser();

  it('script in a type, an id, a header, a body or an answer is text and never runs', async () => {
    const script = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>';
    const emulator = createEmulator({
      fetch: () => new Response(script, { status: 400, headers: { 'x-answer': script, 'content-type': 'text/html' } }),
    });
    onTestFinished(() => emulator.close());
    const url = 'https://app.example/javascript:window.ran=1?"><script>window.ran=1</script>';
    emulator.endpoints.create({ url, events: [script] });
    const source = emulatorSource({ emulator, clock: 'virtual', secretOf: () => undefined });
    await emulator.emit(script, { id: `evt_${script}\u202e`, jobId: script, data: { script } });
    await emulator.settled();
    const { page } = await open({ ...source, title: script });
    await deliveries(page).first().click();
    const attempt = page.getByRole('article');
    await attempt.waitFor();
    expect(await page.getByRole('heading', { level: 2 }).innerText()).toContain(script);
    await attempt
      .getByText(/^\d+ headers$/)
      .first()
      .click();
    expect(await attempt.getByRole('table', { name: 'Headers of the answer' }).innerText()).toContain(script);
    expect(await attempt.getByLabel('Body of the answer').inputValue()).toBe(script);
    expect(await attempt.getByLabel('Body of the request').inputValue()).toContain(JSON.stringify(script));
    expect(
      await page.evaluate(() => [Reflect.get(window, 'ran'), document.querySelectorAll('img, body script').length]),
    ).toEqual([undefined, 0]);
  });

  it('another site cannot drive, read or frame the page', async () => {
    const sent: string[] = [];
    const source = memorySource({
      send: async ({ type }) => {
        sent.push(type);
        return type;
      },
    });
    const { page, url, token } = await open(source);
    const elsewhere = createServer((_, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>evil</h1>'),
    );
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void elsewhere.close().closeAllConnections());
    const attacker = await page.context().newPage();
    await attacker.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
    const tried = await attacker.evaluate(
      async ({ url, token }) => {
        const body = JSON.stringify({ type: 'stt.completed' });
        const headers = { 'content-type': 'application/json', 'x-page-token': token };
        const attempts: [string, () => Promise<unknown>][] = [
          ['a simple request', () => fetch(`${url}page/actions/send`, { method: 'POST', body })],
          ['one without an answer', () => fetch(`${url}page/actions/send`, { method: 'POST', body, mode: 'no-cors' })],
          ['one with the token', () => fetch(`${url}page/actions/send`, { method: 'POST', body, headers })],
          ['reading the document', () => fetch(url).then((response) => response.text())],
          [
            'reading the stream',
            () =>
              new Promise((resolve, reject) => {
                const stream = new EventSource(`${url}page/stream`);
                stream.onopen = resolve;
                stream.onerror = reject;
              }),
          ],
        ];
        const came: string[] = [];
        for (const [name, attempt] of attempts)
          await attempt().then(
            () => came.push(name),
            () => {},
          );
        const frame = document.createElement('iframe');
        frame.src = url;
        document.body.append(frame);
        await new Promise((resolve) => frame.addEventListener('load', resolve));
        if (frame.contentDocument !== null) came.push('framing');
        return came;
      },
      { url, token },
    );
    expect(tried).toEqual([]);
    expect(sent).toEqual([]);
  });
});
