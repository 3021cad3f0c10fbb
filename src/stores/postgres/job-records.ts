import { checkPositiveInteger } from '../../option-checks.js';
import { checkRecord } from '../check-record.js';
import type { JobRecord, JobRecords } from '../contract.js';
import { jobStatements } from './job-statements.js';
import type { Listen } from './listen.js';
import { intervalLiteral, textLiteral } from './literals.js';
import { jobsTable, type Query } from './query.js';
import { jobsSchema, updateSchema } from './schema.js';

/** How the records run their statements. */
export interface JobsConnection {
  /** Runs a statement of the schema. */
  run: Query;
  /** Runs a statement that waits for locks only so long, as a transaction of its own. */
  query: Query;
  /** Listens on a connection of its own; undefined where the client cannot open one. */
  listen: Listen | undefined;
}

/** Returns the records of jobs, in a table next to the quoted one of a store. */
export function jobsInPostgres({ run, query, listen }: JobsConnection, storeTable: string): JobRecords {
  const table = jobsTable(storeTable);
  const sql = jobStatements(table);

  return {
    init: () => updateSchema(run, table, jobsSchema(table)),

    async read(key) {
      const [[now, ...columns] = []] = await query(sql.read({ key: textLiteral(key) }));
      return { now: Number(now), record: columns[0] == null ? undefined : recordOf(key, columns) };
    },

    async write(record, replaces) {
      checkRecord(record);
      const { key, version, text, dueAt, keepMs } = record;
      const written = {
        key: textLiteral(key),
        version: textLiteral(version),
        record: textLiteral(text),
        dueAt: dueAt === undefined ? 'NULL' : bigintLiteral(dueAt),
        keep: keepMs === undefined ? 'NULL::interval' : intervalLiteral(keepMs),
      };
      const isOpen = dueAt !== undefined;
      const [done] = await query(
        replaces === undefined
          ? sql.insert(written, !isOpen)
          : sql.update({ ...written, replaces: textLiteral(replaces) }, !isOpen),
      );
      if (done) return true;
      // A statement of its own, because one that has waited for a lock reads the table as it was before.
      const [sent] = await query(sql.find(written));
      return sent !== undefined;
    },

    async remove(key) {
      await query(sql.remove({ key: textLiteral(key) }));
    },

    async list({ limit, overdue, after }) {
      checkPositiveInteger('limit', limit);
      const place = after && { dueAt: bigintLiteral(after.dueAt), key: textLiteral(after.key) };
      const rows = await query(sql.list(limit, overdue, place));
      return rows.map(([key, ...columns]) => recordOf(String(key), columns));
    },

    async count() {
      const [[now, open, overdue, first] = []] = await query(sql.count);
      const firstDueAt = first == null ? undefined : Number(first);
      return { now: Number(now), open: Number(open), overdue: Number(overdue), firstDueAt };
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const [[removed] = []] = await query(sql.purge(limit));
      return Number(removed);
    },

    async watch(changed) {
      return listen?.(sql.channel, changed, async (key) => void (await query(sql.notify(textLiteral(key)))));
    },
  };
}

function recordOf(key: string, [version, text, dueAt]: (string | null | undefined)[]): JobRecord {
  const record = { key, version: String(version), text: String(text) };
  return dueAt == null ? record : { ...record, dueAt: Number(dueAt) };
}

function bigintLiteral(value: number): string {
  return `${textLiteral(String(value))}::bigint`;
}
