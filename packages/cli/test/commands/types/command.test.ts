import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { installPackage } from '../../../../../test/support/installed-package.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { anEventWith } from './learned.js';

const cli = useCli();
const FIRST_LINE = '// Written by `service-webhooks types`. The next run replaces this file.\n';

const put = (name: string, text: string) => writeFileSync(join(cli.cwd, name), text);
const textOf = (name: string) => readFileSync(join(cli.cwd, name), 'utf8');
const types = (...args: string[]) => cli.run(['types', ...args]);
const json = (data: unknown, options?: Parameters<typeof anEventWith>[1]) => JSON.stringify(anEventWith(data, options));
const http = (body: string) => `POST /webhooks HTTP/1.1\r\nContent-Type: application/json\r\n\r\n${body}`;
const capture = (id: string, body: string) => put(`.webhooks/20260711T120000.000Z-${id}.http`, http(body));
const fields = (stdout: string) => [...stdout.matchAll(/^ {6}(.+)$/gm)].map(([, field]) => field);

beforeEach(() => mkdirSync(join(cli.cwd, '.webhooks')));

describe('the command types', () => {
  it('the captures of the default directory are read, and the types are printed', async () => {
    capture('7f3a9c01', json({ text: 'x' }));
    capture('7f3a9c02', json({ text: 'x', language: 'en' }, { id: '1' }));
    capture('7f3a9c03', json({ text: 'x', language: 'en' }, { id: '1' })); // another attempt
    capture('7f3a9c04', json({ error: 'x' }, { type: 'stt.failed' }));
    const { exitCode, stdout, stderr } = await types('--text');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `${FIRST_LINE}import 'service-webhooks';

declare module 'service-webhooks' {
  interface EventData {
    'stt.completed': {
      language?: string;
      text: string;
    };
    'stt.failed': {
      error: string;
    };
  }
}
`,
    });
    expect(stderr).toContain('stt.completed  2 deliveries\n');
    expect(stderr).toContain('stt.failed  1 delivery  one alone does not show which fields are optional\n');
    expect((await types()).records).toMatchObject([{ kind: 'types', format: 'types', text: stdout }]);
  });

  it.each([
    ['a directory', ['kept']],
    ['a capture by its path', ['kept/a.http']],
    ['a capture by its id', ['7f3a']],
    ['a capture by the id of its event', ['evt_one']],
    ['an event as JSON', ['pretty.json']],
    ['a list of events', ['list.json']],
    ['JSON lines', ['events.jsonl']],
    ['queued deliveries as JSON lines', ['queued.jsonl']],
    ['stdin', ['-']],
    ['several of them', ['kept', 'events.jsonl', '-']],
  ])('%s is read', async (_, names) => {
    const event = anEventWith({ text: 'x' }, { id: 'one' });
    const body = JSON.stringify(event);
    mkdirSync(join(cli.cwd, 'kept'));
    put('kept/a.http', http(body));
    put('kept/.unfinished.http', 'POST');
    put('kept/notes.txt', 'no delivery');
    capture('7f3a9c01', body);
    put('pretty.json', JSON.stringify(event, null, 2));
    put('list.json', JSON.stringify([event, event]));
    put('events.jsonl', `\uFEFF${body}\r\n\r\n${body}\r\n`);
    const queued = { ...aQueued(), body: Buffer.from(body).toString('base64') };
    put('queued.jsonl', `${JSON.stringify(queued)}\n${JSON.stringify({ kind: 'job', body })}\n`);
    const { exitCode, records, stderr } = await cli.run(['types', ...names], { stdin: body });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(records).toMatchObject([{ types: [{ type: 'stt.completed', deliveries: 1 }], withoutEvent: 0 }]);
    expect(fields(String(records[0]?.['text']))).toEqual(['text: string;']);
  });

  it('the types of a file are replaced, and the changes are printed', async () => {
    put(
      'a.jsonl',
      [json({ a: 1, list: [{ b: 1 }], gone: { x: 1 } }), json({ a: 1 }, { type: 'stt.failed' })].join('\n'),
    );
    const first = await types('a.jsonl', '--out', 'src/types.d.ts');
    expect(first).toMatchObject({ exitCode: 0, stderr: '', records: [{ state: 'written', changes: [] }] });
    const written = textOf('src/types.d.ts');

    put('b.jsonl', json({ a: '2026-07-11', list: [{ b: 1, c: null }, { b: 1, c: 'x' }, { b: 2 }] }));
    const second = await types('--text', 'b.jsonl', '-o', 'src/types.d.ts');
    expect(second).toMatchObject({ exitCode: 0, stderr: '' });
    expect(second.stdout.split('\n').map((line) => line.trim())).toEqual([
      'written  src/types.d.ts',
      'stt.completed  1 delivery  one alone does not show which fields are optional',
      'stt.completed  - a: number',
      'stt.completed  + a: string /** A date, YYYY-MM-DD. */',
      'stt.completed  - gone: {…}',
      'stt.completed.list  + c?: string | null',
      "- 'stt.failed': {…}",
      '',
    ]);
    expect(textOf('src/types.d.ts')).not.toBe(written);
    const third = await types('--text', 'b.jsonl', '-o', 'src/types.d.ts');
    expect(third.stdout).toMatch(/^up to date {2}src\/types\.d\.ts\n/);
  });

  it('--check writes nothing, and exits with 1 where the file is missing or would change', async () => {
    put('a.jsonl', json({ a: 1 }));
    put('b.jsonl', json({ a: 1, b: { c: 1 } }));
    const check = (name: string) => types('--text', name, '--out', 'my types.d.ts', '--check');
    const missing = await check('a.jsonl');
    expect(missing).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^missing {2}my types\.d\.ts\n/) });
    const command = 'npx service-webhooks-cli types a.jsonl --out "my types.d.ts"';
    expect(missing.stderr).toBe(`To write it, run: ${command}\n`);
    expect(existsSync(join(cli.cwd, 'my types.d.ts'))).toBe(false);

    await types('a.jsonl', '--out', 'my types.d.ts');
    put('my types.d.ts', textOf('my types.d.ts').replaceAll('\n', '\r\n')); // as git may write it
    expect(await check('a.jsonl')).toMatchObject({ exitCode: 0, stderr: '' });
    const before = textOf('my types.d.ts');
    const differs = await check('b.jsonl');
    expect(differs).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^differs {2}my types\.d\.ts\n/) });
    expect(differs.stdout).toContain('stt.completed  + b: {…}\n');
    expect(differs.stdout).not.toContain('c: number');
    expect(textOf('my types.d.ts')).toBe(before);
  });

  it.each(['types', 'zod', 'valibot'])('the changes of a file of %s have one line for each field', async (format) => {
    put('a.jsonl', json({ a: { b: 1 }, c: [{ d: 1 }], e: 1 }));
    put('b.jsonl', json({ a: [{ b: 1, f: 1 }], c: [{ d: 1 }], e: 1 }));
    await types('a.jsonl', '--out', 'out.ts', '--format', format);
    const { records } = await types('b.jsonl', '--out', 'out.ts', '--format', format);
    const changes = records[0]?.['changes'] as { path: string; change: string; text: string }[];
    expect(changes.map(({ path, change, text }) => `${path} ${change} ${text.split(':')[0]}`)).toEqual([
      'stt.completed removed a',
      'stt.completed added a',
      'stt.completed.a added f',
    ]);
  });

  it.each(['zod', 'valibot'])('a module of %s is loaded by Node, and checks data', async (library) => {
    installPackage(cli.cwd, library);
    put('a.jsonl', json({ at: '2026-07-11T12:00:00Z', url: 'https://x.example' }));
    expect(await types('a.jsonl', '--out', 'schemas.mjs', '--format', library)).toMatchObject({ exitCode: 0 });
    const { schemas } = await import(pathToFileURL(join(cli.cwd, 'schemas.mjs')).href);
    const schema = schemas['stt.completed']['~standard'];
    const right = { at: '2026-07-12T12:00:00.123Z', url: 'http://y.example/' };
    expect(await schema.validate(right)).toMatchObject({ value: right });
    expect(await schema.validate({ ...right, url: 1 })).toMatchObject({ issues: [{ path: expect.anything() }] });
  });

  it('an empty file is replaced', async () => {
    put('a.jsonl', json({ a: 1 }));
    put('out.d.ts', '\n');
    const ended = await types('a.jsonl', '--out', 'out.d.ts');
    expect(ended.records).toMatchObject([{ state: 'written', changes: [{ text: "'stt.completed': {…}" }] }]);
  });

  it('event types that are not known are left out, and people are informed', async () => {
    put('a.jsonl', [json({ a: 1 }), json({ b: 1 }, { type: 'music.completed\u001b[2J' })].join('\n'));
    const { exitCode, stdout, stderr } = await types('--text', 'a.jsonl');
    expect({ exitCode, fields: fields(stdout) }).toEqual({ exitCode: 0, fields: ['a: number;'] });
    expect(stderr).toContain('is no event type that this version knows: 1 delivery was left out.\n');
    expect(stderr).not.toContain('\u001b');
    expect(stdout).not.toContain('music');
  });

  it('deliveries of any sender in a directory are left out if they are no events', async () => {
    capture('7f3a9c01', json({ a: 1 }));
    capture('7f3a9c02', 'no JSON');
    capture('7f3a9c03', '[]');
    const { exitCode, stderr } = await types('--text');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('2 deliveries without an event: left out.\n');
  });

  it('--record makes an object a record, and a path without an object is a warning', async () => {
    put('a.jsonl', json({ by: { anna: 1, bob: 2 } }));
    const { stdout, stderr } = await types('--text', 'a.jsonl', '--record', 'data.by', '--record', 'data.bye');
    expect(fields(stdout)).toEqual(['by: Record<string, number>;']);
    expect(stderr).toContain('stt.completed: the keys of data.by are data, so it is a record.\n');
    expect(stderr).toContain('No delivery has an object at data.bye: check the path of --record.\n');
  });
});

