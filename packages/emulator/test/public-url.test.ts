import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let emulator: Emulator;
let local: Emulator;
beforeAll(() => {
  emulator = createEmulator();
  local = createEmulator({ allowLoopback: true });
});
afterAll(() => Promise.all([emulator.close(), local.close()]));

describe('the URL of an emulator endpoint', () => {
  it.each([
    'https://app.example/webhooks',
    'https://app.example:8443/a?b=c',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
    `https://app.example/${'a'.repeat(2048 - 'https://app.example/'.length)}`,
  ])('the public URL %s is accepted', (url) => {
    expect(emulator.endpoints.create({ url }).url).toBe(url);
  });

  it.each([
    ['app.example', 'is not a URL'],
    ['', 'is not a URL'],
    ...[
      ...['http://app.example/', 'ftp://app.example/', 'javascript:alert(1)', 'javascript:https://app.example/'],
      ...['file:///etc/passwd', 'https:app.example', 'https:///app.example/'],
    ].map((url) => [url, 'must begin with https://']),
    ['https://user:pass@app.example/', 'contains credentials'],
    ['https://@app.example/', 'contains credentials'],
    ['https://app.example\\@127.0.0.1/', 'a backslash'],
    ['https://app.exa\nmple/', 'control characters'],
    ['https://app.ex\u00adample/', 'control characters'],
    ['https://app.example/\u202e', 'control characters'],
    ['https://app.example/ a', 'white space'],
    [`https://app.example/${'a'.repeat(2049 - 'https://app.example/'.length)}`, 'longer than 2048 characters'],
  ])('%j is refused with the reason: %s', (url = '', reason = '') => {
    expect(() => emulator.endpoints.create({ url })).toThrow(reason);
  });

  const HOSTS = {
    loopback: `localhost LOCALHOST. localhost.. a.localhost a.localdomain 127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1
      [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] ①②⑦.0.0.1`,
    reserved: '[::127.0.0.1] [::a00:1] [4000::1] 192.0.2.1',
    unspecified: '0.0.0.0',
    private: '10.1.2.3 172.31.0.1 192.168.1.1 100.64.0.1 [fd00::1]',
    'link-local': '[fe80::1] 169.254.1.1',
    metadata: `169.254.169.254 [fd00:ec2::254] 168.63.129.16 100.100.100.200 metadata.google.internal metadata.goog`,
    multicast: '224.0.0.1',
    internal: `db.internal printer.local wiki printer.lan printer.home printer.home.arpa printer.corp printer.intranet
      printer.private`,
    '': '[64:ff9b::7f00:1] [2002:7f00:1::]',
  };
  const rows = Object.entries(HOSTS).flatMap(([kind, hosts]) =>
    hosts.split(/\s+/).map((host) => [host, kind] as const),
  );

  it.each(rows)('the host %s is refused as not public: %s', (host, kind) => {
    expect(() => emulator.endpoints.create({ url: `https://${host}/` })).toThrow(`url is not public: ${kind}`);
  });

  it.each(['http://localhost:3000/', 'http://127.0.0.1:3000/', 'http://[::1]:3000/', 'https://localhost/'])(
    'allowLoopback allows the URL %s',
    (url) => {
      expect(local.endpoints.create({ url }).url).toBe(url);
    },
  );

  it.each(['http://10.0.0.1/', 'http://app.example/', 'https://169.254.169.254/'])(
    'allowLoopback still refuses the URL %s',
    (url) => {
      expect(() => local.endpoints.create({ url })).toThrow('invalid_option');
    },
  );

  // A name may resolve to something else by then, and a state may have been saved where more was allowed.
  it.each<[url: string, allowLoopback: boolean, error: string]>([
    ['http://10.0.0.1/', true, '10.0.0.1 is not public: private'],
    ['https://169.254.169.254/', true, '169.254.169.254 is not public: metadata'],
    ['http://[fd00::1]/', true, 'fd00::1 is not public: private'],
    ['http://127.0.0.1/', false, '127.0.0.1 is not public: loopback'],
    ['http://[::1]/', false, '::1 is not public: loopback'],
    ['http://localhost/', false, 'localhost is not public: loopback'],
    ['https://localhost/', false, 'localhost is not public: loopback'],
  ])('a loaded state with the URL %s and allowLoopback: %s sends nothing there', async (url, allowLoopback, error) => {
    const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
    const path = join(folder, 'state.json');
    const { id } = emulator.endpoints.create({ url: 'https://saved.example/' });
    await emulator.save(path);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('https://saved.example/', url));
    const later = createEmulator({ allowLoopback });
    await later.load(path);
    rmSync(folder, { recursive: true });
    await later.sendTest(id);
    await later.settled();
    expect(later.attempts.list()).toMatchObject([{ reason: 'connection_error', error }]);
    await later.close();
  });
});
