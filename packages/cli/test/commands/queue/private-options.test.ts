import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PayloadOptions, type QueuedDelivery, toQueued } from 'service-webhooks/queue';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { anEvent } from '../../../../../test/support/deliveries.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import type { LetterDetails, LetterPage, QueueState } from '../../../src/page/queue-source.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { browseQueue } from './browse-queue.js';
import { fileOverflow } from './file-overflow.js';
import { hasSqlite, openQueueFile, type QueueFile } from './sqlite-queue-file.js';

const cli = useCli();
const key = (seed: number) => Buffer.from(Array.from({ length: 32 }, (_, n) => n + seed)).toString('base64');
const KEY = key(0);
const EMAIL = 'bob@example.com';
const SQLITE = ['--sqlite', 'webhooks.db'];
const run = (words: string[], env: Record<string, string> = {}) => cli.run(['queue', ...words], { env });
const inCwd = (name: string) => join(cli.cwd, name);
const settings = () => JSON.parse(readFileSync(inCwd('service-webhooks.json'), 'utf8'));

/** A delivery with private data, of any body. */
function aPrivate(eventId: string, { text = 'short', body = '' } = {}): QueuedDelivery {
  const event = { ...anEvent({ id: eventId }), data: { email: EMAIL, text } };
  const bytes = new TextEncoder().encode(body || JSON.stringify(event));
  const delivery = { event, body: bytes, scheme: 'v2', signedAt: 1, secretIndex: 0, unsigned: {} };
  return toQueued(delivery as never, `clips:${eventId}`, Date.now());
}

function opened(bodies: PayloadOptions = {}): QueueFile {
  const file = openQueueFile(cli.cwd, inCwd('webhooks.db'), 'clips', bodies);
  onTestFinished(() => file.handle.close());
  return file;
}

/** Stores a job as another program could. */
async function storeDead(job: unknown): Promise<QueueFile> {
  const file = opened();
  await file.queue.init();
  const sql =
    "INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at) VALUES ('k', 'clips', 'dead', ?, 1, 1)";
  file.handle.prepare(sql).run(JSON.stringify(job));
  return file;
}

describe.runIf(hasSqlite)('the option --decrypt', () => {
  it.each([
    ['env:OTHER', { OTHER: `${key(5)},${KEY}` }],
    ['file:keys.txt', {}],
    ['file:.env.keys', {}],
  ])('keys are read from %s', async (source, env) => {
    await opened({ encrypt: KEY }).bury('no clip', aPrivate('evt_a'));
    writeFileSync(inCwd('keys.txt'), `${key(5)}\r\n${KEY}\r\n`);
    writeFileSync(inCwd('.env.keys'), `OTHER=1\nWEBHOOK_QUEUE_KEYS=${KEY}\n`);
    const { records } = await run(['show', 'evt_a', ...SQLITE, '--decrypt', source, '--json'], env);
    expect(records).toMatchObject([{ type: 'stt.completed', body: expect.stringContaining(EMAIL) }]);
  });

  it('a letter says which key is missing, and can be retried without it', async () => {
    const file = opened({ encrypt: KEY });
    await file.bury('no clip', aPrivate('evt_a'));
    const show = ['show', 'evt_a', ...SQLITE, '--decrypt'];
    const { stdout } = await run([...show, '--text'], { WEBHOOK_QUEUE_KEYS: key(7) });
    expect(stdout).toMatch(/encrypted with a key that --decrypt does not have: add that key to its source\./);
    const unread = await run(['replay', 'evt_a', '3000', ...SQLITE]);
    expect(unread).toMatchObject(failed(2, 'dead letter 1 cannot be sent. The body is encrypted: pass --decrypt.'));
    expect(await run(['retry', 'evt_a', ...SQLITE])).toMatchObject({ exitCode: 0 });
    expect(await file.queue.stats()).toMatchObject({ depth: 1, dead: 0 });
  });

  it('the list has the columns of SQLite where a body is not read', async () => {
    await opened({ encrypt: KEY }).bury('no clip', aPrivate('evt_a'));
    expect((await run(['list', ...SQLITE, '--text'])).stdout).toMatch(/stt\.completed {2}evt_a/);
    expect((await run(['list', ...SQLITE, '--type', 'stt.completed', '--json'])).records).toHaveLength(2);
  });

  it.each([
    [['--decrypt'], {}, 'there is no key: set WEBHOOK_QUEUE_KEYS'],
    [['--decrypt'], { WEBHOOK_QUEUE_KEYS: ' ' }, 'is empty'],
    [['--decrypt', 'env:NONE'], {}, 'NONE is not set'],
    [['--decrypt'], { WEBHOOK_QUEUE_KEYS: 'c2hvcnQ=' }, 'what is there is none'],
    [['--decrypt'], { WEBHOOK_QUEUE_KEYS: `${KEY},not-a-key` }, 'number 2 of 2 is none'],
    [['--decrypt', KEY], {}, '--decrypt takes no key'],
  ])('wrong keys are refused, and never printed: %j %j', async (words, env, says) => {
    await opened().queue.init();
    const ended = await run(['list', ...SQLITE, ...words], env);
    expect(ended).toMatchObject(failed(2, says));
    for (const secret of [KEY, 'c2hvcnQ=', 'not-a-key']) expect(ended.stderr).not.toContain(secret);
  });
});

