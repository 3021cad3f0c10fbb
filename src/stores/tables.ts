import { checkKnownOptions, checkObject } from '../option-checks.js';

/** The names of the tables. A table that is not named is left out; without any name, all have their default names. */
export interface TableNames {
  /** The table of the store. Its default name: `'webhook_deliveries'`. */
  table?: string | undefined;
  /** The table of the inbox. Its default name: `'webhook_inbox'`. */
  inboxTable?: string | undefined;
  /**
   * The table of the jobs: the name of the store's table with `_jobs` after it. Its default name:
   * `'webhook_deliveries_jobs'`.
   */
  jobsTable?: string | undefined;
}

/** One table, and the SQL that creates it or brings it up to date. */
export interface SqlTable {
  /**
   * `'store'` has a row for each event, `'inbox'` one for each event whose effects are committed, `'jobs'` one for each job.
   */
  purpose: 'store' | 'inbox' | 'jobs';
  /** The name as it was given, or the default name. */
  name: string;
  /** The statements in their order, without semicolons. Each may run again. */
  statements: readonly string[];
}

/** The tables of a store, an inbox and jobs. */
export interface SqlTables {
  /** The version that the tables have after the statements. */
  version: number;
  tables: readonly SqlTable[];
}

/** What a database needs for each purpose. */
export interface SqlOfTables {
  version: number;
  store(name: string): readonly string[];
  inbox(name: string): readonly string[];
  jobs(name: string): readonly string[];
}

/** Returns the tables that are meant. @throws WebhookError `invalid_option` */
export function tablesNamed(subject: string, names: TableNames, { version, ...sql }: SqlOfTables): SqlTables {
  checkObject('names', names);
  checkKnownOptions(subject, names, ['table', 'inboxTable', 'jobsTable']);
  const { table, inboxTable, jobsTable } = names;
  const isDefault = [table, inboxTable, jobsTable].every((name) => name === undefined);
  const meant = [
    ['store', isDefault ? 'webhook_deliveries' : table],
    ['inbox', isDefault ? 'webhook_inbox' : inboxTable],
    ['jobs', isDefault ? 'webhook_deliveries_jobs' : jobsTable],
  ] as const;
  const tables: SqlTable[] = [];
  for (const [purpose, name] of meant) {
    if (name !== undefined) tables.push({ purpose, name, statements: sql[purpose](name) });
  }
  return { version, tables };
}
