import { postgresInbox, postgresStore } from 'service-webhooks/stores/postgres';
import { afterAll, describe, expect, it } from 'vitest';
import { poolOf, startPostgres } from '../support/postgres.js';
import { buildProgram } from '../support/processes.js';
import { ATTEMPTS } from '../support/scale.js';
import type { Task } from './postgres-process.js';
import { aClaim } from './requests.js';

const server = await startPostgres();
const program = await buildProgram('test/stores/postgres-process.ts');

afterAll(async () => {
  program.remove();
  await server?.stop();
});

describe.runIf(server)('several processes on one Postgres', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};

  let tables = 0;
  async function aStore() {
    tables += 1;
    const table = `${schema}.t${tables}`;
    const store = postgresStore({ pg: admin }, { table });
    await store.init?.();
    return { store, table };
  }

  it(`one of ${ATTEMPTS} attempts in four processes acquires an event of postgresStore`, async () => {
    const { store, table } = await aStore();
    const tasks = (['pg', 'postgresJs', 'pg', 'postgresJs'] as const).map(
      (client): Task => ({ kind: 'claim', url, table, client, key: 'one', count: ATTEMPTS / 4 }),
    );
    const processes = tasks.map((task) => program.start(task));
    expect(await Promise.all(processes.map((one) => one.next()))).toEqual(Array(4).fill('ready'));
    for (const one of processes) one.go();
    const answers = (await Promise.all(processes.map((one) => one.next()))) as { acquired: number; answered: number }[];
    expect(answers.map(({ answered }) => answered)).toEqual(Array(4).fill(ATTEMPTS / 4));
    expect(answers.reduce((sum, { acquired }) => sum + acquired, 0)).toBe(1);
    expect(await store.inspect?.('one')).toMatchObject({ state: 'in_progress', attempt: 1 });
  });

  it.each([
    [false, 'in_progress'],
    [true, 'completed'],
  ] as const)(
    'postgresStore keeps the record of a process that was killed (completed: %s)',
    async (complete, status) => {
      const { store, table } = await aStore();
      const killed = program.start({ kind: 'hold', url, table, key: 'a', complete });
      expect(await killed.next()).toBe('held');
      await killed.kill();
      expect(await store.claim(aClaim('a'))).toMatchObject({ status });
    },
  );

  it.each(['in work', 'before commit'] as const)(
    'postgresInbox has effects exactly once though a process is killed %s',
    async (hang) => {
      const [table, effects, eventId] = [`${schema}.inbox`, `${schema}.effects`, `evt_${hang.replace(' ', '_')}`];
      await postgresInbox({ pg: admin }, { table, name: 'default' }).init();
      await admin.query(`CREATE TABLE IF NOT EXISTS ${effects} (id text); TRUNCATE ${table}; TRUNCATE ${effects}`);
      const task: Task = { kind: 'inbox', url, table, effects, eventId };
      const killed = program.start({ ...task, hang });
      expect(await killed.next()).toBe('hangs');
      await killed.kill();
      const retries = [program.start(task), program.start(task), program.start(task)];
      const answers = await Promise.all(retries.map((retry) => retry.next()));
      expect(answers.sort()).toEqual(['done', 'duplicate', 'duplicate']);
      expect((await admin.query(`SELECT id FROM ${effects}`)).rows).toEqual([{ id: eventId }]);
      expect((await admin.query(`SELECT key FROM ${table}`)).rows).toEqual([{ key: `default:${eventId}` }]);
    },
  );
});