describe.runIf(hasSqlite)('the option --overflow', () => {
  const large = { text: 'x'.repeat(400_000) };

  it.each([
    ['default export', 'export default X'],
    ['named export', 'export const overflow = X'],
    ['module of CommonJS', 'module.exports = X', 'cjs'],
    ['module of CommonJS that a compiler has written', 'exports.__esModule = true; exports.default = X', 'cjs'],
  ])('a %s is taken', async (_, code, extension = 'mjs') => {
    const { overflow } = fileOverflow(cli.cwd);
    await opened({ overflow }).bury('no clip', aPrivate('evt_a', large));
    const read = `process.getBuiltinModule('fs').readFileSync(${JSON.stringify(inCwd('bodies/'))} + id)`;
    const made = code.replace('X', `{ put() {}, delete() {}, get: async (id) => ${read} }`);
    writeFileSync(inCwd(`mine.${extension}`), made);
    const { records } = await run(['show', 'evt_a', ...SQLITE, '--overflow', `mine.${extension}`, '--json']);
    expect(records).toMatchObject([{ body: expect.stringContaining(EMAIL) }]);
  });

  it.each([
    ['nowhere.mjs', '', 'nowhere.mjs: there is no such file'],
    ['.', '', 'that is a directory'],
    ['broken.mjs', 'export default {', 'broken.mjs cannot be loaded: '],
    ['throws.mjs', "throw new Error('no bucket')", 'throws.mjs cannot be loaded: no bucket'],
    ['other.mjs', 'export default { get() {} }', 'with the methods put, get and delete'],
    ['none.mjs', 'export default null', 'with the methods put, get and delete'],
  ])('a wrong module is refused: %s', async (name, code, says) => {
    await opened().queue.init();
    if (code !== '') writeFileSync(inCwd(name), code);
    expect(await run(['list', ...SQLITE, '--overflow', name])).toMatchObject(failed(3, says));
  });

  it('a body that is gone, and an overflow that fails, are shown with the letter', async () => {
    const { overflow, module } = fileOverflow(cli.cwd);
    await opened({ overflow }).bury('no clip', aPrivate('evt_a', large));
    writeFileSync(
      inCwd('fails.mjs'),
      "const no = async () => { throw new Error('no bucket'); };\nexport { no as put, no as get };\nexport default { put: no, get: no, delete: no };",
    );
    const show = ['show', 'evt_a', ...SQLITE, '--json', '--overflow'];
    expect((await run([...show, 'fails.mjs'])).records).toMatchObject([
      { notShown: 'Your overflow could not return the body of a job.' },
    ]);
    const told = await run(['list', ...SQLITE, '--text', '--overflow', 'fails.mjs']);
    expect(told.stderr).toBe('fails.mjs: get has failed: no bucket\n');
    const discarded = await run(['discard', 'evt_a', ...SQLITE, '--overflow', 'fails.mjs']);
    expect(discarded).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('could not delete the body of a job. no bucket'),
    });
    for (const name of readdirSync(inCwd('bodies'))) rmSync(inCwd(`bodies/${name}`));
    expect((await run([...show, module])).records).toMatchObject([
      { notShown: expect.stringContaining('is not in your overflow') },
    ]);
    expect(await run(['discard', 'evt_a', ...SQLITE, '--overflow', module])).toMatchObject({ exitCode: 0 });
  });
});

