import { checkKnownOptions, checkObject } from '../option-checks.js';

/** The names of the tables. A table that is not named is left out; without any name, both have their default names. */
export interface TableNames {
  /** The table of the store. Its default name: `'webhook_deliveries'`. */
  table?: string | undefined;
  /** The table of the inbox. Its default name: `'webhook_inbox'`. */
  inboxTable?: string | undefined;
}

/** One table, and the SQL that creates it or brings it up to date. */
export interface SqlTable {
  /** `'store'` has a row for each event, `'inbox'` one for each event whose effects are committed. */
  purpose: 'store' | 'inbox';
  /** The name as it was given, or the default name. */
  name: string;
  /** The statements in their order, without semicolons. Each may run again. */
  statements: readonly string[];
}

/** The tables of a store and an inbox. */
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
}

/** Returns the tables that are meant. @throws WebhookError `invalid_option` */
export function tablesNamed(subject: string, names: TableNames, { version, ...sql }: SqlOfTables): SqlTables {
  checkObject('names', names);
  checkKnownOptions(subject, names, ['table', 'inboxTable']);
  const { table, inboxTable } = names;
  const isDefault = table === undefined && inboxTable === undefined;
  const meant = [
    ['store', isDefault ? 'webhook_deliveries' : table],
    ['inbox', isDefault ? 'webhook_inbox' : inboxTable],
  ] as const;
  const tables: SqlTable[] = [];
  for (const [purpose, name] of meant) {
    if (name !== undefined) tables.push({ purpose, name, statements: sql[purpose](name) });
  }
  return { version, tables };
}
