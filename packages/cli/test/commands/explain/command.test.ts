import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain } from 'service-webhooks-cli/explain';
import { describe, expect, it } from 'vitest';
import { NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { bodies, type Damage, damages, right } from '../../explain/damages.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';

const cli = useCli();

/** What happened to a delivery before it was written to a file. */
interface Written {
  damage: Damage;
  headers: string;
  body: Uint8Array;
  secret: string;
  at: number;
}

/** Each kind of damage that a file, its headers and a secret can have, once. */
const all: Written[] = damages.flatMap((damage) => {
  for (const text of Object.values(bodies)) {
    const whole = right(text);
    const damaged = damage.damage(whole);
    if (damaged === undefined) continue;
    const { headers, body, secret, now = () => NOW, otherSecrets } = { ...whole, ...damaged } as never as Whole;
    const isText = typeof body === 'string' || body instanceof Uint8Array;
    const isSecret = typeof secret === 'string' && secret.trim() === secret && secret !== '';
    if (!isText || !isSecret || otherSecrets || now() < 1e11) return [];
    const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
    return [{ damage, headers: lines.join('\n'), body: Buffer.from(body), secret, at: now() / 1000 }];
  }
  return [];
});

/** Every kind is tried in the library's own test; here twenty from all over the table. */
const written = Array.from({ length: 20 }, (_, index) => all[Math.floor((index * all.length) / 20)] as Written);

interface Whole {
  headers: Record<string, string | string[]>;
  body: unknown;
  secret: unknown;
  otherSecrets?: unknown;
  now?: () => number;
}

const TEXT = Object.values(bodies)[0] ?? '';

/** A delivery with nothing wrong with it. */
function delivered(text = TEXT): Omit<Written, 'damage'> {
  const { headers, body } = right(text);
  const lines = Object.entries(headers).map((pair) => pair.join(': '));
  return { headers: lines.join('\n'), body: Buffer.from(body), secret: SECRET, at: NOW / 1000 };
}

const run = ({ headers, body, secret, at }: Omit<Written, 'damage'>, ...more: string[]) => {
  writeFileSync(join(cli.cwd, 'body'), body);
  writeFileSync(join(cli.cwd, 'headers'), headers);
  const args = ['explain', 'body', '--headers', 'headers', '--at', String(at), ...more];
  return cli.run(args, { env: { WEBHOOK_SECRET: secret } });
};

describe('the command explain', () => {
  it('at least 18 of 20 damages are named first, and no wrong cause is certain', async () => {
    const missed: string[] = [];
    for (const { damage, ...delivery } of written) {
      const { exitCode, records } = await run(delivery);
      expect(exitCode, damage.name).toBe(1);
      const causes = records[0]?.['causes'] as { cause: string; certainty: string }[];
      if (causes[0]?.cause !== damage.cause) missed.push(damage.name);
      const certain = causes.filter(({ certainty }) => certainty === 'certain').map(({ cause }) => cause);
      const trueOnes: string[] = [damage.cause, ...(damage.also ?? [])];
      expect(trueOnes, damage.name).toEqual(expect.arrayContaining(certain));
    }
    expect(missed.length, missed.join(', ')).toBeLessThanOrEqual(2);
  });

  it('the printed causes are those of explain() of the library', async () => {
    const whole = right(TEXT);
    const body = Buffer.from(`${whole.body}\n`);
    const { records } = await run({ ...delivered(), body });
    const { verdict, causes } = explain({ ...whole, body, now: () => NOW });
    expect(records).toEqual([
      { kind: 'explained', verdict, at: new Date(NOW).toISOString(), asCaptured: false, causes },
    ]);
  });

  it('a body that is no event is named where the signature is valid', async () => {
    const { exitCode, records } = await run(delivered('{}'));
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ verdict: 'invalid_envelope', causes: [{ cause: 'no_event' }] }]);
  });

  it('a delivery that verifies has no causes', async () => {
    const { exitCode, records } = await run(delivered());
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ verdict: 'accepted', causes: [] }]);
  });

  it('--other names secrets of other endpoints', async () => {
    writeFileSync(join(cli.cwd, 'staging'), SECRET);
    writeFileSync(join(cli.cwd, 'old'), 'the old one');
    const others = ['--other', 'staging=file:staging', '--other', 'old=file:old'];
    const { records, stdout } = await run({ ...delivered(), secret: 'another' }, ...others);
    expect(records).toMatchObject([
      { causes: [{ cause: 'secret_of_other_endpoint', evidence: expect.stringContaining('staging') }] },
    ]);
    expect(stdout).not.toContain(SECRET);
  });

  const form = '--other takes a name and where the secret is: staging=env:STAGING_SECRET.';
  it.each([
    ['staging', form],
    ['=env:A', form],
    ['=staging=env:A', form],
    ['staging=env:A\nB', form],
    ['staging=', form],
    [`staging=${SECRET}`, 'a secret on the command line is seen by everyone on the machine'],
  ])('--other refuses %j', async (other, says) => {
    const ended = await cli.run(['explain', 'body', '--other', other]);
    expect(ended).toMatchObject(failed(2, `service-webhooks: ${says}`));
    expect(ended.stderr).not.toContain(SECRET);
  });

  it('--legacy, --tolerance and --header-prefix apply the settings of the receiver', async () => {
    const delivery = { ...delivered(), at: NOW / 1000 + 400 };
    expect((await run(delivery)).records).toMatchObject([{ verdict: 'timestamp_too_old' }]);
    expect((await run(delivery, '--tolerance', '400')).records).toMatchObject([{ verdict: 'accepted' }]);
    expect((await run(delivery, '--header-prefix', 'x-vendor')).exitCode).toBe(1);
    const legacy = { ...delivery, headers: delivery.headers.replace(/^.*-v2:.*\n/im, '') };
    expect((await run(legacy)).records).toMatchObject([{ verdict: 'legacy_not_accepted' }]);
    expect((await run(legacy, '--legacy', 'accept')).records).toMatchObject([{ verdict: 'accepted' }]);
  });

  it('a missing secret is printed as a cause', async () => {
    const { headers, body } = delivered();
    writeFileSync(join(cli.cwd, 'd.http'), `POST / HTTP/1.1\n${headers}\n\n${body}`);
    const { exitCode, records } = await cli.run(['explain', 'd.http'], { env: { WEBHOOK_SECRET: undefined } });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([
      { causes: expect.arrayContaining([expect.objectContaining({ cause: 'secret_missing' })]) },
    ]);
  });
});
