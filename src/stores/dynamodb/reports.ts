import { checkPositiveInteger } from '../../option-checks.js';
import type { DedupeStore } from '../contract.js';
import { MAX_REPORTS, reportKey } from '../reports.js';
import type { Table } from './client.js';
import { endOf, LAST, neededText, ofText, orderOf, textKey } from './item.js';

/** Returns methods that keep each report as an item, in a list of its endpoint by the end of the reports. */
export function reportsInDynamodb(table: Table): Required<Pick<DedupeStore, 'saveReport' | 'loadReports'>> {
  return {
    async saveReport(report) {
      checkPositiveInteger('ttlMs', report.ttlMs);
      const now = Date.now();
      const expiresAt = now + report.ttlMs;
      await table.put({
        ...textKey(`:health${reportKey(report)}`),
        listName: ofText(listOf(report.name)),
        orderKey: ofText(orderOf(expiresAt, report.instance)),
        reportText: ofText(report.text),
        ...endOf(expiresAt, now),
      });
    },

    async loadReports(name) {
      const range = { from: orderOf(Date.now() + 1), to: LAST };
      const items = await table.list({ list: listOf(name), ...range, limit: MAX_REPORTS, newestFirst: true });
      return items.map((item) => neededText(item, 'reportText'));
    },
  };
}

const listOf = (name: string) => `:health:${name}`;
