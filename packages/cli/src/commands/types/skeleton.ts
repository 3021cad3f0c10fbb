import type { TextFormat } from './shape.js';
import { textFormat } from './text-format.js';

/** A JSON value without its content: each number and each text of one format is the same. Only the keys are left. */
export type Skeleton = null | boolean | number | string | Skeleton[] | { [key: string]: Skeleton };

/** The key of an object that stands for a value of any kind. No field can have the name. */
export const ANY_VALUE = 'any value';

/** What stands for a text of each format. */
const TEXTS: Readonly<Record<TextFormat, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  uri: 'https://example.com/',
};
const TEXT = 'text';
const NUMBER = 1.5;
/** Deeper objects and lists are values of any kind, so that no delivery exhausts the stack. */
const MAX_DEPTH = 20;

/** Returns the skeleton of a parsed JSON value. Equal ones have the same JSON text, and a list has each once. */
export function skeletonOf(value: unknown, depth = 0): Skeleton {
  if (value === null || typeof value === 'boolean') return value === null ? null : true;
  if (typeof value === 'string') return TEXTS[textFormat(value) as TextFormat] ?? TEXT;
  // The schema libraries refuse a number that is too large for JavaScript.
  if (typeof value === 'number') return Number.isFinite(value) ? NUMBER : { [ANY_VALUE]: true };
  if (depth === MAX_DEPTH) return { [ANY_VALUE]: true };
  if (Array.isArray(value)) return distinct(value.map((element) => skeletonOf(element, depth + 1)));
  const entries = Object.entries(value as object).map(([key, field]) => [key, skeletonOf(field, depth + 1)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function distinct(all: readonly Skeleton[]): Skeleton[] {
  const texts = new Set(all.map((one) => JSON.stringify(one)));
  return [...texts].sort().map((text) => JSON.parse(text));
}

export function isObjectSkeleton(value: Skeleton): value is { [key: string]: Skeleton } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, ANY_VALUE);
}
