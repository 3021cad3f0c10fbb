import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { bodyOf, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();
const BYTES = Buffer.from([0, 10, 0xff]);
const AT = ['--at', new Date(NOW).toISOString()];

describe('sign', () => {
  it.each(['both', 'v2', 'legacy'] as const)('prints the headers of a body: %s', async (scheme) => {
    writeFileSync(join(cli.cwd, 'body'), BYTES);
    const { exitCode, records } = await cli.run(['sign', 'body', ...AT, '--scheme', scheme]);
    expect(exitCode).toBe(0);
    expect(records).toEqual([{ kind: 'signed', at: new Date(NOW).toISOString(), headers: expect.any(Object) }]);
    const headers = records[0]?.['headers'] as Record<string, string>;
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(lower).toEqual(sign({ body: BYTES, secret: SECRET, at: NOW, scheme }));
    expect(Object.keys(headers).every((name) => name.startsWith('X-Service-Signature'))).toBe(true);
  });

  it('sign reads the body from stdin, and prints lines that curl takes', async () => {
    const { stdout } = await cli.run(['sign', '--text', '--scheme', 'legacy'], { stdin: BYTES });
    expect(stdout).toBe(
      `X-Service-Signature: ${Object.values(sign({ body: BYTES, secret: SECRET, scheme: 'legacy' }))}\n`,
    );
  });

  it.each([
    ['env:OTHER', {}],
    ['file:secret.txt', {}],
  ])('sign takes the secret from %s', async (source) => {
    writeFileSync(join(cli.cwd, 'secret.txt'), 'the other\r\n');
    writeFileSync(join(cli.cwd, 'body'), bodyOf());
    const { records } = await cli.run(['sign', 'body', ...AT, '--secret', source], { env: { OTHER: 'the other' } });
    const headers = Object.values(records[0]?.['headers'] as object);
    expect(headers).toEqual(Object.values(sign({ body: bodyOf(), secret: 'the other', at: NOW })));
  });

  it('sign takes the secret from stdin beside a file', async () => {
    writeFileSync(join(cli.cwd, 'body'), bodyOf());
    const { records } = await cli.run(['sign', 'body', ...AT, '--secret', '-'], { stdin: 'the other\n' });
    const headers = Object.values(records[0]?.['headers'] as object);
    expect(headers).toEqual(Object.values(sign({ body: bodyOf(), secret: 'the other', at: NOW })));
  });

  it('sign takes a secret that is bytes', async () => {
    writeFileSync(join(cli.cwd, 'secret'), Buffer.from([0xff, 0xfe]));
    const { records } = await cli.run(['sign', ...AT, '--secret', 'file:secret'], { stdin: bodyOf() });
    const headers = Object.values(records[0]?.['headers'] as object);
    expect(headers).toEqual(Object.values(sign({ body: bodyOf(), secret: new Uint8Array([0xff, 0xfe]), at: NOW })));
  });

  it('sign does not read stdin twice', async () => {
    const { exitCode, stderr } = await cli.run(['sign', '-', '--secret', '-'], { stdin: 'x' });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'service-webhooks: stdin can be read only once: give one of the two as a file.\n',
    });
  });
});
