import { check } from '../option-checks.js';
import type { Log } from '../receiver/log.js';
import { sleep } from '../timers.js';
import { reasonOf, reportError } from './reason.js';

/** @throws WebhookError `invalid_option` unless the name needs no quotes in SQL */
export function checkPostgresName(option: string, name: unknown): asserts name is string {
  const isName = typeof name === 'string' && /^[a-z_][a-z0-9_]{0,49}$/.test(name);
  check(isName, `${option} must be a name of a-z, 0-9 and _, at most 50 characters`);
}

/** Whether PostgreSQL has refused a query because a table or its schema does not exist. */
export function isMissingTable(error: unknown): boolean {
  return ['42P01', '3F000'].includes(String((error as { code?: unknown } | null)?.code));
}

const PAUSE_MS = 500;
/**
 * SQLSTATEs that pass: of connections, of missing resources, of locks and conflicts, of a failover, and of an operator who
 * restarts the server.
 */
const PASSING = /^(08|25006|40|53|55P03|57|58)/;

/**
 * Repeats a query of PostgreSQL until the server answers, since the result of a run is known only here. Rejects at once with
 * an error that a repetition does not change, and otherwise once `limitMs` is over or the signal is aborted, when the
 * engine gives the job to another worker.
 */
export async function untilAnswered<T>(
  query: () => Promise<T>,
  { log, limitMs, signal }: { log: Log; limitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (isFinal(error) || performance.now() > end || signal?.aborted) throw error;
      reportError(log, 'settle', 'A query of the worker failed in PostgreSQL, and the worker repeats it', error);
      await sleep(PAUSE_MS);
    }
  }
}

/** Whether a repetition changes nothing: the server has refused the query, or the app has ended the pool. */
function isFinal(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  const isOfServer = typeof severity === 'string';
  return (isOfServer && !PASSING.test(String(code))) || /after calling end/.test(reasonOf(error));
}
