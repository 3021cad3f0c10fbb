import { checkKnownOptions, checkPositiveInteger, integers } from '../../option-checks.js';
import type { ClaimResult, DedupeRecord, DedupeStore } from '../contract.js';
import { MAX_REPORTS, reportKey, reportKeys } from '../reports.js';
import { type PostgresClient, queryOf } from './client.js';
import { jobsInPostgres } from './job-records.js';
import { listenOf } from './listen.js';
import { intervalLiteral, textLiteral } from './literals.js';
import { quotedTable, retryingQuery } from './query.js';
import { storeSchema, updateSchema } from './schema.js';
import { storeStatements } from './store-statements.js';

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** The table, `name` or `schema.name`. Default: `'webhook_deliveries'`. */
  table?: string | undefined;
  /** How long a call waits for a lock of another transaction before it rejects, in milliseconds. Default: 1 000. */
  waitMs?: number | undefined;
}

const MAX_TRIES = 3;

/**
 * Returns a store that remembers events in PostgreSQL, for all receivers. The store uses the clock of the server. The
 * first claim of an event is one round trip. Each call is a transaction of its own and leaves nothing in the session,
 * so it works through PgBouncer.
 *
 * `init()` creates the table, or updates an older one; `npx service-webhooks-cli migrations print --postgres` prints the same
 * statements for a migration tool. Call `purgeExpired` regularly: PostgreSQL does not remove expired rows itself.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = postgresStore({ pg: new Pool() });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): DedupeStore {
  checkKnownOptions('postgresStore', options, ['table', 'waitMs']);
  const table = quotedTable(options.table ?? 'webhook_deliveries');
  const { waitMs } = integers(options, { waitMs: 1_000 });
  const run = queryOf('postgresStore', client);
  // The limit is a statement of its own, because it must apply before the next one locks the table. Both are in one
  // string, so they are one round trip and one transaction, which ends the setting.
  const query = retryingQuery((statement) => run(`SET LOCAL lock_timeout = '${waitMs}ms'; ${statement}`));
  const sql = storeStatements(table);

  return {
    scope: 'shared',

    init: () => updateSchema(run, table, storeSchema(table)),

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      const values = {
        key: textLiteral(key),
        token: textLiteral(token),
        fingerprint: textLiteral(fingerprint),
        alias: textLiteral(alias),
        lease: interval('leaseMs', leaseMs),
        retention: interval('retainMs', retainMs),
      };
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const [[fence] = []] = await query(sql.insert(values));
        if (fence) return { status: 'acquired', fence: Number(fence), attempt: 1, seen: { fingerprint, alias } };
        const [known] = await query(sql.take(values));
        if (known) return toResult(known);
      }
      throw new Error(`the row changed ${MAX_TRIES} times during one claim`);
    },

    async extend({ key, token }, { leaseMs }) {
      const lease = interval('leaseMs', leaseMs);
      const [row] = await query(sql.extend({ key: textLiteral(key), token: textLiteral(token), lease }));
      return row ? 'ok' : 'lost';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }) {
      const retention = interval('retainMs', retainMs);
      const owner = { key: textLiteral(key), token: textLiteral(token) };
      const [own] = await query(sql.complete({ ...owner, retention }));
      if (own) return 'ok';
      const [lost] = await query(
        sql.completeLost({
          ...owner,
          fence: textLiteral(String(fence)),
          fingerprint: textLiteral(fingerprint),
          alias: textLiteral(alias),
          retention,
        }),
      );
      return lost ? 'ok' : 'lost';
    },

    async release({ key, token }) {
      const [row] = await query(sql.release({ key: textLiteral(key), token: textLiteral(token) }));
      return row ? 'ok' : 'lost';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const [row] = await query(sql.inspect({ key: textLiteral(key) }));
      if (row === undefined) return undefined;
      const [state, fence, attempt, lease, retain, fingerprint, alias] = row;
      return {
        state: state as DedupeRecord['state'],
        fence: Number(fence),
        attempt: Number(attempt),
        fingerprint: String(fingerprint),
        alias: alias ?? undefined,
        leaseMsLeft: lease == null ? undefined : Number(lease),
        retainMsLeft: Number(retain),
      };
    },

    async forget(key) {
      await query(sql.forget({ key: textLiteral(key) }));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const [[removed] = []] = await query(sql.purge(limit));
      return Number(removed);
    },

    async saveReport(report) {
      const retention = interval('ttlMs', report.ttlMs);
      await query(sql.saveReport({ key: textLiteral(reportKey(report)), text: textLiteral(report.text), retention }));
      await query(sql.trimReports(reportRange(report.name), MAX_REPORTS));
    },

    async loadReports(name) {
      const found = await query(sql.loadReports(reportRange(name), MAX_REPORTS));
      return found.map(([text]) => String(text));
    },

    jobs: jobsInPostgres({ run, query, listen: listenOf(client) }, table),
  };
}

function reportRange(name: string): { from: string; to: string } {
  const [from, to] = reportKeys(name);
  return { from: textLiteral(from), to: textLiteral(to) };
}

function toResult([status, count, number, print, alias]: (string | null)[]): ClaimResult {
  const fence = Number(count);
  const seen = { fingerprint: String(print), alias: alias ?? undefined };
  if (status === 'acquired') return { status, fence, attempt: Number(number), seen };
  if (status === 'in_progress') return { status, fence, retryAfterMs: Number(number), seen };
  return { status: 'completed', fence, seen };
}

/** @throws WebhookError `invalid_option` */
function interval(name: string, ms: number): string {
  checkPositiveInteger(name, ms);
  return intervalLiteral(ms);
}
