import { PermanentError } from 'service-webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { serveApp } from '../../../../../test/support/app.js';
import { hidePackage, installPackage } from '../../../../../test/support/installed-package.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { type EngineFixture, enginesOn } from './engine-fixtures.js';
import { queueServers } from './queue-servers.js';
import { summedUp } from './summed-up.js';

const cli = useCli();
const engines = enginesOn(await queueServers());

describe.each(engines)('queue --$name', ({ name, packageName, variable, url, options, missing, open }) => {
  const queueName = `cli-${name}-${process.pid}`;
  let reason: string | undefined;
  let fixture: EngineFixture;
  let runs: string[];

  /** The command, with the URL in the environment, where a password may be. */
  const queue = async (...words: string[]) => {
    const place = [`--${name}`, '--queue', queueName, ...options];
    return summedUp(await cli.run(['queue', ...words, ...place, '--json'], { env: { [variable]: url } }));
  };
  const dead = async (count: number) =>
    vi.waitUntil(async () => (await fixture.queue.deadLetters()).length === count, PATIENTLY);

  beforeEach(async () => {
    installPackage(cli.cwd, packageName);
    runs = [];
    reason = 'no clip';
    fixture = await open(queueName);
    await fixture.queue.init?.();
    const handler = (event: { id: string }) => {
      runs.push(event.id);
      if (reason !== undefined) throw new PermanentError(reason);
    };
    fixture.work({ on: { '*': handler }, logger: false });
  });
  afterEach(() => fixture.close());

  /** Puts deliveries and waits until each is a dead letter. */
  async function bury(...deliveries: { eventId: string; type?: string }[]): Promise<void> {
    for (const [index, delivery] of deliveries.entries()) {
      await fixture.queue.put(aQueued(delivery));
      await dead(index + 1);
    }
  }

  it('dead letters are listed, shown, retried and discarded', async () => {
    await bury({ eventId: 'evt_a' }, { eventId: 'evt_b', type: 'stt.failed' }, { eventId: 'evt_c' });
    const listed = await queue('list');
    expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(listed.records).toMatchObject([
      { state: 'dead', eventId: 'evt_a', type: 'stt.completed', reason: expect.stringContaining('no clip') },
      { eventId: 'evt_b', type: 'stt.failed' },
      { eventId: 'evt_c' },
    ]);
    const shown = await queue('show', String(listed.records[1]?.['id']));
    expect(shown.records).toMatchObject([{ ...listed.records[1], body: expect.stringContaining('"id":"evt_b"') }]);

    const limited = await queue('discard', '--type', 'stt.completed', '--limit', '1', '--yes');
    expect(limited.records).toMatchObject([{ kind: 'discarded', eventId: 'evt_a' }]);
    expect((await queue('retry', '--since', '30m', '--dry-run')).records).toMatchObject([
      { dryRun: true, eventId: 'evt_b' },
      { dryRun: true, eventId: 'evt_c' },
    ]);
    reason = undefined;
    runs = [];
    expect((await queue('retry', 'evt_c', 'evt_b')).records).toMatchObject([
      { kind: 'retried', eventId: 'evt_c' },
      { kind: 'retried', eventId: 'evt_b' },
    ]);
    await vi.waitUntil(() => runs.length === 2, PATIENTLY);
    expect(runs.toSorted()).toEqual(['evt_b', 'evt_c']);
    expect((await queue('list')).records).toEqual([]);
  });

  it('a retried delivery that fails for good is a dead letter again, with its reason', async () => {
    await bury({ eventId: 'evt_a' });
    reason = 'still no clip';
    expect(await queue('retry', '--all')).toMatchObject({ exitCode: 0, records: [{ eventId: 'evt_a' }] });
    await vi.waitUntil(() => runs.length === 2, PATIENTLY);
    await dead(1);
    expect((await queue('list')).records).toMatchObject([
      { eventId: 'evt_a', reason: expect.stringContaining('still no clip') },
    ]);
    expect(runs).toEqual(['evt_a', 'evt_a']);
  });

  it('queue replay sends a dead letter to an endpoint, and leaves it in the queue', async () => {
    await bury({ eventId: 'evt_a' });
    const app = await serveApp();
    expect(await queue('replay', 'evt_a', app.url)).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'replayed', letter: expect.any(String), status: 200 }],
    });
    expect(JSON.parse(String(app.got[0]?.body))).toMatchObject({ id: 'evt_a' });
    expect(await fixture.queue.deadLetters()).toHaveLength(1);
  });

  it('a queue that does not exist exits with 2, and is not created', async () => {
    const words = ['queue', 'list', `--${name}`, '--queue', `${queueName}x`, ...options];
    for (let times = 0; times < 2; times += 1) {
      expect(await cli.run(words, { env: { [variable]: url } })).toMatchObject(failed(2, missing));
    }
  });
});

describe.each(engines)('a mistake with queue --$name', ({ name, packageName, variable, url }) => {
  const list = (value: string[], env: Record<string, string> = {}) =>
    cli.run(['queue', 'list', `--${name}`, ...value, '--queue', 'webhooks'], { env });
  const { protocol } = new URL(url);

  it('the error in a project without the library says what to install', async () => {
    hidePackage(cli.cwd, packageName);
    const says = `has no ${packageName}: run this where your app is, or npm install`;
    expect(await list([], { [variable]: url })).toMatchObject(failed(2, says));
  });

  const away = `${protocol}//me:hunter2@127.0.0.1:1/test`;
  const noAnswer = new RegExp(
    `${name} at 127\\.0\\.0\\.1:1 does not answer: .*(ECONNREFUSED|connection refused).*Check the URL`,
  );
  it.each<[string, string[], string | undefined, number, string | RegExp]>([
    ['a server that is away', [], away, 4, noAnswer],
    ['no URL', [], undefined, 2, `or set ${variable}`],
    ['a URL with a password on the command line', [away], undefined, 2, 'has a password in it'],
    ['a word that is no URL', ['hunter2'], undefined, 2, 'Ids stand in front of it'],
    ['a variable that is no URL', [], 'hunter2', 2, `--${name} takes a URL such as`],
  ])('the error names %s, and no password', async (_, value, ofVariable, exitCode, says) => {
    installPackage(cli.cwd, packageName);
    const ended = await list(value, ofVariable === undefined ? {} : { [variable]: ofVariable });
    expect(ended).toMatchObject(failed(exitCode, says));
    expect(ended.stderr).not.toContain('hunter2');
  });
});
