import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { webhookHandler } from 'service-webhooks/node';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { hasProgram } from '../../../../../test/integration/program.js';
import { serveApp, serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { inside, useCli } from '../../support/cli.js';
import { withoutKeyLine } from '../../support/key-line.js';
import { inTerminal } from '../../support/pseudo-terminal.js';
import { failed } from '../support.js';

const cli = useCli();
const HOURS_AGO = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

let emulator: Emulator;
let env: Record<string, string>;
beforeEach(async () => {
  emulator = createEmulator({ clock: 'real', allowLoopback: true });
  onTestFinished(() => emulator.close());
  env = { SERVICE_API_KEY: emulator.apiKey, SERVICE_URL: (await emulator.listen()).url, WEBHOOK_SECRET: SECRET };
});

const rotate = async (...args: string[]) => {
  const ended = await cli.run(['endpoints', 'rotate', ...args], { env });
  return { ...ended, stderr: withoutKeyLine(ended.stderr) };
};
const steps = (records: readonly Record<string, unknown>[]) => records.map(({ step, state }) => `${step} ${state}`);
const inCwd = (name: string) => join(cli.cwd, name);

/** An app whose secrets can be changed while it runs, and an endpoint that delivers to it. */
async function anApp() {
  const handled: string[] = [];
  const app = { secrets: [SECRET], handled };
  const receive = () =>
    webhookHandler({ secret: app.secrets, logger: false, on: { '*': ({ id }) => void handled.push(id) } });
  const { url } = await serveListener((req, res) => receive()(req, res));
  const { id } = emulator.endpoints.create({ url, events: ['stt.failed'], signingSecret: SECRET });
  return Object.assign(app, { url, id });
}

/** Begins a rotation, and lets the app accept both secrets. */
async function rotateToBoth(app: Awaited<ReturnType<typeof anApp>>): Promise<void> {
  await rotate(app.id, '--save-secret', 'new.txt');
  app.secrets = [readFileSync(inCwd('new.txt'), 'utf8').trim(), SECRET];
}

/** As if the rotation had begun so many hours ago. */
function age(id: string, hours: number): void {
  const file = inCwd(`rotation-${id}.json`);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), begunAt: HOURS_AGO(hours) }));
}

