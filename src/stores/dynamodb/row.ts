import type { Entry } from '../entry.js';
import {
  endOf,
  type Item,
  neededNumber,
  neededText,
  numberOf,
  ofNumber,
  ofText,
  textKey,
  textOf,
  unexpected,
} from './item.js';

/** A row and its version, which is another one after each write. */
export interface Row {
  entry: Entry;
  version: string;
}

/** Returns a row as an item. What it does not have is left out. */
export function itemOfRow(key: string, { entry, version }: Row, now: number): Item {
  const { state, token, fence, attempt, leaseUntil, expiresAt, fingerprint, alias } = entry;
  return {
    ...textKey(key),
    rowState: ofText(state),
    rowVersion: ofText(version),
    ...(token && { ownerToken: ofText(token) }),
    fence: ofNumber(fence),
    attempt: ofNumber(attempt),
    ...(leaseUntil && { leaseUntil: ofNumber(leaseUntil) }),
    fingerprint: ofText(fingerprint),
    ...(alias !== undefined && { alias: ofText(alias) }),
    ...endOf(expiresAt, now),
  };
}

/** @throws Error for an item that is no row */
export function rowOf(item: Item): Row {
  const state = textOf(item, 'rowState');
  const isState = state === 'in_progress' || state === 'completed' || state === 'released';
  const entry: Entry = {
    state: isState ? state : unexpected(item, 'rowState'),
    token: textOf(item, 'ownerToken') ?? '',
    fence: neededNumber(item, 'fence'),
    attempt: neededNumber(item, 'attempt'),
    leaseUntil: numberOf(item, 'leaseUntil') ?? 0,
    expiresAt: neededNumber(item, 'expiresAt'),
    fingerprint: neededText(item, 'fingerprint'),
    alias: textOf(item, 'alias'),
  };
  return { entry, version: neededText(item, 'rowVersion') };
}
