import { checkKnownOptions, checkPositiveInteger } from '../../option-checks.js';
import type { ClaimRequest, ClaimResult, DedupeRecord, DedupeStore } from '../contract.js';
import { MAX_REPORTS, reportKey, reportKeys } from '../reports.js';
import { databaseOf, type MysqlClient } from './client.js';
import { jobsInMysql } from './job-records.js';
import { boundedLiteral, integerLiteral, microseconds, NOW, textLiteral } from './literals.js';
import { purge, removeKeys } from './purge.js';
import { quotedTable } from './query.js';
import { storeSchema, updateSchema } from './schema.js';
import { storeStatements } from './store-statements.js';

/** Options of {@link mysqlStore}. */
export interface MysqlStoreOptions {
  /** The table, `name` or `database.name`. Default: `'webhook_deliveries'`. */
  table?: string | undefined;
}

const MAX_TRIES = 5;
const [MAX_KEY, MAX_TEXT] = [255, 65_535];

/**
 * Returns a store that remembers events in MySQL or MariaDB, for all receivers. The store uses the clock of the server.
 * The first claim of an event is one round trip. Each call runs statements that are a transaction each and leaves nothing
 * in the session, so it works under every isolation level.
 *
 * `init()` creates the table, or updates an older one; `npx service-webhooks-cli migrations print --mysql` prints the same
 * statements for a migration tool. Call `purgeExpired` regularly: the database does not remove expired rows itself. A call
 * that has to wait for a lock of another transaction rejects after `innodb_lock_wait_timeout` of the server.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = mysqlStore({ mysql2: createPool('mysql://user@localhost/app') });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function mysqlStore(client: MysqlClient, options: MysqlStoreOptions = {}): DedupeStore {
  checkKnownOptions('mysqlStore', options, ['table']);
  const table = quotedTable(options.table ?? 'webhook_deliveries');
  const database = databaseOf('mysqlStore', client);
  const { query } = database;
  const sql = storeStatements(table);

  /** Whether a write has written a row. */
  const hasWritten = async (statement: string) => (await query(statement)).insertId > 0;

  async function find(owner: Owner): Promise<Found | undefined> {
    const { rows } = await query(sql.find(owner));
    return rows[0] && foundIn(rows[0]);
  }

  return {
    scope: 'shared',

    init: () => updateSchema(query, table, storeSchema(table)),

    // Each answer comes from one statement: it is what that has read, or the row that it has written. Where the row has
    // changed in between, the statement writes nothing.
    async claim(request): Promise<ClaimResult> {
      const values = { ...ownerOf(request), ...seenOf(request), ...timesOf(request) };
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const { insertId: inserted } = await query(sql.insert(values));
        if (inserted > 0) return acquired(inserted, 1, request);
        const row = await find(values);
        if (row === undefined) continue;
        const { fence, attempt, seen } = row;
        if (row.retainMsLeft <= 0) {
          const { insertId } = await query(sql.takeExpired(values));
          if (insertId > 0) return acquired(insertId, 1, request);
        } else if (row.state === 'completed') {
          return { status: 'completed', fence, seen };
        } else if (row.state === 'in_progress' && row.isOwn) {
          if (await hasWritten(sql.renew({ ...values, fence: integerLiteral(fence) })))
            return acquired(fence, attempt, seen);
        } else if (row.state === 'in_progress' && row.leaseMsLeft > 0) {
          return { status: 'in_progress', fence, retryAfterMs: row.leaseMsLeft, seen };
        } else {
          const { insertId } = await query(sql.take({ ...values, fence: integerLiteral(fence) }));
          if (insertId > 0) return acquired(insertId, attempt + 1, seen);
        }
      }
      throw new Error(`the row changed ${MAX_TRIES} times during one claim`);
    },

    async extend(claim, { leaseMs }) {
      return (await hasWritten(sql.extend({ ...ownerOf(claim), lease: duration('leaseMs', leaseMs) }))) ? 'ok' : 'lost';
    },

    async complete(claim, { retainMs }) {
      const retention = duration('retainMs', retainMs);
      checkPositiveInteger('fence', claim.fence);
      const owner = ownerOf(claim);
      const again = { ...owner, ...seenOf(claim), retention, fence: integerLiteral(claim.fence) };
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (await hasWritten(sql.complete({ ...owner, retention }))) return 'ok';
        const row = await find(owner);
        if (row && row.retainMsLeft > 0) {
          if (!row.isOwn) return 'lost';
        } else if (await hasWritten(row ? sql.completeExpired(again) : sql.completeLost(again))) {
          return 'ok';
        }
      }
      throw new Error(`the row changed ${MAX_TRIES} times during one completion`);
    },

    async release(claim) {
      const owner = ownerOf(claim);
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (await hasWritten(sql.release(owner))) return 'ok';
        const row = await find(owner);
        if (row === undefined || row.retainMsLeft <= 0 || row.state === 'released') return 'ok';
        if (row.state === 'completed' || !row.isOwn) return 'lost';
      }
      throw new Error(`the row changed ${MAX_TRIES} times during one release`);
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const row = await find({ key: textLiteral(key), token: 'NULL' });
      if (row === undefined || row.retainMsLeft <= 0) return undefined;
      const { isOwn: _, seen, leaseMsLeft, state, ...rest } = row;
      return { ...rest, ...seen, state, leaseMsLeft: state === 'in_progress' ? leaseMsLeft : undefined };
    },

    async forget(key) {
      await query(sql.forget({ key: textLiteral(key) }));
    },

    // A row whose fence the clock has not passed stays, so that the next fence is higher.
    purgeExpired: ({ limit }) => purge(database, { table, limit, condition: `AND fence < ${NOW}` }),

    async saveReport(report) {
      const retention = duration('ttlMs', report.ttlMs);
      const key = boundedLiteral('the key of a report', reportKey(report), MAX_KEY);
      await query(sql.saveReport({ key, text: boundedLiteral('text', report.text, MAX_TEXT), retention }));
      const { rows: old } = await query(sql.oldReports(reportRange(report.name), MAX_REPORTS));
      await removeKeys(query, table, old);
    },

    async loadReports(name) {
      const { rows } = await query(sql.loadReports(reportRange(name), MAX_REPORTS));
      return rows.map(([text]) => String(text));
    },

    jobs: jobsInMysql(database, table),
  };
}

