import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { postgresInbox, postgresStore } from 'service-webhooks/stores/postgres';
import { sqliteInbox, sqliteStore } from 'service-webhooks/stores/sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../../../../test/integration/sqlite.js';
import { libraries, sqliteFiles } from '../../../../../test/integration/sqlite-libraries.js';
import { hidePackage, installPackage } from '../../../../../test/support/installed-package.js';
import { startMysql } from '../../../../../test/support/mysql.js';
import { startPostgres } from '../../../../../test/support/postgres.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';

const cli = useCli();
const server = await startPostgres();
const mysql = await startMysql();
const root = new URL('../../../../../', import.meta.url).pathname;

afterAll(() => Promise.all([server?.stop(), mysql?.stop()]));

const install = (name: string, from?: string) => installPackage(cli.cwd, name, from);
const print = async (...args: string[]) => (await cli.run(['migrations', 'print', ...args])).stdout;
const file = (name: string) => readFileSync(join(root, 'sql', name), 'utf8');

describe('migrations print', () => {
  it.each([
    ['--postgres', 'postgres.sql'],
    ['--mysql', 'mysql.sql'],
    ['--sqlite', 'sqlite.sql'],
  ])('the option %s prints the file sql/%s of the package', async (option, name) => {
    expect(await print(option)).toBe(file(name));
  });

  it('the tables that are named are printed, and no others', async () => {
    const script = await print('--postgres', '--inbox-table', 'hooks.seen');
    expect(script).toContain('CREATE TABLE IF NOT EXISTS "hooks"."seen" (');
    expect(script).not.toContain('webhook_deliveries');
  });

  it.each([
    [[], 'pass --postgres, --mysql or --sqlite'],
    [['--postgres', '--mysql'], 'cannot be used with option'],
    [['--mysql', '--table', 'a`b'], 'table must be a name'],
    [['--postgres', '--sqlite'], 'cannot be used with option'],
    [['--sqlite', '--table', 'a b'], 'table must be a name'],
    [['--postgres', '--table', 'a"b'], 'table must be a name'],
  ])('the options %j are refused: %s', async (args, says) => {
    expect(await cli.run(['migrations', 'print', ...args])).toMatchObject(failed(2, says));
  });
});

