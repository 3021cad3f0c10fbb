import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { hasProgram } from '../../../../../test/integration/program.js';
import { aQueued } from '../../../../../test/queue/queued.js';
import { type Ended, inside, useCli } from '../../support/cli.js';
import { inTerminal } from '../../support/pseudo-terminal.js';
import { failed } from '../support.js';
import { hasSqlite, openQueueFile, type QueueFile } from './sqlite-queue-file.js';
import { summedUp } from './summed-up.js';

const cli = useCli();
const A = aQueued({ eventId: 'evt_a' });
const B = aQueued({ eventId: 'evt_b', type: 'stt.failed' });
const C = aQueued({ eventId: 'evt_c' });
let file: QueueFile;

const queue = async (...words: string[]) => {
  const form = words.includes('--text') ? [] : ['--json'];
  return summedUp(await cli.run(['queue', ...words, '--sqlite', 'webhooks.db', ...form]));
};
const inCwd = (name: string) => join(cli.cwd, name);
const eventsIn = ({ records }: Ended) => records.map(({ eventId }) => eventId);
const tenantsIn = ({ records }: Ended) => records.map(({ tenant }) => tenant);
const left = async () => (await file.queue.deadLetters()).map(({ delivery }) => delivery?.key.slice('test:'.length));

beforeEach(async () => {
  if (!hasSqlite) return;
  file = openQueueFile(cli.cwd, inCwd('webhooks.db'));
  onTestFinished(() => file.handle.close());
  await file.queue.init();
});

/** Three dead letters, the second one of another type. */
async function buryThree(): Promise<void> {
  await file.bury('no clip', A);
  await file.bury('no room', B);
  await file.bury('no clip', C);
}

