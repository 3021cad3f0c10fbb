import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Pool as MysqlPool } from 'mysql2/promise';
import { Pool } from 'pg';
import type { DedupeStore } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { mysqlStore } from 'service-webhooks/stores/mysql';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { redisStore } from 'service-webhooks/stores/redis';
import { sqliteStore } from 'service-webhooks/stores/sqlite';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { later } from '../../../../../test/support/deliveries.js';
import { installPackage } from '../../../../../test/support/installed-package.js';
import { startMysql } from '../../../../../test/support/mysql.js';
import type { JobsState } from '../../../src/page/jobs-source.js';
import { useCli } from '../../support/cli.js';
import { queueServers } from '../queue/queue-servers.js';
import { hasSqlite, openQueueFile } from '../queue/sqlite-queue-file.js';
import { runDev } from './run-dev.js';

const cli = useCli();
const servers = await queueServers();
const mysql = await startMysql();
afterAll(() => mysql?.stop());
const configure = (jobs: object) => writeFileSync(join(cli.cwd, 'service-webhooks.json'), JSON.stringify({ jobs }));

/** What the page of a `dev` in the project shows of its jobs. */
async function openJobs(env: Record<string, string | undefined> = {}) {
  const { browser, stop } = await runDev(cli, ['3000'], { env });
  const state = (): Promise<JobsState> => browser.read('/page/jobs/state');
  return { state, stop, browser };
}

/** Expects two jobs in a store, one of which is overdue, and holds the page to them. */
async function expectShown(store: DedupeStore, where: string | RegExp, env: Record<string, string> = {}) {
  const jobs = createJobs({ store });
  onTestFinished(async () => {
    for (const jobId of ['dub_1', 'dub_2']) await jobs.forget(jobId);
  });
  await jobs.expect('dub_1', { within: 1, types: ['dubbing.completed'], note: 'the intro' });
  await jobs.expect('dub_2', { within: '2h' });
  await expect.poll(async () => (await jobs.overdue()).length).toBe(1);
  const { state, stop } = await openJobs(env);
  const shown = await state();
  expect(shown).toMatchObject({
    where: expect.stringMatching(where),
    counts: { expected: 2, overdue: 1 },
    jobs: [
      { id: 'dub_1', types: ['dubbing.completed'], note: 'the intro', isOverdue: true },
      { id: 'dub_2', isOverdue: false },
    ],
  });
  expect(shown.problem).toBeUndefined();
  expect(await stop()).toMatchObject({ exitCode: 0, stderr: '' });
}

