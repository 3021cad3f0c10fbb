import { checkPage, checkRecord } from '../check-record.js';
import type { JobRecord, JobRecords } from '../contract.js';
import type { Database } from './client.js';
import { jobStatements } from './job-statements.js';
import { boundedLiteral, integerLiteral, microseconds, textLiteral } from './literals.js';
import { purge } from './purge.js';
import { jobsTable } from './query.js';
import { jobsSchema, updateSchema } from './schema.js';

const MAX_TRIES = 5;
const MAX_KEY = 255;

/** Returns the records of jobs, in a table next to the quoted one of a store. */
export function jobsInMysql(database: Database, storeTable: string): JobRecords {
  const { query } = database;
  const table = jobsTable(storeTable);
  const sql = jobStatements(table);

  /** Whether a write has written a record. */
  const hasWritten = async (statement: string) => (await query(statement)).insertId > 0;

  return {
    init: () => updateSchema(query, table, jobsSchema(table)),

    async read(key) {
      const {
        rows: [[now, ...columns] = []],
      } = await query(sql.read({ key: textLiteral(key) }));
      return { now: Number(now), record: columns[0] == null ? undefined : recordOf(key, columns) };
    },

    async write(record, replaces) {
      checkRecord(record);
      const { key, version, text, dueAt, keepMs } = record;
      const values = {
        key: boundedLiteral('key', key, MAX_KEY),
        version: boundedLiteral('version', version, MAX_KEY),
        record: textLiteral(text),
        dueAt: dueAt === undefined ? 'NULL' : integerLiteral(dueAt),
        keep: keepMs === undefined ? 'NULL' : microseconds(keepMs),
      };
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (replaces === undefined) {
          if ((await hasWritten(sql.insert(values))) || (await hasWritten(sql.replaceExpired(values)))) return true;
        } else if (await hasWritten(sql.replace({ ...values, replaces: textLiteral(replaces) }))) {
          return true;
        }
        const { rows } = await query(sql.find(values));
        if (rows[0]) return rows[0][0] === '1';
        if (replaces !== undefined) return false;
      }
      throw new Error(`the record changed ${MAX_TRIES} times during one write`);
    },

    async remove(key) {
      await query(sql.remove({ key: textLiteral(key) }));
    },

    async list(page) {
      checkPage(page);
      const { limit, overdue, after } = page;
      const place = after && { dueAt: integerLiteral(after.dueAt), key: textLiteral(after.key) };
      const { rows } = await query(sql.list(limit, overdue, place));
      return rows.map(([key, ...columns]) => recordOf(String(key), columns));
    },

    async count() {
      const {
        rows: [[now, open, overdue, first] = []],
      } = await query(sql.count);
      const firstDueAt = first == null ? undefined : Number(first);
      return { now: Number(now), open: Number(open), overdue: Number(overdue), firstDueAt };
    },

    purgeExpired: ({ limit }) => purge(database, { table, limit }),
  };
}

function recordOf(key: string, [version, text, dueAt]: (string | null | undefined)[]): JobRecord {
  const record = { key, version: String(version), text: String(text) };
  return dueAt == null ? record : { ...record, dueAt: Number(dueAt) };
}