describe.runIf(hasSqlite)('the commands queue list and queue show', () => {
  it('the oldest dead letter is the first, each with its reason', async () => {
    await buryThree();
    const { exitCode, records } = await queue('list');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      {
        ...{ kind: 'job', state: 'dead', eventId: 'evt_a', type: 'stt.completed', attempts: 1 },
        reason: expect.stringContaining('no clip'),
      },
      { eventId: 'evt_b', type: 'stt.failed', reason: expect.stringContaining('no room') },
      { eventId: 'evt_c' },
    ]);
    expect(Date.parse(String(records[0]?.['at']))).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    [['--type', 'stt.failed,trigger.failed'], ['evt_b']],
    [
      ['--event', 'evt_a', '--event', 'evt_c'],
      ['evt_a', 'evt_c'],
    ],
    [
      ['--since', '1m'],
      ['evt_a', 'evt_b', 'evt_c'],
    ],
    [
      ['--since', '2h'],
      ['evt_a', 'evt_b', 'evt_c'],
    ],
    [
      ['--since', '30d'],
      ['evt_a', 'evt_b', 'evt_c'],
    ],
    [['--since', '2999-01-01T00:00:00Z'], []],
    [['--state', 'waiting'], ['evt_w']],
  ])('list with the options %j prints the events %j', async (options, events) => {
    await buryThree();
    await file.queue.put(aQueued({ eventId: 'evt_w' }));
    expect(eventsIn(await queue('list', ...options))).toEqual(events);
  });

  it('the last record of a list says how many letters there are, and whether the list is cut', async () => {
    await buryThree();
    await file.queue.put(aQueued({ eventId: 'evt_w' }));
    const total = { kind: 'total', shown: 3, dead: 3, hasMore: false };
    expect((await queue('list')).sum).toEqual(total);
    expect((await queue('list', '--limit', '2')).sum).toEqual({ ...total, shown: 2, hasMore: true });
    expect((await queue('list', '--reason', 'no such')).sum).toEqual({ ...total, shown: 0, dead: 0 });
    const waiting = ['list', '--state', 'waiting', '--limit', '1'];
    expect((await queue(...waiting)).sum).toEqual({ kind: 'total', shown: 1, hasMore: false });
    await file.queue.put(aQueued({ eventId: 'evt_x' }));
    expect((await queue(...waiting)).sum).toEqual({ kind: 'total', shown: 1, hasMore: true });
  });

  it('list --text groups the letters by their reason, the most frequent first, with counts and a total', async () => {
    await buryThree();
    const { stdout, stderr } = await queue('list', '--limit', '2', '--text');
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^2 × {2}no clip$/),
      expect.stringMatching(/^ {5}1 {2}.*stt\.completed {2}evt_a {2}attempts 1$/),
      '     and 1 more: --limit shows them.',
      expect.stringMatching(/^1 × {2}no room$/),
      expect.stringMatching(/^ {5}2 {2}.*stt\.failed {2}evt_b {2}attempts 1$/),
      "3 dead letters, 2 reasons.  'queue show <id>' has the body and the stack of one.",
      '',
    ]);
    expect(stderr).toBe('');
  });

  it('a list that is cut says how many reasons it leaves out', async () => {
    await buryThree();
    const { stdout } = await queue('list', '--limit', '1', '--text');
    expect(stdout).toMatch(
      / {2}evt_a .*\n {5}and 1 more: --limit shows them\.\nand 1 other reason: --limit shows them\.\n3 dead/,
    );
  });

  it('a group says the types of its events where there are several', async () => {
    await file.bury('no clip', A, B, C);
    expect((await queue('list', '--text')).stdout).toMatch(/^3 × {2}no clip {2}stt\.completed 2, stt\.failed 1\n/);
  });

  it('a list of nothing says whether options were the cause', async () => {
    expect(await queue('list', '--text')).toMatchObject({ stdout: '', stderr: 'There is no dead letter.\n' });
    await buryThree();
    const none = 'No dead letter is as the options say.\n';
    expect(await queue('list', '--reason', 'no such', '--text')).toMatchObject({ stdout: '', stderr: none });
  });

  it('--reason selects letters by a part of their reason, in any case', async () => {
    await buryThree();
    expect(eventsIn(await queue('list', '--reason', 'NO CLIP'))).toEqual(['evt_a', 'evt_c']);
    expect(eventsIn(await queue('retry', '--reason', 'room'))).toEqual(['evt_b']);
    expect(await left()).toEqual(['evt_a', 'evt_c']);
  });

  it('stats counts the reasons of the oldest 10,000 letters, and says so where there are more', async () => {
    await file.bury('no clip', A);
    expect((await queue('stats', '--text')).stdout).toMatch(/^ {3}1 dead\n {6}1 × {2}no clip\n$/m);
    file.handle.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
       INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at)
       SELECT 'k' || i, 'clips', 'dead', '{}', 1, i FROM n`,
    );
    expect((await queue('stats', '--text')).stdout).toMatch(/^ {3}10001 dead {2}reasons of the oldest 10000\n/m);
    expect((await queue('stats')).records).toMatchObject([{ dead: 10_001, reasonsOfOldest: 10_000 }]);
  });

  it('a misspelt event type is refused with the known one', async () => {
    const ended = await queue('list', '--type', 'stt.complete');
    expect(ended).toMatchObject(failed(2, 'Did you mean stt.completed?'));
  });

  it('show prints a letter with its body, by its id or by its event id', async () => {
    await buryThree();
    const { records } = await queue('show', 'evt_b');
    expect(records).toMatchObject([
      { eventId: 'evt_b', reason: expect.stringContaining('no room'), key: 'test:evt_b', scheme: 'v2' },
    ]);
    expect(JSON.parse(String(records[0]?.['body']))).toMatchObject({ id: 'evt_b', type: 'stt.failed' });
    expect((await queue('show', String(records[0]?.['id']))).records).toEqual(records);
    expect((await queue('show', 'evt_b', '--text')).stdout).toContain('"id":"evt_b"');
  });
});

describe.runIf(hasSqlite)('the commands queue retry and queue discard', () => {
  it('a retried letter waits in the queue again, with no attempts counted', async () => {
    await buryThree();
    const { exitCode, records } = await queue('retry', 'evt_a', 'evt_c');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject(['evt_a', 'evt_c'].map((eventId) => ({ kind: 'retried', eventId })));
    expect(await left()).toEqual(['evt_b']);
    expect(await file.queue.jobs({ state: 'waiting' })).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  });

  it('a retried delivery that fails for good is a dead letter again, with its reason', async () => {
    await file.bury('no clip', A);
    expect((await queue('retry', '--all')).exitCode).toBe(0);
    await file.bury('still no clip');
    const reason = expect.stringContaining('still no clip');
    expect((await queue('list')).records).toMatchObject([{ eventId: 'evt_a', attempts: 1, reason }]);
  });

  it('a filter selects the letters to retry or discard, up to --limit', async () => {
    await buryThree();
    const retried = await queue('retry', '--type', 'stt.completed', '--limit', '1', '--text');
    expect(retried.stdout).toMatch(/^retried {2}\d+ {2}stt\.completed {2}evt_a\n$/);
    expect(retried.stderr).toBe('There are more than 1: run it again, or raise --limit.\n');
    const { records } = await queue('discard', '--since', '1m', '--yes');
    expect(records).toMatchObject(['evt_b', 'evt_c'].map((eventId) => ({ kind: 'discarded', eventId })));
    expect(await file.queue.stats()).toMatchObject({ depth: 1, dead: 0 });
  });

  /** Puts so many dead letters into the queue. */
  function buryMany(count: number): void {
    file.handle.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at)
       SELECT 'k' || i, 'clips', 'dead', '{}', 1, i FROM n`,
    );
  }

  it.each([
    ['retry', 'retried'],
    ['discard', 'discarded'],
  ])('the last record of %s says how many letters were changed, and whether there are more', async (name, done) => {
    const select = (...words: string[]) => queue(name, '--since', '2000-01-01', ...words);
    const result = { kind: 'result', dryRun: false, [done]: 0, gone: 0, hasMore: false };
    const yes = name === 'discard' ? ['--yes'] : [];
    await file.bury('no clip', A);
    expect(await queue(name, '--reason', 'no such', ...yes)).toMatchObject({ exitCode: 0, records: [], sum: result });
    expect((await select('--dry-run')).sum).toEqual({ ...result, dryRun: true, [done]: 1 });
    expect((await select(...yes)).sum).toEqual({ ...result, [done]: 1 });
  });

  it('options select 100 letters where neither --all nor --limit says more', async () => {
    await file.queue.put(A);
    buryMany(150);
    const since = ['--since', '1970-01-01'];
    const { records, exitCode, sum } = await queue('retry', ...since, '--dry-run');
    expect([records.length, exitCode, sum?.['hasMore']]).toEqual([100, 0, true]);
    expect((await queue('retry', ...since, '--all', '--dry-run')).records).toHaveLength(150);
    expect((await queue('retry', '--all', '--limit', '120')).sum).toMatchObject({ retried: 120, hasMore: true });
    expect((await queue('discard', '--all', '--yes')).sum).toMatchObject({ discarded: 30, hasMore: false });
  });

  it('ids that are named are all changed, also more than 100', async () => {
    await file.queue.put(A);
    buryMany(150);
    const ids = (await file.queue.deadLetters({ limit: 150 })).map(({ id }) => id);
    expect((await queue('discard', ...ids)).sum).toMatchObject({ discarded: 150, hasMore: false });
  });

  it('--tenant selects the letters of a tenant, also of one event', async () => {
    for (const tenant of ['acme', 'globex']) {
      await file.bury('no clip', aQueued({ eventId: 'evt_a', key: `test:tenant=${tenant}:evt_a`, tenant }));
    }
    await file.bury('no clip', C);
    expect(tenantsIn(await queue('list'))).toEqual(['acme', 'globex', undefined]);
    expect((await queue('list', '--tenant', 'globex', '--text')).stdout).toMatch(
      /evt_a {2}of globex[^\n]*\n1 dead letter,/,
    );
    expect(tenantsIn(await queue('show', 'evt_a'))).toEqual(['acme', 'globex']);
    expect(tenantsIn(await queue('discard', 'evt_a', '--tenant', 'globex'))).toEqual(['globex']);
    expect(tenantsIn(await queue('retry', '--tenant', 'acme'))).toEqual(['acme']);
    expect(await left()).toEqual(['evt_c']);
  });

  it.each(['retry', 'discard'])('--dry-run changes nothing: %s', async (name) => {
    await buryThree();
    const { exitCode, records } = await queue(name, '--all', '--dry-run', '--limit', '2');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject(['evt_a', 'evt_b'].map((eventId) => ({ dryRun: true, eventId })));
    expect(await left()).toHaveLength(3);
  });

  const nearest = "'evt_bb' is none of the 3 dead letters, nor the id of one's event. Did you mean";
  it.each([
    [['retry'], 'which ones?'],
    [['discard'], 'which ones?'],
    [['retry', 'evt_a', '--all'], 'not both'],
    [['discard', 'evt_a', '--type', 'stt.failed'], 'not both'],
    [['retry', '--wait', '17'], 'Ids stand in front of --wait.'],
    [['retry', '--all', '--over', '25h'], 'of 1d at most'],
    [['retry', '--since', '2w'], 'Unix seconds, or 30m, 2h, 7d ago.'],
    [['show', 'evt_bb'], nearest],
    [['retry', 'evt_bb'], nearest],
    [['discard', 'evt_bb'], nearest],
  ])('the arguments %j are refused: %s', async (words, says) => {
    await buryThree();
    expect(await queue(...words)).toMatchObject(failed(2, says));
    expect(await left()).toHaveLength(3);
  });

  it('Ctrl+C ends a retry with --over, and the rest stay dead letters', async () => {
    await buryThree();
    const { next, signal, ended } = cli.start([
      'queue',
      'retry',
      '--all',
      '--over',
      '60m',
      '--sqlite',
      'webhooks.db',
      '--json',
    ]);
    expect(await next('retried')).toMatchObject({ eventId: 'evt_a' });
    signal('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130 });
    expect(await left()).toEqual(['evt_b', 'evt_c']);
  });

  it('a letter that another operator discards meanwhile is printed as gone, with exit code 1', async () => {
    await buryThree();
    const { next, ended } = cli.start(['queue', 'retry', '--all', '--over', '6s', '--sqlite', 'webhooks.db', '--json']);
    await next('retried');
    const [, last] = await file.queue.deadLetters();
    await file.queue.discard(last?.id ?? '');
    const { exitCode, records, sum } = summedUp(await ended);
    expect([exitCode, records.at(-1)]).toEqual([1, expect.objectContaining({ kind: 'gone', eventId: 'evt_c' })]);
    expect(sum).toEqual({ kind: 'result', dryRun: false, retried: 2, gone: 1, hasMore: false });
  });
});

