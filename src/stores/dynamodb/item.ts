import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item, as the client of DynamoDB reads and writes it. */
export type Item = Record<string, AttributeValue>;

/** The index of the items that have a `listName`, in the order of their `orderKey`. */
export const LISTS = 'lists';

/**
 * How long a row stays after its end, in seconds: a new row of its key needs its fence until every clock is past it, and
 * the clock of a client may be behind that of DynamoDB.
 */
const STAY_SECONDS = 3_600;

export const textKey = (key: string): Item => ({ pk: { S: key } });

export const ofText = (text: string): AttributeValue => ({ S: text });

/** A sum of a time and a very long duration is the largest integer that can be read again. */
const bounded = (number: number) => Math.min(number, Number.MAX_SAFE_INTEGER);

export const ofNumber = (number: number): AttributeValue => ({ N: String(bounded(number)) });

/** The end of an item, in milliseconds, and when DynamoDB may remove it, in seconds. */
export function endOf(expiresAt: number, now: number): Item {
  const removeAt = Math.ceil(Math.max(expiresAt, now) / 1_000) + STAY_SECONDS;
  return { expiresAt: ofNumber(expiresAt), removeAt: ofNumber(removeAt) };
}

/** Returns a text of an item; undefined where there is none. @throws Error where it is something else */
export function textOf(item: Item, name: string): string | undefined {
  const { [name]: value } = item;
  return value === undefined ? undefined : (value.S ?? unexpected(item, name));
}

export function neededText(item: Item, name: string): string {
  return textOf(item, name) ?? unexpected(item, name);
}

/** Returns an integer of an item; undefined where there is none. @throws Error where it is something else */
export function numberOf(item: Item, name: string): number | undefined {
  const { [name]: value } = item;
  if (value === undefined) return undefined;
  const number = Number(value.N);
  return Number.isSafeInteger(number) ? number : unexpected(item, name);
}

export function neededNumber(item: Item, name: string): number {
  return numberOf(item, name) ?? unexpected(item, name);
}

export function unexpected(item: Item, name: string): never {
  throw new Error(`not an item of dynamodbStore: '${item['pk']?.S}' has no right ${name}`);
}

/** Returns a text whose order in bytes is that of the times, and then that of the texts after them. */
export function orderOf(time: number, text?: string): string {
  const digits = String(Number.MAX_SAFE_INTEGER).length;
  return String(bounded(time)).padStart(digits, '0') + (text === undefined ? '' : `:${text}`);
}

/** An order after all others. */
export const LAST = orderOf(Number.MAX_SAFE_INTEGER, '\u007f');
