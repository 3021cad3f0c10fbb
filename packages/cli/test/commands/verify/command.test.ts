import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { aDelivery, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();
const CAPTURED = '20260711T120000.000Z-7f3a9c01.http';

function put(name: string, content: string | Uint8Array) {
  writeFileSync(join(cli.cwd, name), content);
  return name;
}

function capture(name = CAPTURED, delivery = aDelivery()) {
  const headers = Object.entries(delivery.headers).map((pair) => pair.join(': '));
  return put(name, `POST /hook HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${delivery.body}`);
}

describe('verify', () => {
  it('verify says that a captured delivery is genuine, as of when it came', async () => {
    const { exitCode, records } = await cli.run(['verify', capture()]);
    expect(exitCode).toBe(0);
    expect(records).toEqual([
      {
        kind: 'verified',
        scheme: 'v2',
        secretIndex: 0,
        signedAt: '2026-07-11T12:00:00.000Z',
        id: 'evt_1',
        type: 'stt.completed',
      },
    ]);
  });

  it.each([
    ['--at', 'now', 1],
    ['--at', 'signed', 0],
    ['--at', String(NOW / 1000 + 300), 0],
    ['--at', String(NOW / 1000 + 301), 1],
    ['--at', '2026-07-11T12:05:00Z', 0],
  ])('%s %s looks at it as of then: %i', async (option, time, code) => {
    const { exitCode, records } = await cli.run(['verify', capture(), option, time]);
    expect(exitCode).toBe(code);
    if (code === 1)
      expect(records).toMatchObject([{ kind: 'refused', code: 'timestamp_too_old', hint: expect.any(String) }]);
  });

  it('verify says as of when a delivery is refused', async () => {
    const { records } = await cli.run(['verify', capture()], { env: { WEBHOOK_SECRET: 'another' } });
    expect(records).toMatchObject([{ kind: 'refused', at: '2026-07-11T12:00:00.000Z', asCaptured: true }]);
  });

  it('verify takes a secret that is none for a mistake, and not for a refusal', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['verify', capture()], { env: { WEBHOOK_SECRET: ' ' } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('secret[0] is blank. Check that the environment variable');
  });

  it('verify takes a body with its headers from a file, from options, or both', async () => {
    const { headers, body } = aDelivery();
    put('body', body);
    put(
      'headers',
      `${Object.entries(headers)
        .map((pair) => pair.join(': '))
        .join('\n')}\n`,
    );
    expect((await cli.run(['verify', 'body', '--headers', 'headers', '--at', 'signed'])).exitCode).toBe(0);
    const lines = Object.entries(headers).flatMap((pair) => ['--header', pair.join(': ')]);
    expect((await cli.run(['verify', ...lines, '--at', 'signed'], { stdin: body as string })).exitCode).toBe(0);
    expect(
      (await cli.run(['verify', '--headers', '-', 'body', '--at', 'signed'], { stdin: lines[1] as string })).exitCode,
    ).toBe(0);
  });

  it('verify takes several secrets, and says which of them holds', async () => {
    put('other', 'the other');
    const { records } = await cli.run([
      'verify',
      capture(),
      '--secret',
      'file:other',
      '--secret',
      'env:WEBHOOK_SECRET',
    ]);
    expect(records).toMatchObject([{ kind: 'verified', secretIndex: 1 }]);
  });

  it('verify reads the recorded deliveries of the package', async () => {
    copyFileSync('fixtures/deliveries/stt.completed.http', join(cli.cwd, 'recorded.http'));
    const env = { WEBHOOK_SECRET: 'fixture-secret-4cf1b0a92d7e' };
    const { records } = await cli.run(['verify', 'recorded.http', '--at', '1783771200'], { env });
    expect(records).toMatchObject([{ kind: 'verified', type: 'stt.completed' }]);
  });

  it('verify accepts a legacy signature by choice only', async () => {
    const headers = sign({ body: aDelivery().body, secret: SECRET, scheme: 'legacy' });
    const file = capture(CAPTURED, { ...aDelivery(), headers });
    expect((await cli.run(['verify', file])).records).toMatchObject([{ code: 'legacy_not_accepted' }]);
    expect((await cli.run(['verify', file, '--legacy', 'accept'])).records).toMatchObject([{ scheme: 'legacy' }]);
  });

  it("a tolerance and a prefix of one's own", async () => {
    const late = ['--at', String(NOW / 1000 + 400)];
    expect((await cli.run(['verify', capture(), ...late, '--tolerance', '400'])).exitCode).toBe(0);
    expect((await cli.run(['verify', capture(), '--header-prefix', 'x-vendor'])).records).toMatchObject([
      { code: 'missing_signature' },
    ]);
  });
});