interface Owner {
  key: string;
  token: string;
}

function ownerOf({ key, token }: Owner): Owner {
  return { key: boundedLiteral('key', key, MAX_KEY), token: boundedLiteral('token', token, MAX_KEY) };
}

function seenOf({ fingerprint, alias }: Pick<ClaimRequest, 'fingerprint' | 'alias'>) {
  return {
    fingerprint: boundedLiteral('fingerprint', fingerprint, MAX_TEXT),
    alias: boundedLiteral('alias', alias, MAX_TEXT),
  };
}

function timesOf({ leaseMs, retainMs }: ClaimRequest) {
  return { lease: duration('leaseMs', leaseMs), retention: duration('retainMs', retainMs) };
}

/** @throws WebhookError `invalid_option` */
function duration(name: string, ms: number): string {
  checkPositiveInteger(name, ms);
  return microseconds(ms);
}

function reportRange(name: string): { from: string; to: string } {
  const [from, to] = reportKeys(name);
  return { from: textLiteral(from), to: textLiteral(to) };
}

function acquired(fence: number, attempt: number, { fingerprint, alias }: Found['seen']): ClaimResult {
  return { status: 'acquired', fence, attempt, seen: { fingerprint, alias } };
}

/** A row, as it was read. */
interface Found {
  state: DedupeRecord['state'];
  fence: number;
  attempt: number;
  leaseMsLeft: number;
  retainMsLeft: number;
  seen: { fingerprint: string; alias?: string | undefined };
  isOwn: boolean;
}

function foundIn([state, fence, attempt, lease, retain, fingerprint, alias, own]: (string | null)[]): Found {
  return {
    state: stateOf(state),
    fence: Number(fence),
    attempt: Number(attempt),
    leaseMsLeft: Number(lease),
    retainMsLeft: Number(retain),
    seen: { fingerprint: String(fingerprint), alias: alias ?? undefined },
    isOwn: own === '1',
  };
}

/** @throws Error for a row that is not of a store, such as one of another program */
function stateOf(state: string | null | undefined): DedupeRecord['state'] {
  if (state === 'in_progress' || state === 'completed' || state === 'released') return state;
  throw new Error(`not a row of mysqlStore: its state is '${state}'`);
}
