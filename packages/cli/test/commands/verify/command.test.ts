import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { aDelivery, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';

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
  it('a captured delivery is verified as of the time when it came', async () => {
    const { exitCode, records } = await cli.run(['verify', capture()]);
    expect(exitCode).toBe(0);
    const signedAt = '2026-07-11T12:00:00.000Z';
    expect(records).toEqual([
      { kind: 'verified', scheme: 'v2', secretIndex: 0, signedAt, id: 'evt_1', type: 'stt.completed' },
    ]);
  });

  it.each([
    ['now', 1],
    ['signed', 0],
    [String(NOW / 1000 + 300), 0],
    [String(NOW / 1000 + 301), 1],
    ['2026-07-11T12:05:00Z', 0],
  ])('--at %s exits with %i', async (time, code) => {
    const { exitCode, records } = await cli.run(['verify', capture(), '--at', time]);
    expect(exitCode).toBe(code);
    if (code === 1)
      expect(records).toMatchObject([{ kind: 'refused', code: 'timestamp_too_old', hint: expect.any(String) }]);
  });

  it('the record of a refusal has the time of the capture', async () => {
    const { records } = await cli.run(['verify', capture()], { env: { WEBHOOK_SECRET: 'another' } });
    expect(records).toMatchObject([{ kind: 'refused', at: '2026-07-11T12:00:00.000Z', asCaptured: true }]);
  });

  it('a blank secret exits with 2, as an error and not as a refusal', async () => {
    const ended = await cli.run(['verify', capture()], { env: { WEBHOOK_SECRET: ' ' } });
    expect(ended).toMatchObject(failed(2, 'secret[0] is blank. Check that the environment variable'));
  });

  it('the headers are read from a file, from --header or from stdin', async () => {
    const { headers, body } = aDelivery();
    put('body', body);
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    put('headers', `${lines.join('\n')}\n`);
    const verify = async (args: string[], stdin?: string | Uint8Array) =>
      (await cli.run(['verify', ...args, '--at', 'signed'], stdin === undefined ? {} : { stdin })).exitCode;
    expect(await verify(['body', '--headers', 'headers'])).toBe(0);
    expect(
      await verify(
        lines.flatMap((line) => ['--header', line]),
        body,
      ),
    ).toBe(0);
    expect(await verify(['--headers', '-', 'body'], lines[0])).toBe(0);
  });

  it('the record has the index of the secret that matches', async () => {
    put('other', 'the other');
    const secrets = ['--secret', 'file:other', '--secret', 'env:WEBHOOK_SECRET'];
    const { records } = await cli.run(['verify', capture(), ...secrets]);
    expect(records).toMatchObject([{ kind: 'verified', secretIndex: 1 }]);
  });

  it('a recorded delivery of the package is verified', async () => {
    copyFileSync('fixtures/deliveries/stt.completed.http', join(cli.cwd, 'recorded.http'));
    const env = { WEBHOOK_SECRET: 'fixture-secret-4cf1b0a92d7e' };
    const { records } = await cli.run(['verify', 'recorded.http', '--at', '1783771200'], { env });
    expect(records).toMatchObject([{ kind: 'verified', type: 'stt.completed' }]);
  });

  it('a legacy signature is accepted only with --legacy accept', async () => {
    const headers = sign({ body: aDelivery().body, secret: SECRET, scheme: 'legacy' });
    const file = capture(CAPTURED, { ...aDelivery(), headers });
    expect((await cli.run(['verify', file])).records).toMatchObject([{ code: 'legacy_not_accepted' }]);
    expect((await cli.run(['verify', file, '--legacy', 'accept'])).records).toMatchObject([{ scheme: 'legacy' }]);
  });

  it('--tolerance and --header-prefix change what is accepted', async () => {
    const late = ['--at', String(NOW / 1000 + 400)];
    expect((await cli.run(['verify', capture(), ...late, '--tolerance', '400'])).exitCode).toBe(0);
    expect((await cli.run(['verify', capture(), '--header-prefix', 'x-vendor'])).records).toMatchObject([
      { code: 'missing_signature' },
    ]);
  });
});
