import { mysqlStore } from 'service-webhooks/stores/mysql';
import { afterAll, describe, expect, it } from 'vitest';
import { poolOf, startMysql } from '../support/mysql.js';
import { buildProgram } from '../support/processes.js';
import { ATTEMPTS } from '../support/scale.js';
import type { Task } from './mysql-process.js';
import { aClaim } from './requests.js';

const server = await startMysql();
const program = await buildProgram('test/stores/mysql-process.ts');

afterAll(async () => {
  program.remove();
  await server?.stop();
});

describe.runIf(server)('several processes on one MySQL', () => {
  const { url = '', database = '', admin = poolOf('mysql://127.0.0.1') } = server ?? {};

  let tables = 0;
  async function aStore() {
    tables += 1;
    const table = `${database}.t${tables}`;
    const store = mysqlStore({ mysql2: admin }, { table });
    await store.init?.();
    return { store, table };
  }

  it(`one of ${ATTEMPTS} attempts in four processes acquires an event of mysqlStore`, async () => {
    const { store, table } = await aStore();
    const task: Task = { kind: 'claim', url, table, key: 'one', count: ATTEMPTS / 4 };
    const processes = Array.from({ length: 4 }, () => program.start(task));
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
  ] as const)('mysqlStore keeps the record of a process that was killed (completed: %s)', async (complete, status) => {
    const { store, table } = await aStore();
    const killed = program.start({ kind: 'hold', url, table, key: 'a', complete });
    expect(await killed.next()).toBe('held');
    await killed.kill();
    expect(await store.claim(aClaim('a'))).toMatchObject({ status });
  });
});
