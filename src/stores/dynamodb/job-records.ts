import { checkPositiveInteger } from '../../option-checks.js';
import { checkPage, checkRecord } from '../check-record.js';
import type { JobRecord, JobRecords } from '../contract.js';
import type { ListRange, Table } from './client.js';
import { endOf, type Item, LAST, neededText, numberOf, ofNumber, ofText, orderOf, textKey } from './item.js';
import { readText, removeParts, splitText, writeParts } from './text-parts.js';

const PREFIX = ':job:';
const MAX_TRIES = 3;
/** Open records are in several lists, because one partition of an index takes 1,000 writes a second. */
const LISTS_OF_JOBS = ['0', '1', '2', '3'].map((shard) => `:jobs:${shard}`);

/**
 * Returns the records of jobs: an item each. Open ones are in the lists, which follow the items by a moment. DynamoDB
 * removes expired ones.
 */
export function jobsInDynamodb(table: Table): JobRecords {
  return {
    async init() {
      await table.list({ list: ':init', from: '0', to: '1', limit: 1 });
    },

    async read(key) {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const item = await table.get(PREFIX + key);
        const now = Date.now();
        if (item === undefined || hasExpired(item, now)) return { now, record: undefined };
        const record = await recordOf(table, item);
        if (record) return { now, record };
      }
      throw new Error(`the record changed ${MAX_TRIES} times while it was read`);
    },

    async write(record, replaces) {
      checkRecord(record);
      const { key, version, text, dueAt, keepMs = 0 } = record;
      const now = Date.now();
      const end = dueAt === undefined ? endOf(now + keepMs, now) : {};
      const { attributes, parts } = splitText(text);
      const item: Item = {
        ...textKey(PREFIX + key),
        recordVersion: ofText(version),
        ...attributes,
        ...end,
        ...(dueAt !== undefined && {
          listName: ofText(listOf(key)),
          orderKey: ofText(orderOf(dueAt, key)),
          dueAt: ofNumber(dueAt),
        }),
      };
      await writeParts(table, item, parts, end);
      const written = await table.put(item, {
        if: `recordVersion = :version OR ${replaces === undefined ? ABSENT : REPLACED}`,
        values: {
          ':version': ofText(version),
          ':now': ofNumber(now),
          ...(replaces !== undefined && { ':replaces': ofText(replaces) }),
        },
      });
      const unused = written.made ? written.old : item;
      if (unused && !(written.made && neededText(unused, 'recordVersion') === version))
        await removeParts(table, unused);
      return written.made;
    },

    async remove(key) {
      const removed = await table.remove(PREFIX + key);
      if (removed) await removeParts(table, removed);
    },

    async list(page) {
      checkPage(page);
      const { limit, overdue, after } = page;
      const to = overdue ? orderOf(Date.now() + 1) : LAST;
      const records: JobRecord[] = [];
      let from = after ? following(orderOf(after.dueAt, after.key)) : orderOf(0);
      for (;;) {
        const wanted = limit - records.length;
        const items = await firstIn(table, { from, to, limit: wanted });
        const found = await Promise.all(items.map((item) => recordOf(table, item)));
        records.push(...found.filter((record) => record !== undefined));
        const last = items.at(-1);
        if (last === undefined || items.length < wanted || records.length === limit) return records;
        from = following(neededText(last, 'orderKey'));
      }
    },

    async count() {
      const range = { from: orderOf(0), to: LAST, limit: Number.POSITIVE_INFINITY, only: 'dueAt' };
      const pages = await Promise.all(LISTS_OF_JOBS.map((list) => table.list({ list, ...range })));
      const now = Date.now();
      const times = pages.flat().map((item) => numberOf(item, 'dueAt') ?? 0);
      const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
      return {
        now,
        open: times.length,
        overdue: times.filter((time) => time <= now).length,
        firstDueAt: times.length > 0 ? first : undefined,
      };
    },

    /** Returns 0: DynamoDB removes expired records itself. */
    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return 0;
    },
  };
}

const ABSENT = 'attribute_not_exists(pk) OR expiresAt <= :now';
const REPLACED = 'recordVersion = :replaces AND (attribute_not_exists(expiresAt) OR expiresAt > :now)';

/** Returns what comes after an item and before the next one: a space is before every character of a key. */
const following = (orderKey: string) => `${orderKey} `;

/** Returns the first open records of all lists. */
async function firstIn(table: Table, range: Omit<ListRange, 'list'>): Promise<Item[]> {
  const pages = await Promise.all(LISTS_OF_JOBS.map((list) => table.list({ list, ...range })));
  const items = pages.flat().sort((a, b) => (neededText(a, 'orderKey') < neededText(b, 'orderKey') ? -1 : 1));
  return items.slice(0, range.limit);
}

function hasExpired(item: Item, now: number): boolean {
  return (numberOf(item, 'expiresAt') ?? Number.POSITIVE_INFINITY) <= now;
}

/** Returns one of the lists for a key. */
function listOf(key: string): string {
  let sum = 0;
  for (let i = 0; i < key.length; i += 1) sum = (sum * 31 + key.charCodeAt(i)) % 65_537;
  return LISTS_OF_JOBS[sum % LISTS_OF_JOBS.length] as string;
}

/** Returns a record; undefined where a part of its text was removed meanwhile. */
async function recordOf(table: Table, item: Item): Promise<JobRecord | undefined> {
  const text = await readText(table, item);
  if (text === undefined) return undefined;
  const key = neededText(item, 'pk').slice(PREFIX.length);
  const record = { key, version: neededText(item, 'recordVersion'), text };
  const dueAt = numberOf(item, 'dueAt');
  return dueAt === undefined ? record : { ...record, dueAt };
}