describe.runIf(server)('migrations status --postgres', () => {
  const { url = '', schema = '', admin } = server ?? {};
  const names = [`--table`, `${schema}.deliveries`, '--inbox-table', `${schema}.inbox`];
  const withJobs = [...names, '--jobs-table', `${schema}.deliveries_jobs`];
  const status = (...args: string[]) =>
    cli.run(['migrations', 'status', '--postgres', ...names, ...args], { env: { DATABASE_URL: url } });
  const states = async (...args: string[]) => {
    const { exitCode, stdout } = await status(...args);
    const lines = stdout.trim().split('\n');
    return [exitCode, ...lines.map((line) => JSON.parse(line)).map(({ state, version }) => `${state} ${version}`)];
  };

  it.each(['pg', 'postgres'])(
    'the exit code is 1 where tables are missing or behind, and 0 after the script, over %s',
    async (client) => {
      install(client);
      await admin?.query(`DROP TABLE IF EXISTS ${schema}.deliveries, ${schema}.inbox`);
      expect(await states()).toEqual([1, 'missing undefined', 'missing undefined']);
      const script = await print('--postgres', ...names);
      await admin?.query(script);
      await admin?.query(script);
      expect(await states()).toEqual([0, 'current 1', 'current 1']);
      await admin?.query(`COMMENT ON TABLE ${schema}.inbox IS NULL`);
      expect(await states()).toEqual([1, 'current 1', 'behind 0']);
      await postgresInbox({ pg: admin as never }, { name: 'clips', table: `${schema}.inbox` }).init();
      expect(await states()).toEqual([0, 'current 1', 'current 1']);
      const store = postgresStore({ pg: admin as never }, { table: `${schema}.deliveries` });
      await store.init?.();
      const claim = { key: 'a', token: 't', fingerprint: 'f', leaseMs: 1_000, retainMs: 60_000 };
      expect(await store.claim(claim)).toMatchObject({ status: 'acquired' });
    },
  );

  it('the table of the jobs is printed and checked where it is named', async () => {
    install('pg');
    const state = async () =>
      (await cli.run(['migrations', 'status', '--postgres', ...withJobs], { env: { DATABASE_URL: url } })).exitCode;
    await admin?.query(await print('--postgres', ...names));
    expect(await state()).toBe(1);
    await admin?.query(await print('--postgres', ...withJobs));
    expect(await state()).toBe(0);
  });

  it('the URL may come from a place that is named, and the text says what to run', async () => {
    install('pg');
    const args = ['--text', 'migrations', 'status', '--postgres', 'env:MINE', '--table', `${schema}.nothing`];
    const { exitCode, stdout, stderr } = await cli.run(args, { env: { MINE: url } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: `missing  ${schema}.nothing\n` });
    expect(stderr).toContain('npx service-webhooks-cli migrations print --postgres');
  });

  it('a project without a client ends with 2', async () => {
    for (const client of ['pg', 'postgres']) hidePackage(cli.cwd, client);
    expect(await status()).toMatchObject(failed(2, 'neither pg nor postgres'));
  });

  it.each(['pg', 'postgres'])('a server that does not answer ends with 4, over %s', async (client) => {
    for (const one of ['pg', 'postgres']) if (one !== client) hidePackage(cli.cwd, one);
    install(client);
    const env = { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/test' };
    const ended = await cli.run(['migrations', 'status', '--postgres'], { env });
    expect(ended).toMatchObject(failed(4, 'postgres at 127.0.0.1:1 does not answer: '));
    expect(ended.stderr).not.toContain('hunter2');
  });
});

describe.runIf(mysql)('migrations status --mysql', () => {
  const { url = '', admin } = mysql ?? {};
  const names = ['--table', 'deliveries', '--inbox-table', 'seen'];
  const status = (env = { DATABASE_URL: url }) => cli.run(['migrations', 'status', '--mysql', ...names], { env });

  it('the exit code is 1 where tables are missing or behind, and 0 after the script', async () => {
    install('mysql2');
    const states = async () => {
      const { exitCode, stdout } = await status();
      const lines = stdout.trim().split('\n');
      return [exitCode, ...lines.map((line) => JSON.parse(line)).map(({ state, version }) => `${state} ${version}`)];
    };
    expect(await states()).toEqual([1, 'missing undefined', 'missing undefined']);
    const script = (await print('--mysql', ...names)).split(';\n').slice(0, -1);
    for (const statement of [...script, ...script]) await admin?.query(statement);
    expect(await states()).toEqual([0, 'current 1', 'current 1']);
    await admin?.query("ALTER TABLE seen COMMENT = ''");
    expect(await states()).toEqual([1, 'current 1', 'behind 0']);
  });

  it('a project without mysql2 ends with 2', async () => {
    hidePackage(cli.cwd, 'mysql2');
    expect(await status()).toMatchObject(failed(2, 'this project has no mysql2'));
  });

  it('a server of MySQL that does not answer ends with 4', async () => {
    install('mysql2');
    const ended = await status({ DATABASE_URL: 'mysql://me:hunter2@127.0.0.1:1/test' });
    expect(ended).toMatchObject(failed(4, 'mysql at 127.0.0.1:1 does not answer: '));
    expect(ended.stderr).not.toContain('hunter2');
  });
});

describe('migrations status --sqlite', () => {
  const { newFile, open } = sqliteFiles();
  const [library] = libraries;
  // What the command line itself opens a file with.
  const canRead = existsSync('test/integration/better-sqlite3/node_modules') || isBuiltin('node:sqlite');

  beforeEach(() => install('better-sqlite3', 'test/integration/better-sqlite3/node_modules'));

  it.skipIf(!library || !canRead)(
    'the exit code is 1 where tables are missing or behind, and 0 after init or the script',
    async () => {
      const [, driver] = library ?? expect.fail('no library');
      const database = newFile();
      const handle = open(driver, database);
      const states = async () => {
        const { exitCode, stdout } = await cli.run(['migrations', 'status', '--sqlite', database]);
        const lines = stdout.trim().split('\n');
        return [exitCode, ...lines.map((line) => JSON.parse(line).state)];
      };
      handle.exec('CREATE TABLE other (a)');
      expect(await states()).toEqual([1, 'missing', 'missing', 'missing']);
      const store = sqliteStore(clientOf(driver, handle));
      await store.init?.();
      expect(await states()).toEqual([1, 'current', 'missing', 'missing']);
      await sqliteInbox(clientOf(driver, handle), { name: 'clips' }).init();
      expect(await states()).toEqual([0, 'current', 'current', 'missing']); // an app without jobs
      await store.jobs?.init?.();
      expect(await states()).toEqual([0, 'current', 'current', 'current']);
      handle.exec("UPDATE webhook_schema SET version = 0 WHERE table_name = 'webhook_inbox'");
      expect(await states()).toEqual([1, 'current', 'behind', 'current']);
      const script = await print('--sqlite');
      handle.exec(script);
      handle.exec(script);
      expect(await states()).toEqual([0, 'current', 'current', 'current']);
    },
  );

  it('a file that is not there ends with 3', async () => {
    const result = await cli.run(['migrations', 'status', '--sqlite', '/nowhere/app.db']);
    expect(result).toMatchObject(failed(3, 'there is no such file'));
  });
});