describe('the command types refuses', () => {
  const event = json({ a: 1 });

  it.each([
    ['no JSON in a line', 'x.jsonl', `${event}\n\nsecret-text\n`, 'x.jsonl:3 is no event: it is not JSON.'],
    ['a line that is a number', 'x.jsonl', `${event}\n4711\n`, 'x.jsonl:2 is no event: it is no JSON object.'],
    [
      'a line without a type',
      'x.jsonl',
      `${event}\n{"data":{"secret-text":1}}\n`,
      'x.jsonl:2 is no event: it has no type.',
    ],
    [
      'a line whose data is a list',
      'x.jsonl',
      `{"type":"secret-text","data":[]}`,
      'x.jsonl is no event: its data is no object.',
    ],
    ['an element that is no event', 'x.json', `[${event},"secret-text"]`, 'x.json: element 2 is no event'],
    [
      'a queued delivery without an event',
      'x.json',
      '{"body":"c2VjcmV0LXRleHQ="}',
      'x.json is no event: it has no type.',
    ],
    ['a capture without JSON', 'x.http', http('secret-text'), 'the body in x.http is no event: it is not JSON.'],
    ['a capture that is cut off', 'x.http', 'POST / HTTP/1.1\r\nsecret-text: x', 'x.http: the headers have no end'],
    ['an empty file', 'x.jsonl', '', 'none of the captures has an event.'],
    [
      'a file of unknown types',
      'x.jsonl',
      json({ a: 1 }, { type: 'secret-text' }),
      'has an event of a type that this version knows.',
    ],
  ])('%s, without showing it', async (_, name, text, says) => {
    put(name, text);
    const ended = await types(name, '--out', 'types.d.ts');
    expect(ended).toMatchObject(failed(3, says));
    expect(ended.stderr).not.toMatch(/secret-text|4711/);
    expect(existsSync(join(cli.cwd, 'types.d.ts'))).toBe(false);
  });

  it.each([
    [3, ['nothing.jsonl'], 'nothing.jsonl: there is no such file'],
    [3, [], 'none of the captures has an event. Keep some with'],
    [2, ['--check'], '--check needs --out'],
    [2, ['--format', 'zod', '--out', 'schemas.d.ts'], 'pass --out with a name that ends in .ts.'],
    [2, ['--format', 'yup'], 'Allowed choices are types, zod, valibot.'],
    [2, ['--record', 'byUser'], 'It takes a path from the event, as in data.byUser.'],
    [2, ['.webhooks', '--sqlite', 'webhooks.db'], 'name captures or a queue: both together are not read.'],
    [3, ['--sqlite', 'nothing.db'], 'nothing.db: there is no such file'],
    [2, ['--queue', 'clips'], 'say where the queue is'],
  ])('with exit code %i: the arguments %j', async (exitCode, args, says) => {
    expect(await types(...args)).toMatchObject(failed(exitCode, says));
  });

  it('a directory that is not there, with what to do', async () => {
    rmSync(join(cli.cwd, '.webhooks'), { recursive: true });
    expect(await types()).toMatchObject(
      failed(3, "there are no deliveries in .webhooks. Keep some with 'service-webhooks"),
    );
  });

  it('a file that it has not written, which stays as it is', async () => {
    put('a.jsonl', event);
    put('mine.ts', 'export const mine = 1;\n');
    const says = 'mine.ts was not written by this command, which replaces no other file.';
    for (const more of [[], ['--check']])
      expect(await types('a.jsonl', '--out', 'mine.ts', ...more)).toMatchObject(failed(3, says));
    expect(textOf('mine.ts')).toBe('export const mine = 1;\n');
    expect(await types('a.jsonl', '--out', 'no/such/types.d.ts')).toMatchObject(failed(3, 'there is no such file'));
    expect(await types('a.jsonl', '--out', '.webhooks')).toMatchObject(failed(3, 'that is a directory'));
  });

  it('a body of five megabytes of brackets ends without a fault of the program', async () => {
    const brackets = 2.5 * 1024 * 1024;
    put('deep.json', `{"type":"stt.completed","data":{"a":${'['.repeat(brackets)}${']'.repeat(brackets)}}}`);
    put('open.json', `{"type":"stt.completed","data":{"a":${'['.repeat(2 * brackets)}`);
    expect(await types('deep.json')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await types('open.json')).toMatchObject(failed(3, 'open.json:1 is no event: it is not JSON.'));
  });
});
