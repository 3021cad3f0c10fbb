import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { bodyOf, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';

const cli = useCli();
const BYTES = Buffer.from([0, 10, 0xff]);
const AT = ['--at', new Date(NOW).toISOString()];

describe('the command sign', () => {
  it.each(['both', 'v2', 'legacy'] as const)(
    'the signature headers of a body are printed for --scheme %s',
    async (scheme) => {
      writeFileSync(join(cli.cwd, 'body'), BYTES);
      const { exitCode, records } = await cli.run(['sign', 'body', ...AT, '--scheme', scheme]);
      expect(exitCode).toBe(0);
      expect(records).toEqual([{ kind: 'signed', at: new Date(NOW).toISOString(), headers: expect.any(Object) }]);
      const headers = records[0]?.['headers'] as Record<string, string>;
      const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      expect(lower).toEqual(sign({ body: BYTES, secret: SECRET, at: NOW, scheme }));
      expect(Object.keys(headers).every((name) => name.startsWith('X-Service-Signature'))).toBe(true);
    },
  );

  it('--text prints header lines for curl, here for a body from stdin', async () => {
    const { stdout } = await cli.run(['sign', '--text', '--scheme', 'legacy'], { stdin: BYTES });
    const [legacy] = Object.values(sign({ body: BYTES, secret: SECRET, scheme: 'legacy' }));
    expect(stdout).toBe(`X-Service-Signature: ${legacy}\n`);
  });

  it.each<[source: string, stdin: string, secret: string | Uint8Array]>([
    ['env:OTHER', '', 'the other'],
    ['file:secret.txt', '', 'the other'],
    ['-', 'the other\n', 'the other'],
    ['file:bytes', '', new Uint8Array([0xff, 0xfe])],
  ])('--secret %s signs with the secret from that source', async (source, stdin, secret) => {
    writeFileSync(join(cli.cwd, 'secret.txt'), 'the other\r\n');
    writeFileSync(join(cli.cwd, 'bytes'), Buffer.from([0xff, 0xfe]));
    writeFileSync(join(cli.cwd, 'body'), bodyOf());
    const { records } = await cli.run(['sign', 'body', ...AT, '--secret', source], {
      env: { OTHER: 'the other' },
      stdin,
    });
    const headers = Object.values(records[0]?.['headers'] as object);
    expect(headers).toEqual(Object.values(sign({ body: bodyOf(), secret, at: NOW })));
  });

  it('stdin as both the body and the secret is refused', async () => {
    const ended = await cli.run(['sign', '-', '--secret', '-'], { stdin: 'x' });
    const says = /^service-webhooks: stdin can be read only once: give one of the two as a file\.\n$/;
    expect(ended).toMatchObject(failed(2, says));
  });
});
