import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { useCli } from '../../support/cli.js';
import { hasSqlite, openQueueFile, type QueueFile } from './sqlite-queue-file.js';

const cli = useCli();
const A = aQueued({ eventId: 'evt_a' });
const C = aQueued({ eventId: 'evt_c' });
let file: QueueFile;

const queue = (...words: string[]) => cli.run(['queue', ...words, '--sqlite', 'webhooks.db']);
const eventsIn = (records: readonly { [name: string]: unknown }[]) => records.map(({ eventId }) => eventId);
const left = async () => (await file.queue.deadLetters()).map(({ delivery }) => delivery?.key.slice('test:'.length));

describe.runIf(hasSqlite)('queue', () => {
  beforeEach(async () => {
    file = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    onTestFinished(() => file.handle.close());
    await file.queue.init();
  });

  /** Three dead letters, the second one of another type. */
  async function buryThree(): Promise<void> {
    await file.bury('no clip', A);
    await file.bury('no room', aQueued({ eventId: 'evt_b', type: 'stt.failed' }));
    await file.bury('no clip', C);
  }

  it('list prints the dead letters, the oldest first', async () => {
    await buryThree();
    const { exitCode, records } = await queue('list');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      {
        kind: 'job',
        state: 'dead',
        eventId: 'evt_a',
        type: 'stt.completed',
        attempts: 1,
        reason: expect.stringContaining('no clip'),
      },
      { eventId: 'evt_b', type: 'stt.failed', reason: expect.stringContaining('no room') },
      { eventId: 'evt_c' },
    ]);
    expect(Date.parse(String(records[0]?.['at']))).toBeLessThanOrEqual(Date.now());
  });

  it('list takes filters, a limit, and jobs in another state', async () => {
    await buryThree();
    await file.queue.put(aQueued({ eventId: 'evt_w' }));
    expect(eventsIn((await queue('list', '--type', 'stt.failed,trigger.failed')).records)).toEqual(['evt_b']);
    expect(eventsIn((await queue('list', '--event', 'evt_a', '--event', 'evt_c')).records)).toEqual(['evt_a', 'evt_c']);
    expect(eventsIn((await queue('list', '--since', '1m')).records)).toHaveLength(3);
    expect(eventsIn((await queue('list', '--since', '2999-01-01T00:00:00Z')).records)).toEqual([]);
    expect((await queue('list', '--state', 'waiting')).records).toMatchObject([{ state: 'waiting', eventId: 'evt_w' }]);
    const { stdout, stderr } = await queue('list', '--limit', '2', '--text');
    expect(stdout.split('\n')).toEqual([
      expect.stringContaining('evt_a'),
      expect.stringMatching(/stt\.failed {2}evt_b {2}attempts 1 {2}.*no room/),
      '',
    ]);
    expect(stderr).toBe('There are more: --limit shows them.\n');
  });

  it('list refuses a type that is nearly a known one', async () => {
    const { exitCode, stderr } = await queue('list', '--type', 'stt.complete');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('Did you mean stt.completed?'),
    });
  });

  it('show prints a dead letter with its body, by its id or that of its event', async () => {
    await buryThree();
    const { records } = await queue('show', 'evt_b');
    expect(records).toMatchObject([
      { eventId: 'evt_b', reason: expect.stringContaining('no room'), key: 'test:evt_b', scheme: 'v2' },
    ]);
    expect(JSON.parse(String(records[0]?.['body']))).toMatchObject({ id: 'evt_b', type: 'stt.failed' });
    const again = await queue('show', String(records[0]?.['id']));
    expect(again.records).toEqual(records);
    expect((await queue('show', 'evt_b', '--text')).stdout).toContain('"id":"evt_b"');
  });

  it.each(['show', 'retry', 'discard'])(
    '%s answers 2 for an id that is not there, with the nearest one',
    async (name) => {
      await buryThree();
      const { exitCode, stderr } = await queue(name, 'evt_bb');
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining(
          "'evt_bb' is none of the 3 dead letters, nor the id of one's event. Did you mean",
        ),
      });
      expect(await left()).toHaveLength(3);
    },
  );

  it('retry puts dead letters back, with all their attempts', async () => {
    await buryThree();
    const { exitCode, records } = await queue('retry', 'evt_a', 'evt_c');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      { kind: 'retried', eventId: 'evt_a' },
      { kind: 'retried', eventId: 'evt_c' },
    ]);
    expect(await left()).toEqual(['evt_b']);
    expect(await file.queue.jobs({ state: 'waiting' })).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  it('a retry that meets a PermanentError is a dead letter again at once, with its reason', async () => {
    await file.bury('no clip', A);
    expect((await queue('retry', '--all')).exitCode).toBe(0);
    await file.bury('still no clip');
    expect((await queue('list')).records).toMatchObject([
      { eventId: 'evt_a', attempts: 1, reason: expect.stringContaining('still no clip') },
    ]);
  });

  it('retry and discard take those that a filter selects, up to the limit', async () => {
    await buryThree();
    const retried = await queue('retry', '--type', 'stt.completed', '--limit', '1', '--text');
    expect(retried.stdout).toMatch(/^retried {2}\d+ {2}stt\.completed {2}evt_a\n$/);
    expect(retried.stderr).toBe('There are more than 1: run it again, or raise --limit.\n');
    const discarded = await queue('discard', '--since', '1m');
    expect(discarded.records).toMatchObject([
      { kind: 'discarded', eventId: 'evt_b' },
      { kind: 'discarded', eventId: 'evt_c' },
    ]);
    expect(await file.queue.stats()).toMatchObject({ depth: 1, dead: 0 });
  });

  it('a letter has its tenant, and --tenant selects those of one, also among the letters of an event', async () => {
    await file.bury('no clip', aQueued({ eventId: 'evt_a', key: 'test:tenant=acme:evt_a', tenant: 'acme' }));
    await file.bury('no clip', aQueued({ eventId: 'evt_a', key: 'test:tenant=globex:evt_a', tenant: 'globex' }));
    await file.bury('no clip', C);
    const tenantsIn = (run: Awaited<ReturnType<typeof queue>>) => run.records.map(({ tenant }) => tenant);
    expect(tenantsIn(await queue('list'))).toEqual(['acme', 'globex', undefined]);
    expect((await queue('list', '--tenant', 'globex', '--text')).stdout).toMatch(/^[^\n]*evt_a {2}of globex[^\n]*\n$/);
    expect(tenantsIn(await queue('show', 'evt_a'))).toEqual(['acme', 'globex']);
    expect(tenantsIn(await queue('discard', 'evt_a', '--tenant', 'globex'))).toEqual(['globex']);
    expect(tenantsIn(await queue('retry', '--tenant', 'acme'))).toEqual(['acme']);
    expect(await left()).toEqual(['evt_c']);
  });

  it.each(['retry', 'discard'])('%s --dry-run changes nothing', async (name) => {
    await buryThree();
    const { exitCode, records } = await queue(name, '--all', '--dry-run', '--limit', '2');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      { dryRun: true, eventId: 'evt_a' },
      { dryRun: true, eventId: 'evt_b' },
    ]);
    expect(await left()).toHaveLength(3);
  });

  it.each([
    [['retry'], 'which ones?'],
    [['discard'], 'which ones?'],
    [['retry', 'evt_a', '--all'], 'not both'],
    [['discard', 'evt_a', '--type', 'stt.failed'], 'not both'],
  ])('%j is refused, with 2', async (words, says) => {
    await buryThree();
    const { exitCode, stderr } = await queue(...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(says) });
    expect(await left()).toHaveLength(3);
  });

  it('a retry that is spread over a time ends with Ctrl+C, and leaves the rest where they are', async () => {
    await buryThree();
    const { next, signal, ended } = cli.start(['queue', 'retry', '--all', '--over', '60m', '--sqlite', 'webhooks.db']);
    expect(await next('retried')).toMatchObject({ eventId: 'evt_a' });
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130 });
    expect(await left()).toEqual(['evt_b', 'evt_c']);
  });

  it('a dead letter that another operator has discarded meanwhile is gone, with 1', async () => {
    await buryThree();
    const { next, ended } = cli.start(['queue', 'retry', '--all', '--over', '6s', '--sqlite', 'webhooks.db']);
    await next('retried');
    const [, last] = await file.queue.deadLetters();
    await file.queue.discard(last?.id ?? '');
    const { exitCode, records } = await ended;
    expect(exitCode).toBe(1);
    expect(records.at(-1)).toMatchObject({ kind: 'gone', eventId: 'evt_c' });
  });

  it('control characters in a reason, an id or a type do not reach the terminal', async () => {
    const evil = '\u001b[2J\u0007\u202eevil\nline';
    await file.bury(evil, aQueued({ eventId: `evt_${evil}`, type: `stt.${evil}` }));
    for (const words of [['list'], ['show', `evt_${evil}`], ['retry', '--all', '--dry-run'], ['show', `x${evil}`]]) {
      for (const form of ['--text', '--json']) {
        const { stdout, stderr } = await queue(...words, form);
        expect(stdout + stderr).toContain('\\u001b[2J');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
        expect((stdout + stderr).split('\n').filter((line) => line.startsWith('line'))).toEqual([]);
      }
    }
  });

  it('a job that is no delivery of this version is listed and discarded, and other bodies do no harm', async () => {
    await file.queue.put(A);
    const insert = file.handle.prepare(
      "INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at) VALUES (?, 'clips', 'dead', ?, 1, 1e300)",
    );
    const bodies = ['', '!', btoa('[]'), btoa('null'), btoa('{"id":7,"type":{}}')];
    insert.run('k0', 'no JSON');
    for (const [i, body] of bodies.entries()) insert.run(`k${i + 1}`, JSON.stringify({ v: 1, key: 'k', body }));
    const { exitCode, records } = await queue('list');
    expect({ exitCode, kinds: records.map(({ eventId, type, at }) => [eventId, type, at]) }).toEqual({
      exitCode: 0,
      kinds: Array.from({ length: 6 }, () => [undefined, undefined, undefined]),
    });
    const shown = await queue('show', String(records[0]?.['id']), '--text');
    expect(shown.stdout).toContain('no delivery that this version can read');
    expect((await queue('discard', '--all')).records).toHaveLength(6);
  });

  describe('says what is wrong:', () => {
    const run = (...words: string[]) => cli.run(['queue', 'list', ...words]);

    it('a queue that is not named', async () => {
      expect(await run()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('say where the queue is') });
      expect(await run('--sqlite', 'a', '--rabbitmq')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('cannot be used with'),
      });
    });

    it('a file that is not there, is no database, or has no queue', async () => {
      writeFileSync(
        join(cli.cwd, 'text.db'),
        'this is no database, but it is long enough to be read as one'.repeat(99),
      );
      file.handle.exec('CREATE TABLE other (a)');
      expect(await run('--sqlite', 'nowhere.db')).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('no such file'),
      });
      expect(await run('--sqlite', 'text.db')).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('not a database'),
      });
      expect(await run('--sqlite', 'webhooks.db', '--table', 'webhook_queues')).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('has no table webhook_queues: name the table of the queue with --table'),
      });
      expect(await run('--sqlite', 'webhooks.db', '--table', 'a b')).toMatchObject({ exitCode: 2 });
    });

    it('a queue that is not in the table, with the nearest name, and several without a name', async () => {
      expect(await run('--sqlite', 'webhooks.db')).toMatchObject({ exitCode: 0, records: [] });
      await file.queue.put(A);
      const other = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'), 'songs');
      await other.queue.put(aQueued({ key: 'songs:evt_1' }));
      other.handle.close();
      expect(await run('--sqlite', 'webhooks.db', '--queue', 'clisp')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("no queue 'clisp'. Did you mean 'clips'?"),
      });
      expect(await run('--sqlite', 'webhooks.db')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('several queues: pass --queue, one of clips, songs.'),
      });
      expect(await run('--sqlite', 'webhooks.db', '--queue', 'songs')).toMatchObject({ exitCode: 0 });
    });
  });
});