describe.runIf(hasSqlite)('the question of queue discard', () => {
  it.each([['--all'], ['--type', 'stt.completed'], ['--tenant', 'acme']])(
    'a selection is refused without a terminal, and deleted with --yes: %s',
    async (...selection) => {
      await file.bury('no clip', aQueued({ tenant: 'acme' }));
      expect(await queue('discard', ...selection)).toMatchObject(failed(2, 'pass --yes to discard them'));
      expect(await left()).toHaveLength(1);
      expect(await queue('discard', ...selection, '--yes')).toMatchObject({ exitCode: 0, records: [{}] });
      expect(await left()).toEqual([]);
    },
  );

  it('ids that are named are discarded without a question', async () => {
    await buryThree();
    expect(await queue('discard', 'evt_a', 'evt_b')).toMatchObject({ exitCode: 0, records: [{}, {}] });
    expect(await left()).toEqual(['evt_c']);
  });

  // `script` gives a program a pseudo-terminal.
  it.runIf(hasProgram('script') && !inside).each([
    ['y\r', 0, 1],
    ['\r', 1, 3],
    ['\u0003', 130, 3],
    ['\u0004', 130, 3],
  ])('the keys %j on a terminal exit with %i', async (keys, exitCode, count) => {
    await buryThree();
    const words = ['queue', 'discard', '--type', 'stt.completed', '--sqlite', 'webhooks.db'];
    const { shows, type, ended } = inTerminal(cli, words);
    await shows(/Discard 2 dead letters for good\? \[y\/N\] /);
    type(keys);
    const { exitCode: code, shown } = await ended;
    expect([code, (await left()).length]).toEqual([exitCode, count]);
    expect(shown).not.toContain('a fault of this program');
  });

  it.runIf(hasProgram('script') && !inside)('--dry-run asks nothing on a terminal', async () => {
    await buryThree();
    const { ended } = inTerminal(cli, ['queue', 'discard', '--all', '--dry-run', '--sqlite', 'webhooks.db']);
    expect(await ended).toMatchObject({ exitCode: 0, shown: expect.not.stringContaining('for good?') });
    expect(await left()).toHaveLength(3);
  });
});

