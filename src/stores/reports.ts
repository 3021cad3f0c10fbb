import { checkPositiveInteger } from '../option-checks.js';
import type { DedupeStore, HealthReport } from './contract.js';

// In a database, a report is a row next to those of events. No event has such a key, because the name of an endpoint is
// not empty and has no colon.

/** Returns the key of one report. */
export function reportKey({ name, instance }: Pick<HealthReport, 'name' | 'instance'>): string {
  return `:${name}:${instance}`;
}

/** Returns the range of the keys of all reports of an endpoint: the first key, and the first key after them. */
export function reportKeys(name: string): [from: string, to: string] {
  return [`:${name}:`, `:${name};`];
}

/** Separates texts in one reply. JSON has no control characters. */
export const SEPARATOR = '\x1e';

/** The number of reports of an endpoint that a store keeps: the newest ones. */
export const MAX_REPORTS = 1_000;

/** Returns methods that keep reports in the memory of this process. */
export function reportsInMemory(clock: () => number): Required<Pick<DedupeStore, 'saveReport' | 'loadReports'>> {
  const reports = new Map<string, { name: string; text: string; expiresAt: number }>();

  function removeExpired(): void {
    const time = clock();
    for (const [key, { expiresAt }] of reports) if (expiresAt <= time) reports.delete(key);
  }

  return {
    async saveReport(report) {
      checkPositiveInteger('ttlMs', report.ttlMs);
      removeExpired();
      const key = reportKey(report);
      reports.delete(key); // so that the first report is the oldest one
      const [oldest] = reports.keys();
      if (reports.size >= MAX_REPORTS) reports.delete(oldest as string);
      reports.set(key, { name: report.name, text: report.text, expiresAt: clock() + report.ttlMs });
    },
    async loadReports(name) {
      removeExpired();
      return [...reports.values()].filter((report) => report.name === name).map(({ text }) => text);
    },
  };
}