describe.runIf(hasSqlite)('a stored job that is not as the library writes it', () => {
  it.each([
    { v: 2, key: 'clips:evt_x' },
    { v: 2, key: 'clips:evt_x', body: 7, encryptedBy: {} },
    { v: 2, key: 'clips:evt_x', body: '%%%', encryptedBy: 'abc', scheme: [], unsigned: 3, receivedAt: 'soon' },
    { v: 2, key: 'clips:evt_x', overflow: { id: '../../webhooks.db', hash: 'f'.repeat(64) } },
    { v: 2, key: 'clips:evt_x', overflow: { id: 'f'.repeat(64), hash: 7 } },
    { v: 2, key: 'clips:evt_x', tenant: { $ne: 1 }, overflow: null },
  ])('it is listed, shown and discarded: %j', async (job) => {
    const { module } = fileOverflow(cli.cwd);
    const file = await storeDead(job);
    const open = [...SQLITE, '--decrypt', '--overflow', module, '--json'];
    const env = { WEBHOOK_QUEUE_KEYS: KEY };
    expect((await run(['list', ...open], env)).records[0]).toMatchObject({ eventId: 'evt_x' });
    const [shown] = (await run(['show', 'evt_x', ...open, '--redact', 'data.email'], env)).records;
    expect(shown).toMatchObject({ notShown: expect.any(String), key: 'clips:evt_x' });
    expect(shown).not.toHaveProperty('body');
    expect(await run(['discard', 'evt_x', ...open], env)).toMatchObject({ exitCode: 0 });
    expect((await file.queue.stats()).dead).toBe(0);
    expect(readdirSync(cli.cwd)).toContain('webhooks.db');
  });

  it('a key with a hash is shown in place of the id of an event', async () => {
    const hashed = `clips:sha256:${'a'.repeat(64)}`;
    await storeDead({ v: 2, key: hashed, tenant: 'acme', body: 'AAAA', encryptedBy: 'abc' });
    expect((await run(['list', ...SQLITE, '--text'])).stdout).toContain(`body not shown  ${hashed}  of acme`);
  });
});

