import { expect, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { poolOf } from '../../support/postgres.js';

/** The statement by which an engine itself records the end of a job: what it does, and a part of its text. */
export interface LastStatement {
  table: string;
  operation: 'UPDATE' | 'DELETE';
  text: string;
}

export const LAST_OF_PG_BOSS: LastStatement = {
  table: 'pgboss.job',
  operation: 'UPDATE',
  text: 'COUNT(*) FROM results',
};
export const LAST_OF_GRAPHILE_WORKER: LastStatement = {
  table: 'graphile_worker._private_jobs',
  operation: 'DELETE',
  text: 'delete from',
};

/** Makes the statement wait, so that PostgreSQL can be ended during it. */
export async function holdLastStatement(url: string, { table, operation, text }: LastStatement) {
  const pool = poolOf(url);
  await pool.query(`
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF position('${text}' IN current_query()) > 0 THEN PERFORM pg_sleep(60); END IF; RETURN NULL; END $$;
    CREATE TRIGGER wait BEFORE ${operation} ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION wait()`);
  const waiting = () => pool.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
  return {
    /** Resolves when an engine has sent the statement. */
    isSent: () => vi.waitFor(async () => expect((await waiting()).rowCount).toBe(1), PATIENTLY),
    async release() {
      await pool.query('DROP FUNCTION wait CASCADE');
      await pool.end();
    },
  };
}
