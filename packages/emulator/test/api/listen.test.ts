import { createEmulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../../test/support/raw-http.js';
import { LIMITS, SETTINGS, startApi, WEBHOOKS } from './client.js';

/** An emulator that listens, and a function that sends it bytes. */
async function start(options: EmulatorOptions = {}) {
  const { emulator } = startApi(options);
  const { url, port } = await emulator.listen();
  async function send(bytes: string) {
    const { status, body } = await exchange(port, Buffer.from(bytes));
    return `${status} ${JSON.parse(body).error?.code ?? ''}`.trim();
  }
  return { emulator, url, port, send };
}

describe('emulator.listen', () => {
  it('a second call is refused until the emulator is closed, and only loopback is listened on', async () => {
    const { emulator, url, port } = await start();
    expect(url).toBe(`http://127.0.0.1:${port}`);
    await expect(emulator.listen()).rejects.toThrow('listening already');
    await emulator.close();
    await expect(fetch(url)).rejects.toThrow();
    await expect(emulator.listen()).rejects.toThrow('the emulator is closed');
  });

  it.each([-1, 65_536, 1.5, '80'])(
    'the port %j is refused, and a second call without a port succeeds',
    async (port) => {
      const { emulator } = startApi();
      await expect(emulator.listen(port as number)).rejects.toThrow('port must be from 0 to 65535');
      expect((await emulator.listen()).port).toBeGreaterThan(0);
    },
  );

  it('the port 65535 is accepted', async () => {
    const heard = await startApi()
      .emulator.listen(65_535)
      .catch(({ code }) => code);
    expect([{ url: 'http://127.0.0.1:65535', port: 65_535 }, 'EADDRINUSE', 'EACCES']).toContainEqual(heard);
  });

  it('a call for a port in use rejects, and a second call for another port succeeds', async () => {
    const { port } = await start();
    const other = createEmulator();
    await expect(other.listen(port)).rejects.toThrow('EADDRINUSE');
    expect((await other.listen()).port).toBeGreaterThan(0);
    await other.close();
    await other.close();
  });
});

describe('requests to the emulator over HTTP', () => {
  it('endpoints are created over HTTP, and links lead to the address of the server', async () => {
    const { emulator, url } = await start();
    const headers = { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' };
    const created = await fetch(url + WEBHOOKS, { method: 'POST', headers, body: JSON.stringify(SETTINGS) });
    expect([created.status, await created.json()]).toMatchObject([201, SETTINGS]);
    const refused = (await (await fetch(`${url}/nowhere`)).json()) as { error: object };
    expect(refused.error).toMatchObject({ doc_url: `${url}/docs/errors/unknown_endpoint` });
  });

  it('a request from an address in deniedIps is refused', async () => {
    const { send } = await start({ deniedIps: ['127.0.0.1'] });
    expect(await send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe('403 ip_blocked');
  });

  it.each([
    ['localhost', '200'],
    ['LocalHost:80', '200'],
    ['127.0.0.1:4848', '200'],
    ['[::1]:4848', '200'],
    ['api.example:8443', '200'],
    ['api.example', '403 forbidden'],
    ['attacker.example', '403 forbidden'],
    ['attacker.example:80', '403 forbidden'],
    ['localhost.attacker.example', '403 forbidden'],
    ['192.168.0.1', '403 forbidden'],
    ['', '403 forbidden'],
  ])('the Host header "%s" is answered with %s', async (host, answer) => {
    const { emulator, send } = await start({ baseUrl: 'https://api.example:8443' });
    emulator.script({ path: '/v1/voices' });
    for (const path of [LIMITS, '/v1/voices']) {
      expect(await send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Api-Key: ${emulator.apiKey}\r\n\r\n`)).toBe(answer);
    }
  });

  it('a body over the limit is refused, also when its length was not declared', async () => {
    const { emulator, send } = await start({ maxBodyBytes: 3 });
    const head = `POST ${WEBHOOKS} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${emulator.apiKey}\r\n`;
    expect(await send(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n0\r\n\r\n`)).toBe('413 file_too_large');
  });

  it('an answer that has no body is sent over HTTP without one', async () => {
    const { emulator, url } = await start();
    emulator.script({ path: '/v1/voices', status: 204 });
    const [head, empty] = [await fetch(url, { method: 'HEAD' }), await fetch(`${url}/v1/voices`)];
    expect([head.status, await head.text(), empty.status, await empty.text()]).toEqual([404, '', 204, '']);
  });
});