describe.runIf(hasSqlite)('the option --redact of queue', () => {
  const redact = ['--redact', 'data.email'];

  it.each(['list', 'stats', 'retry'])('%s prints no value of a redacted field', async (name) => {
    await opened().bury(`no user ${EMAIL}`, aPrivate('evt_a'));
    const words = name === 'retry' ? ['retry', '--all', '--dry-run'] : [name];
    for (const form of ['--text', '--json']) {
      const { stdout, exitCode } = await run([...words, ...SQLITE, ...redact, form]);
      expect([exitCode, stdout.includes(EMAIL)]).toEqual([0, false]);
      if (name !== 'retry') expect(stdout).toContain('no user redacted');
    }
  });

  it('show replaces the field in the body, the reason and the stack, and leaves the rest', async () => {
    await opened().bury(`no user ${EMAIL}`, aPrivate('evt_a'));
    const { records, stdout } = await run(['show', 'evt_a', ...SQLITE, ...redact, '--json']);
    expect(stdout).not.toContain(EMAIL);
    expect(JSON.parse(String(records[0]?.['body']))).toMatchObject({ data: { email: 'redacted', text: 'short' } });
    expect(String(records[0]?.['stack'])).toMatch(/no user redacted.*\n.* at /);
  });

  it('without the body there is no reason either, since it may have the field', async () => {
    await opened({ encrypt: KEY }).bury(`no user ${EMAIL}`, aPrivate('evt_a'));
    const closed = await run(['show', 'evt_a', ...SQLITE, ...redact, '--json']);
    expect(closed.stdout).not.toContain(EMAIL);
    expect(closed.records).toMatchObject([{ reason: expect.stringContaining('The reason is not shown') }]);
    const env = { WEBHOOK_QUEUE_KEYS: KEY };
    const { records } = await run(['show', 'evt_a', ...SQLITE, ...redact, '--decrypt', '--json'], env);
    expect(records).toMatchObject([{ reason: expect.stringContaining('no user redacted') }]);
  });

  it('a body that is not JSON is not shown', async () => {
    await storeDead(aPrivate('evt_a', { body: `{ "email": "${EMAIL}"` }));
    const { stdout, records } = await run(['show', '1', ...SQLITE, ...redact, '--json']);
    expect(stdout).not.toContain(EMAIL);
    expect(records).toMatchObject([{ notShown: expect.stringContaining('it is not JSON'), key: 'clips:evt_a' }]);
  });

  it('replay sends the exact body, and with its own --redact the redacted one', async () => {
    await opened().bury('no clip', aPrivate('evt_a'));
    writeFileSync(
      inCwd('service-webhooks.json'),
      JSON.stringify({ queue: { engine: 'sqlite', at: 'webhooks.db', redact: 'data.email' } }),
    );
    const app = await serveApp();
    expect((await run(['replay', 'evt_a', `${app.url}/hook`])).exitCode).toBe(0);
    expect((await run(['replay', 'evt_a', `${app.url}/hook`, '--redact', 'data.email'])).exitCode).toBe(0);
    expect(app.got.map(({ body }) => body.toString().includes(EMAIL))).toEqual([true, false]);
  });

  it('a page shows no value of a redacted field, and finds none', async () => {
    await opened({ encrypt: KEY }).bury(`no user ${EMAIL}`, aPrivate('evt_a'));
    const env = { WEBHOOK_QUEUE_KEYS: KEY };
    const running = cli.start(['queue', '--ui=0', ...SQLITE, '--decrypt', ...redact], { env });
    const { page } = await running.next('serving');
    const { read } = browseQueue(String(page));
    const state = () => read<QueueState>('state');
    await vi.waitUntil(async () => (await state()).listing.letters === 1, PATIENTLY);
    const [row] = (await read<LetterPage>('letters')).rows;
    const details = await read<LetterDetails>(`letter?handle=${row?.handle}`);
    expect(details).toMatchObject({
      reason: 'no user redacted',
      body: { text: expect.stringContaining('"redacted"') },
    });
    expect(JSON.stringify([await state(), row, details])).not.toContain(EMAIL);
    expect((await read<LetterPage>(`letters?text=${EMAIL}&bodies=true`)).total).toBe(0);
    running.signal('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe.runIf(hasSqlite)('the settings of private letters', () => {
  it('queue use writes where the keys are, the module and the fields, and the commands after it need no options', async () => {
    const { overflow, module } = fileOverflow(cli.cwd);
    await opened({ encrypt: KEY, overflow }).bury(`no user ${EMAIL}`, aPrivate('evt_a', { text: 'x'.repeat(400_000) }));
    const env = { WEBHOOK_QUEUE_KEYS: KEY };
    const all = [...SQLITE, '--decrypt', '--overflow', module, '--redact', 'data.email,data.text'];
    expect(await run(['use', ...all], env)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(settings().queue).toEqual({
      ...{ engine: 'sqlite', at: 'webhooks.db', queue: 'clips', overflow: module },
      ...{ decrypt: 'env:WEBHOOK_QUEUE_KEYS', redact: 'data.email,data.text' },
    });
    const { records, stdout } = await run(['show', 'evt_a', '--json'], env);
    expect(stdout).not.toContain(EMAIL);
    expect(records).toMatchObject([{ type: 'stt.completed', body: expect.stringContaining('"text":"redacted"') }]);
  });

  it('the fields of the project stay with another queue, and options add to them', async () => {
    await opened().bury(`no user ${EMAIL}`, aPrivate('evt_a'));
    writeFileSync(
      inCwd('service-webhooks.json'),
      JSON.stringify({ queue: { engine: 'bullmq', redact: 'data.email' } }),
    );
    const { stdout } = await run(['show', 'evt_a', ...SQLITE, '--redact', 'data.text', '--json']);
    expect(stdout).not.toContain(EMAIL);
    expect(stdout).not.toContain('short');
    expect((await run(['use', ...SQLITE])).exitCode).toBe(0);
    expect(settings().queue).toMatchObject({ engine: 'sqlite', redact: 'data.email' });
  });

  it.each([
    [{ decrypt: KEY }, 'queue.decrypt must say where the keys are'],
    [{ decrypt: '-' }, 'queue.decrypt must say where the keys are'],
    [{ redact: 'data..email' }, 'queue.redact: It takes names with dots'],
    [{ redact: 'id' }, 'queue.redact: Every receiver checks id'],
    [{ redact: ['data.email'] }, "queue must be what 'queue use' writes"],
  ])('a wrong setting is refused, and a key is not printed: %j', async (setting, says) => {
    await opened().queue.init();
    writeFileSync(
      inCwd('service-webhooks.json'),
      JSON.stringify({ queue: { engine: 'sqlite', at: 'webhooks.db', ...setting } }),
    );
    const ended = await run(['list']);
    expect(ended).toMatchObject(failed(3, says));
    expect(ended.stderr).not.toContain(KEY);
  });

  it('stdin is no place to write down', async () => {
    await opened().queue.init();
    expect(await run(['use', ...SQLITE, '--decrypt', '-'])).toMatchObject(failed(2, 'stdin cannot be read again'));
  });
});
