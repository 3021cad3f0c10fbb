import { Failure } from '../failure.js';
import { type Ask, placeAt } from '../placed.js';
import type { JobsSettings } from '../project-config.js';
import type { Session } from '../session.js';
import type { JobStoreEngine, OpenedStore } from './job-store-engine.js';
import { mysqlJobStore } from './mysql-store.js';
import { postgresJobStore } from './postgres-store.js';
import { redisJobStore } from './redis-store.js';
import { sqliteJobStore } from './sqlite-store.js';

/** A store that the project names, which can be opened several times. */
export interface PlacedStore {
  /** The engine and where it is, without a password: `redis at localhost:6379`. */
  where: string;
  /** @throws Failure */
  open(): Promise<OpenedStore>;
}

const ENGINES: readonly JobStoreEngine[] = [sqliteJobStore, redisJobStore, postgresJobStore, mysqlJobStore];

/** Returns the store that the project names for its jobs. @throws Failure */
export async function storePlaced(
  session: Session,
  { engine: name, at, ...names }: JobsSettings,
): Promise<PlacedStore> {
  const engine = ENGINES.find((one) => one.name === name);
  if (engine === undefined) {
    const all = ENGINES.map((one) => one.name).join(', ');
    throw new Failure('file', `service-webhooks.json: jobs.engine must be one of ${all}.`);
  }
  const { address, where, ask: askPlace } = await placeAt(session, engine, at ?? true, { setting: 'jobs.at' });
  const ask: Ask = (call) =>
    askPlace(async () => {
      try {
        return await call();
      } catch (error) {
        throw engine.isMissing?.(error) ? noJobs(where) : error;
      }
    });
  return {
    where,
    async open() {
      const { store, close } = await ask(() => engine.open({ address, ...names }));
      return { store, ask, close };
    },
  };
}

function noJobs(where: string): Failure {
  return new Failure(
    'usage',
    `${where} has no table of jobs: the app creates it with its first jobs.expect(). If its store has a table of another name, set jobs.table in service-webhooks.json.`,
  );
}
