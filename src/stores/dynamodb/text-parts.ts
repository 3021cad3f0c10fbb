import type { Table } from './client.js';
import { type Item, neededText, numberOf, ofNumber, ofText, textKey, textOf } from './item.js';

// An item has at most 400 KB. A longer text of a record is in items of its own, which the record counts. They are named by
// its version, so that they are written before it and removed after it, and no record has parts of another one.

const MAX_BYTES = 300_000;

type Parts = readonly Uint8Array[];

/** Returns the attributes of a text, and its parts where it is too long for an item. */
export function splitText(text: string): { attributes: Item; parts: Parts } {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_BYTES) return { attributes: { recordText: ofText(text) }, parts: [] };
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += MAX_BYTES) parts.push(bytes.subarray(at, at + MAX_BYTES));
  return { attributes: { partCount: ofNumber(parts.length) }, parts };
}

export async function writeParts(table: Table, record: Item, parts: Parts, end: Item): Promise<void> {
  const keys = keysOf(record, parts.length);
  await Promise.all(keys.map((key, i) => table.put({ ...textKey(key), part: { B: parts[i] as Uint8Array }, ...end })));
}

/** Returns the text of a record; undefined where a part was removed. */
export async function readText(table: Table, record: Item): Promise<string | undefined> {
  const count = numberOf(record, 'partCount');
  if (count === undefined) return neededText(record, 'recordText');
  const items = await Promise.all(keysOf(record, count).map((key) => table.get(key)));
  const parts = items.map((item) => item?.['part']?.B);
  if (parts.includes(undefined)) return undefined;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode();
}

export async function removeParts(table: Table, record: Item): Promise<void> {
  await Promise.all(keysOf(record, numberOf(record, 'partCount') ?? 0).map((key) => table.remove(key)));
}

function keysOf(record: Item, count: number): string[] {
  const version = neededText(record, 'recordVersion');
  return Array.from({ length: count }, (_, i) => `:part:${version}:${i}${textOf(record, 'pk')}`);
}