describe.runIf(hasSqlite)('the command queue with a strange job', () => {
  it('control characters of a reason, an id or a type do not reach the terminal', async () => {
    const evil = '\u001b[2J\u0007\u202eevil\nline';
    await file.bury(evil, aQueued({ eventId: `evt_${evil}`, type: `stt.${evil}` }));
    for (const words of [['list'], ['show', `evt_${evil}`], ['retry', '--all', '--dry-run'], ['show', `x${evil}`]]) {
      for (const form of ['--text', '--json']) {
        const { stdout, stderr } = await queue(...words, form);
        expect(stdout + stderr).toContain('\\u001b[2J');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]|^line/m);
      }
    }
  });

  it('a job that this version cannot read is listed and can be discarded', async () => {
    await file.queue.put(A);
    const insert = file.handle.prepare(
      "INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at) VALUES (?, 'clips', 'dead', ?, 1, 1e300)",
    );
    const bodies = ['', '!', btoa('[]'), btoa('null'), btoa('{"id":7,"type":{}}')];
    insert.run('k0', 'no JSON');
    for (const [i, body] of bodies.entries()) insert.run(`k${i + 1}`, JSON.stringify({ v: 1, key: 'k', body }));
    const { exitCode, records } = await queue('list');
    const seen = records.map(({ eventId, type, at }) => [eventId, type, at]);
    expect([exitCode, seen]).toEqual([0, Array(6).fill([undefined, undefined, undefined])]);
    const shown = await queue('show', String(records[0]?.['id']), '--text');
    expect(shown.stdout).toContain('no delivery that this version can read');
    expect((await queue('discard', '--all', '--yes')).records).toHaveLength(6);
  });
});