describe('dev in a project whose settings name a store of jobs', () => {
  it.runIf(hasSqlite)('the page shows the jobs in a SQLite file', async () => {
    const { handle } = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    onTestFinished(() => handle.close());
    configure({ engine: 'sqlite', at: 'webhooks.db', table: 'clips' });
    const client = { betterSqlite3: handle } as unknown as Parameters<typeof sqliteStore>[0];
    await expectShown(sqliteStore(client, { table: 'clips' }), 'webhooks.db');
  });

  it.runIf(servers.redis).each(['ioredis', 'redis'])('the page shows the jobs in Redis, with %s', async (library) => {
    const redis = new Redis(servers.redis as string);
    onTestFinished(() => void redis.disconnect());
    installPackage(cli.cwd, library);
    const prefix = `test-${crypto.randomUUID()}:`;
    configure({ engine: 'redis', at: 'env:JOBS_URL', prefix });
    const store = redisStore({ ioredis: redis }, { keyPrefix: prefix });
    await expectShown(store, /^redis at /, { JOBS_URL: servers.redis as string });
  });

  it.runIf(servers.postgres).each(['pg', 'postgres'])(
    'the page shows the jobs in PostgreSQL, with %s',
    async (library) => {
      const pool = new Pool({ connectionString: servers.postgres?.url });
      installPackage(cli.cwd, library);
      const table = `jobs_${crypto.randomUUID().slice(0, 8)}`;
      onTestFinished(async () => {
        await pool.query(`DROP TABLE IF EXISTS ${table}_jobs`);
        await pool.end();
      });
      configure({ engine: 'postgres', table });
      const env = { DATABASE_URL: String(servers.postgres?.url) };
      await expectShown(postgresStore({ pg: pool }, { table }), /^postgres at /, env);
    },
  );

  it.runIf(mysql)('the page shows the jobs in MySQL', async () => {
    installPackage(cli.cwd, 'mysql2');
    const { url = '', admin } = mysql ?? {};
    configure({ engine: 'mysql', table: 'clips' });
    await expectShown(mysqlStore({ mysql2: admin as MysqlPool }, { table: 'clips' }), /^mysql at /, {
      DATABASE_URL: url,
    });
  });

  it.runIf(hasSqlite)('a file without jobs is said, and is not changed', async () => {
    const { handle } = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    handle.exec('CREATE TABLE other (id TEXT)');
    configure({ engine: 'sqlite', at: 'webhooks.db' });
    const { state } = await openJobs();
    expect(await state()).toMatchObject({
      jobs: [],
      problem: expect.stringMatching(
        /^webhooks\.db has no table of jobs: .+ set jobs\.table in service-webhooks\.json\.$/,
      ),
    });
    const tables = handle.prepare("SELECT group_concat(name) AS names FROM sqlite_master WHERE type = 'table'");
    expect(tables.get()).toEqual({ names: 'other' });
    handle.close();
  });

  it('a server that is down and a file that is missing are said with what to do, and dev runs on', async () => {
    installPackage(cli.cwd, 'ioredis');
    configure({ engine: 'redis', at: 'redis://127.0.0.1:1' });
    const down = await openJobs();
    expect((await down.state()).problem).toMatch(
      /^redis at 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED.*\. Check the URL and the server\.$/,
    );
    expect((await down.browser.open('/')).status).toBe(200);
    expect(await down.stop()).toMatchObject({ exitCode: 0 });
    configure({ engine: 'sqlite', at: 'none.db' });
    const missing = await openJobs();
    expect((await missing.state()).problem).toBe('none.db: there is no such file; check the path');
  });

  it('a library that the project has not installed is said', async () => {
    configure({ engine: 'redis', at: 'redis://127.0.0.1:1' });
    const { state } = await openJobs();
    expect((await state()).problem).toMatch(/^this project has neither ioredis nor redis\./);
  });

  it.each([
    [{ engine: 'oracle' }, 'jobs.engine must be one of sqlite, redis, postgres, mysql.'],
    [
      { engine: 'redis' },
      'there is no URL: write redis://localhost:6379 into jobs.at, or set REDIS_URL, also in .env.',
    ],
    [{ engine: 'redis', at: 'http://a' }, 'jobs.at takes a URL such as redis://localhost:6379'],
    [{ engine: 'postgres', at: 'postgres://a:hunter2@b/c' }, 'set DATABASE_URL, also in .env, and leave out jobs.at.'],
  ])('with the setting %j, dev says what is wrong and runs without the view', async (jobs, says) => {
    configure(jobs);
    const { browser, stop } = await openJobs({ REDIS_URL: undefined });
    expect((await browser.open('/page/jobs')).status).toBe(404);
    expect((await browser.open('/')).status).toBe(200);
    expect(await stop()).toMatchObject({ exitCode: 0 });
    const { stderr } = await inText();
    expect(stderr).toContain('The page does not show the jobs of service-webhooks.json:');
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('hunter2');
  });
});

/** What a `dev` prints for people that has delivered an event, as in the first minute of a user. */
async function inText() {
  const { promise: delivered, resolve } = later();
  const app = await serveApp((_, __, res) => {
    res.end();
    resolve();
  });
  const args = ['dev', app.url, '--text', '--port', '0', '--emit', 'stt.failed'];
  const { signal, ended } = cli.start(args, { env: { REDIS_URL: undefined } });
  await delivered;
  signal('SIGINT');
  return ended;
}
