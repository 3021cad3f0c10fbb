import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain } from 'service-webhooks-cli/explain';
import { describe, expect, it } from 'vitest';
import { NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { bodies, type Damage, damages, right } from '../../explain/damages.js';
import { useCli } from '../../support/cli.js';

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

const run = ({ headers, body, secret, at }: Omit<Written, 'damage'>, ...more: string[]) => {
  writeFileSync(join(cli.cwd, 'body'), body);
  writeFileSync(join(cli.cwd, 'headers'), headers);
  const args = ['explain', 'body', '--headers', 'headers', '--at', String(at), ...more];
  return cli.run(args, { env: { WEBHOOK_SECRET: secret } });
};

describe('explain', () => {
  it('explain names the cause of nearly every kind of damage, and never a wrong one as certain', {
    timeout: 60_000,
  }, async () => {
    const missed: string[] = [];
    for (const { damage, ...delivery } of written) {
      const { exitCode, records } = await run(delivery);
      expect(exitCode, damage.name).toBe(1);
      const causes = records[0]?.['causes'] as { cause: string; certainty: string }[];
      if (causes[0]?.cause !== damage.cause) missed.push(damage.name);
      const certain = causes.filter(({ certainty }) => certainty === 'certain').map(({ cause }) => cause);
      const true_ = [damage.cause, ...(damage.also ?? [])];
      expect(
        certain.filter((cause) => !true_.includes(cause as never)),
        damage.name,
      ).toEqual([]);
    }
    expect(missed.length, missed.join(', ')).toBeLessThanOrEqual(2);
  });

  it('explain says what the library says', async () => {
    const whole = right(Object.values(bodies)[0] ?? '');
    const body = Buffer.from(`${whole.body}\n`);
    const lines = Object.entries(whole.headers).map((pair) => pair.join(': '));
    const { records } = await run({ headers: lines.join('\n'), body, secret: SECRET, at: NOW / 1000 });
    const { verdict, causes } = explain({ ...whole, body, now: () => NOW });
    expect(records).toEqual([
      { kind: 'explained', verdict, at: new Date(NOW).toISOString(), asCaptured: false, causes },
    ]);
  });

  it('explain says of a signature that holds what else is wrong', async () => {
    const { headers, body } = right('{}');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    const { exitCode, records } = await run({ headers: lines.join('\n'), body, secret: SECRET, at: NOW / 1000 });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([{ verdict: 'invalid_envelope', causes: [{ cause: 'no_event' }] }]);
  });

  it('explain says that a delivery verifies', async () => {
    const { headers, body } = right(Object.values(bodies)[0] ?? '');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    const { exitCode, records } = await run({ headers: lines.join('\n'), body, secret: SECRET, at: NOW / 1000 });
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ verdict: 'accepted', causes: [] }]);
  });

  it('explain knows secrets by the names that they are given', async () => {
    const { headers, body } = right(Object.values(bodies)[0] ?? '');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    writeFileSync(join(cli.cwd, 'staging'), SECRET);
    const delivery = { headers: lines.join('\n'), body, secret: 'another', at: NOW / 1000 };
    const { records, stdout } = await run(delivery, '--other', 'staging=file:staging');
    expect(records).toMatchObject([
      { causes: [{ cause: 'secret_of_other_endpoint', evidence: expect.stringContaining('staging') }] },
    ]);
    expect(stdout).not.toContain(SECRET);
  });

  it('explain knows several of them', async () => {
    const { headers, body } = right(Object.values(bodies)[0] ?? '');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    writeFileSync(join(cli.cwd, 'staging'), SECRET);
    writeFileSync(join(cli.cwd, 'old'), 'the old one');
    const delivery = { headers: lines.join('\n'), body, secret: 'another', at: NOW / 1000 };
    const { records } = await run(delivery, '--other', 'staging=file:staging', '--other', 'old=file:old');
    expect(records).toMatchObject([{ causes: [{ evidence: expect.stringContaining('staging') }] }]);
  });

  it.each([
    ['staging', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.'],
    ['=env:A', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.'],
    ['=staging=env:A', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.'],
    ['staging=env:A\nB', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.'],
    ['staging=', '--other takes a name and where the secret is: staging=env:STAGING_SECRET.'],
    [`staging=${SECRET}`, 'a secret on the command line is seen by everyone on the machine'],
  ])('explain does not take --other %s', async (other, says) => {
    const { exitCode, stdout, stderr } = await cli.run(['explain', 'body', '--other', other]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`service-webhooks: ${says}`);
    expect(stderr).not.toContain(SECRET);
  });

  it('explain looks at it as the receiver does: legacy, tolerance, names of headers', async () => {
    const { headers, body } = right(Object.values(bodies)[0] ?? '');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    const delivery = { headers: lines.join('\n'), body, secret: SECRET, at: NOW / 1000 + 400 };
    expect((await run(delivery)).records).toMatchObject([{ verdict: 'timestamp_too_old' }]);
    expect((await run(delivery, '--tolerance', '400')).records).toMatchObject([{ verdict: 'accepted' }]);
    expect((await run(delivery, '--header-prefix', 'x-vendor')).exitCode).toBe(1);
    const legacy = { ...delivery, headers: lines.filter((line) => !/-v2:/i.test(line)).join('\n') };
    expect((await run(legacy)).records).toMatchObject([{ verdict: 'legacy_not_accepted' }]);
    expect((await run(legacy, '--legacy', 'accept')).records).toMatchObject([{ verdict: 'accepted' }]);
  });

  it('explain says that there is no secret, where there is none', async () => {
    const { headers, body } = right(Object.values(bodies)[0] ?? '');
    const lines = Object.entries(headers).map((pair) => pair.join(': '));
    writeFileSync(join(cli.cwd, 'd.http'), `POST / HTTP/1.1\n${lines.join('\n')}\n\n${body}`);
    const { exitCode, records } = await cli.run(['explain', 'd.http'], { env: { WEBHOOK_SECRET: undefined } });
    expect(exitCode).toBe(1);
    expect(records).toMatchObject([
      { causes: expect.arrayContaining([expect.objectContaining({ cause: 'secret_missing' })]) },
    ]);
  });
});