describe.runIf(hasSqlite)('the command queue list without its queue', () => {
  const none = 'has no table webhook_queues: name the table of the queue with --table';
  it.each([
    [[], 2, 'say where the queue is'],
    [['--sqlite', 'a', '--rabbitmq'], 2, 'cannot be used with'],
    [['--sqlite', 'nowhere.db'], 3, 'no such file'],
    [['--sqlite', 'text.db'], 3, 'not a database'],
    [['--sqlite', 'webhooks.db', '--table', 'webhook_queues'], 3, none],
    [['--sqlite', 'webhooks.db', '--table', 'a b'], 2, 'table'],
    [['--sqlite', 'webhooks.db', '--queue', 'clisp'], 2, "no queue 'clisp'. Did you mean 'clips'?"],
    [['--sqlite', 'webhooks.db'], 2, 'several queues: pass --queue, one of clips, songs.'],
  ])('the options %j exit with %i: %s', async (options, exitCode, says) => {
    writeFileSync(inCwd('text.db'), 'this is no database, but it is long enough to be read as one'.repeat(99));
    await file.queue.put(A);
    const other = openQueueFile(cli.cwd, inCwd('webhooks.db'), 'songs');
    await other.queue.put(aQueued({ key: 'songs:evt_1' }));
    other.handle.close();
    expect(await cli.run(['queue', 'list', ...options, '--json'])).toMatchObject(failed(exitCode, says));
    expect(await queue('list', '--queue', 'songs')).toMatchObject({ exitCode: 0 });
  });

  it('a database without any job gives an empty list', async () => {
    expect(await queue('list')).toMatchObject({ exitCode: 0, records: [] });
  });
});