// A dozen processes each.
describe('endpoints rotate', () => {
  it('each run does the next step of the rotation, and no event is lost', async () => {
    const app = await anApp();
    const first = await rotate(app.id, '--save-secret', 'new.txt');
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(steps(first.records)).toEqual(['create done', 'accept next', 'wait later', 'delete later']);
    expect(first.records[0]).toMatchObject({ secretFile: 'new.txt' });
    expect(statSync(inCwd('new.txt')).mode & 0o777).toBe(0o600);
    const fresh = readFileSync(inCwd('new.txt'), 'utf8').trim();
    const [, second] = emulator.endpoints.list();
    expect(second).toMatchObject({ url: app.url, events: ['stt.failed'] });

    const refused = await rotate(app.id);
    expect(refused.exitCode).toBe(1);
    expect(steps(refused.records)).toEqual(['create done', 'accept refused', 'delete later']);
    expect(refused.stdout).toContain('secret: [WEBHOOK_SECRET, OLD_WEBHOOK_SECRET]');

    app.secrets = [fresh, SECRET];
    const waiting = await rotate(app.id);
    expect(waiting.exitCode).toBe(1);
    expect(steps(waiting.records)).toEqual(['create done', 'accept done', 'wait next', 'delete later']);
    expect(app.handled).toEqual([]);

    age(app.id, 6);
    const last = await rotate(app.id, '--yes');
    expect(last).toMatchObject({ exitCode: 0, stderr: '' });
    expect(steps(last.records)).toEqual(['create done', 'accept done', 'wait done', 'delete done']);
    expect(emulator.endpoints.list()).toMatchObject([{ id: second?.id }]);
    expect(existsSync(inCwd(`rotation-${app.id}.json`))).toBe(false);

    app.secrets = [fresh];
    const { event } = await emulator.emit('stt.failed');
    await emulator.settled();
    expect(app.handled).toEqual([event.id]);
    for (const { stdout, stderr } of [first, refused, waiting, last]) {
      expect(stdout + stderr).not.toContain(fresh);
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });

  it('--dry-run shows every step and changes nothing', async () => {
    const app = await serveApp();
    const { id } = emulator.endpoints.create({ url: app.url });
    const planned = await rotate(id, '--dry-run');
    // The figure of docs/rotate-a-secret.md, which test/service/schedule.test.ts derives from the schedule.
    expect(planned.stdout).toContain('5 h 15 min, since ');
    expect([planned.exitCode, steps(planned.records)]).toEqual([
      0,
      ['create next', 'accept later', 'wait later', 'delete later'],
    ]);
    expect(emulator.totals.endpoints).toBe(1);
    expect(existsSync(inCwd(`rotation-${id}.json`))).toBe(false);

    await rotate(id, '--save-secret', 'new.txt');
    age(id, 6);
    const later = await rotate(id, '--dry-run', '--yes');
    expect(steps(later.records)).toEqual(['create done', 'accept next', 'wait later', 'delete later']);
    expect(emulator.endpoints.list()).toHaveLength(2);
    expect(app.got).toEqual([]);
  });

  it('nothing is deleted before the retries are over, unless --no-wait says so', async () => {
    const app = await anApp();
    await rotateToBoth(app);
    age(app.id, 5.2);
    expect((await rotate(app.id, '--yes')).exitCode).toBe(1);
    expect(emulator.endpoints.list()).toHaveLength(2);
    expect((await rotate(app.id, '--yes', '--no-wait')).exitCode).toBe(0);
    expect(emulator.endpoints.list()).toHaveLength(1);
  });

  it('an app that answers everything alike is not known to accept both secrets', async () => {
    const app = await serveApp();
    const { id } = emulator.endpoints.create({ url: app.url });
    await rotate(id, '--save-secret', 'new.txt');
    expect(steps((await rotate(id)).records)).toContain('accept unknown');
    const alone = await rotate(id, '--secret', 'file:new.txt');
    expect(alone.records[1]).toMatchObject({ state: 'unknown', says: expect.stringContaining('name both secrets') });
  });

  it('--second goes on with an endpoint that is there already', async () => {
    const app = await anApp();
    const other = emulator.endpoints.create({ url: app.url });
    const refused = await rotate(app.id, '--save-secret', 'new.txt');
    expect(refused).toMatchObject(failed(1, `${other.id} has the same URL already`));
    expect(existsSync(inCwd('new.txt'))).toBe(false);
    expect(await rotate(app.id, '--second', 'wh_unknown')).toMatchObject({ exitCode: 1 });

    expect((await rotate(app.id, '--second', other.id)).exitCode).toBe(0);
    app.secrets = [other.signingSecret, SECRET];
    writeFileSync(inCwd('other.txt'), other.signingSecret);
    const { records } = await rotate(app.id, '--secret', 'env:WEBHOOK_SECRET', '--secret', 'file:other.txt');
    expect(steps(records)).toContain('accept done');
  });

  it('a rotation whose run was killed after the deletion is ended', async () => {
    const app = await anApp();
    await rotate(app.id, '--save-secret', 'new.txt');
    emulator.endpoints.remove(app.id);
    expect(steps((await rotate(app.id)).records)).toEqual(['delete done']);
    expect(existsSync(inCwd(`rotation-${app.id}.json`))).toBe(false);
  });

  it('a rotation stops where the second endpoint is gone, or the file is of another', async () => {
    const app = await anApp();
    await rotate(app.id, '--save-secret', 'new.txt');
    const file = inCwd(`rotation-${app.id}.json`);
    const { second } = JSON.parse(readFileSync(file, 'utf8'));
    emulator.endpoints.remove(second);
    const gone = await rotate(app.id, '--yes', '--no-wait');
    expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${second} is gone`) });
    writeFileSync(file, '{"first":"wh_other","second":"x","begunAt":"2026-07-11"}');
    expect(await rotate(app.id)).toMatchObject({ exitCode: 3 });
    expect(emulator.endpoints.list()).toMatchObject([{ id: app.id }]);
  });

  it.each([
    [['wh_unknown', '--save-secret', 'new.txt'], 1, 'there is no endpoint wh_unknown'],
    [['ID'], 2, '--save-secret FILE'],
  ])('the arguments %j exit with %i, and no endpoint is created', async (args, exitCode, says) => {
    const { id } = emulator.endpoints.create({ url: 'https://app.example/webhooks' });
    const ended = await rotate(...args.map((arg) => arg.replace('ID', id)));
    expect(ended).toMatchObject(failed(exitCode, says));
    expect(emulator.totals.endpoints).toBe(1);
  });
});

describe('endpoints test', () => {
  const test = (...args: string[]) => cli.run(['endpoints', 'test', ...args], { env });

  it('a signed sample of the first type goes to the URL, and the answer is printed', async () => {
    const app = await anApp();
    const { exitCode, records } = await test(app.id);
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([{ kind: 'tested', endpoint: app.id, type: 'stt.failed', acknowledged: true }]);
    expect(app.handled).toEqual([records[0]?.['id']]);
  });

  it('a refusal is explained, and an unknown endpoint or type is refused', async () => {
    const app = await anApp();
    app.secrets = ['another secret'];
    expect(await test(app.id)).toMatchObject({ exitCode: 1, records: [{ code: 'signature_mismatch', advice: {} }] });
    expect(await test('wh_unknown')).toMatchObject(failed(1, 'no endpoint wh_unknown'));
    expect(await test(app.id, '--type', 'nonsense')).toMatchObject({ exitCode: 2 });
    expect(app.handled).toEqual([]);
  });
});

describe('the question before endpoints are deleted', () => {
  it.each(['delete', 'rotate'])('--yes has to be passed without a terminal: endpoints %s', async (name) => {
    const app = await anApp();
    if (name === 'rotate') await rotateToBoth(app);
    const ended = await cli.run(['endpoints', name, app.id, ...(name === 'rotate' ? ['--no-wait'] : [])], { env });
    expect(ended).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('stdin is not a terminal: pass --yes'),
    });
    expect(emulator.endpoints.get(app.id)).toBeDefined();
  });

  // `script` gives a program a pseudo-terminal.
  it.runIf(hasProgram('script') && !inside).each([
    ['n\r', 1, true],
    ['\r', 1, true],
    ['y\r', 0, false],
    ['\u0003', 130, true],
    ['\u0004', 130, true],
  ])('the answer %j on a terminal exits with %i', async (answer, exitCode, stays) => {
    const { id } = await anApp();
    const terminal = inTerminal(cli, ['endpoints', 'delete', id], env);
    await terminal.shows(new RegExp(`Delete ${id}, with its delivery history\\? \\[y/N\\] `));
    terminal.type(answer);
    expect((await terminal.ended).exitCode).toBe(exitCode);
    expect(emulator.endpoints.get(id) !== undefined).toBe(stays);
  });

  it.runIf(hasProgram('script') && !inside)('a rotation asks on a terminal before its end', async () => {
    const app = await anApp();
    await rotateToBoth(app);
    age(app.id, 6);
    const answered = async (keys: string) => {
      const terminal = inTerminal(cli, ['endpoints', 'rotate', app.id], env);
      await terminal.shows(/\[y\/N\] /);
      terminal.type(keys);
      return terminal.ended;
    };
    for (const key of ['\u0003', '\u0004']) expect(await answered(key)).toMatchObject({ exitCode: 130 });
    expect(emulator.endpoints.list()).toHaveLength(2);
    expect((await answered('y\r')).shown).toMatch(/4 delete[^\n]*is gone/);
    expect(emulator.endpoints.list()).toHaveLength(1);
  });
});
