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

describe('the URL of an endpoint', () => {
  it.each([
    'https://app.example/webhooks',
    'https://app.example:8443/a?b=c',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
    `https://app.example/${'a'.repeat(2048 - 'https://app.example/'.length)}`,
  ])('the URL %s is accepted', (url) => {
    expect(emulator.endpoints.create({ url }).url).toBe(url);
  });

  it.each([
    ['http://app.example/', 'must begin with https://'],
    ['ftp://app.example/', 'must begin with https://'],
    ['app.example', 'is not a URL'],
    ['', 'is not a URL'],
    ['javascript:alert(1)', 'must begin with https://'],
    ['javascript:https://app.example/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https:app.example', 'must begin with https://'],
    ['https:///app.example/', 'must begin with https://'],
    ['https://user:pass@app.example/', 'contains credentials'],
    ['https://@app.example/', 'contains credentials'],
    ['https://localhost/', 'is not public: loopback'],
    ['https://LOCALHOST./', 'is not public: loopback'],
    ['https://localhost../', 'is not public: loopback'],
    ['https://a.localhost/', 'is not public: loopback'],
    ['https://a.localdomain/', 'is not public: loopback'],
    ['https://127.0.0.1/', 'is not public: loopback'],
    ['https://127.1/', 'is not public: loopback'],
    ['https://2130706433/', 'is not public: loopback'],
    ['https://0x7f.1/', 'is not public: loopback'],
    ['https://0177.0.0.1/', 'is not public: loopback'],
    ['https://[::1]/', 'is not public: loopback'],
    ['https://[::ffff:127.0.0.1]/', 'is not public: loopback'],
    ['https://[::ffff:7f00:1]/', 'is not public: loopback'],
    ['https://[::127.0.0.1]/', 'is not public: reserved'],
    ['https://[::a00:1]/', 'is not public: reserved'],
    ['https://[4000::1]/', 'is not public: reserved'],
    ['https://①②⑦.0.0.1/', 'is not public: loopback'],
    ['https://[64:ff9b::7f00:1]/', 'is not public'],
    ['https://[2002:7f00:1::]/', 'is not public'],
    ['https://0.0.0.0/', 'is not public: unspecified'],
    ['https://10.1.2.3/', 'is not public: private'],
    ['https://172.31.0.1/', 'is not public: private'],
    ['https://192.168.1.1/', 'is not public: private'],
    ['https://100.64.0.1/', 'is not public: private'],
    ['https://[fd00::1]/', 'is not public: private'],
    ['https://[fe80::1]/', 'is not public: link-local'],
    ['https://169.254.1.1/', 'is not public: link-local'],
    ['https://169.254.169.254/latest/meta-data', 'is not public: metadata'],
    ['https://[fd00:ec2::254]/', 'is not public: metadata'],
    ['https://168.63.129.16/', 'is not public: metadata'],
    ['https://100.100.100.200/', 'is not public: metadata'],
    ['https://metadata.google.internal/', 'is not public: metadata'],
    ['https://metadata.goog/', 'is not public: metadata'],
    ['https://224.0.0.1/', 'is not public: multicast'],
    ['https://192.0.2.1/', 'is not public: reserved'],
    ['https://db.internal/', 'is not public: internal'],
    ['https://printer.local/', 'is not public: internal'],
    ['https://wiki/', 'is not public: internal'],
    ...['lan', 'home', 'home.arpa', 'corp', 'intranet', 'private'].map((name) => [
      `https://printer.${name}/`,
      'is not public: internal',
    ]),
    ['https://app.example\\@127.0.0.1/', 'a backslash'],
    ['https://app.exa\nmple/', 'control characters'],
    ['https://app.ex\u00adample/', 'control characters'],
    ['https://app.example/\u202e', 'control characters'],
    ['https://app.example/ a', 'white space'],
    [`https://app.example/${'a'.repeat(2049 - 'https://app.example/'.length)}`, 'longer than 2048 characters'],
  ])('the URL %j is refused, because it %s', (url, reason) => {
    expect(() => emulator.endpoints.create({ url })).toThrow(reason);
  });

  it.each(['http://localhost:3000/', 'http://127.0.0.1:3000/', 'http://[::1]:3000/', 'https://localhost/'])(
    '%s is taken where loopback is allowed',
    (url) => {
      expect(local.endpoints.create({ url }).url).toBe(url);
    },
  );

  it.each(['http://10.0.0.1/', 'http://app.example/', 'https://169.254.169.254/'])(
    '%s is refused there, too',
    (url) => {
      expect(() => local.endpoints.create({ url })).toThrow('invalid_option');
    },
  );

  it('the refusal of a loopback URL names the option that allows it', () => {
    expect(() => emulator.endpoints.create({ url: 'https://localhost/' })).toThrow('allowLoopback');
  });

  it('a changed URL is checked again', () => {
    const { id } = emulator.endpoints.create({ url: 'https://app.example/' });
    expect(() => emulator.endpoints.update(id, { url: 'https://10.0.0.1/' })).toThrow('private');
    expect(emulator.endpoints.get(id)?.url).toBe('https://app.example/');
  });

  // A name that every machine resolves to an internal address, as the name server of an attacker could.
  it.each([
    ['a name may resolve to something else by then', 'https://localhost/', 'localhost is not public: loopback'],
    ['a state may have been saved where more was allowed', 'https://10.0.0.1/', '10.0.0.1 is not public: private'],
  ])('each delivery checks the address again: %s', async (_, url, error) => {
    const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
    const path = join(folder, 'state.json');
    const { id } = emulator.endpoints.create({ url: 'https://saved.example/' });
    await emulator.save(path);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('https://saved.example/', url));
    const later = createEmulator();
    await later.load(path);
    rmSync(folder, { recursive: true });
    await later.sendTest(id);
    await later.settled();
    expect(later.attempts.list()).toMatchObject([{ reason: 'connection_error', error }]);
    await later.close();
  });
});
