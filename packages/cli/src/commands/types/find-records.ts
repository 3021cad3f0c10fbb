import { Failure } from '../../failure.js';
import { isFieldName } from './field-name.js';
import { isObjectSkeleton, type Skeleton } from './skeleton.js';

/** An object with more keys than this has data as its keys. */
const MOST_KEYS = 256;
const MOST_FIELDS = 2_000;

/**
 * Returns the paths of the objects whose keys are data, such as the names of users, and not names of fields.
 *
 * @param samples Each `data` of one event type.
 * @param isNamed Whether the user has named a path.
 * @throws Failure where there are so many fields that some of them must be data
 */
export function findRecords(samples: readonly Skeleton[], isNamed: (path: string) => boolean): Set<string> {
  const records = new Set<string>();
  let largest = { path: '', keys: 0 };
  let fields = 0;

  function visit(path: string, values: readonly Skeleton[]): void {
    const elements = values.filter(Array.isArray).flat();
    if (elements.length > 0) visit(`${path}[]`, elements);
    const objects = values.filter(isObjectSkeleton);
    if (objects.length === 0) return;
    if (isNamed(path) || areKeysData(objects)) {
      records.add(path);
      visit(`${path}.*`, objects.flatMap(Object.values));
      return;
    }
    const valuesOf = valuesByKey(objects);
    fields += valuesOf.size;
    if (valuesOf.size > largest.keys) largest = { path, keys: valuesOf.size };
    for (const [key, all] of valuesOf) visit(`${path}.${key}`, all);
  }

  visit('data', samples);
  if (fields <= MOST_FIELDS) return records;
  throw new Failure(
    'usage',
    `data has over ${MOST_FIELDS} fields, most of them in ${largest.path}: are its keys data? Then pass --record ${largest.path}.`,
  );
}

/** Whether keys are data, by their form or because hardly any object has the same ones. */
function areKeysData(objects: readonly { [key: string]: Skeleton }[]): boolean {
  const valuesOf = valuesByKey(objects);
  if (valuesOf.size > MOST_KEYS) return true;
  for (const key of valuesOf.keys()) if (!isFieldName(key)) return true;
  // Each set of keys counts once, so that the same deliveries again change nothing.
  const sets = new Set(objects.filter((one) => Object.keys(one).length > 0).map((one) => Object.keys(one).join()));
  const kinds = new Set([...valuesOf.values()].flat().map(kindOf));
  kinds.delete('null');
  if (sets.size < 2 || kinds.size !== 1) return false;
  const owners = new Map<string, number>();
  for (const set of sets) for (const key of set.split(',')) owners.set(key, (owners.get(key) ?? 0) + 1);
  return [...owners.values()].every((count) => count <= sets.size / 2);
}

function valuesByKey(objects: readonly { [key: string]: Skeleton }[]): Map<string, Skeleton[]> {
  const valuesOf = new Map<string, Skeleton[]>();
  for (const object of objects) {
    for (const [key, value] of Object.entries(object)) {
      const all = valuesOf.get(key);
      if (all === undefined) valuesOf.set(key, [value]);
      else all.push(value);
    }
  }
  return valuesOf;
}

function kindOf(value: Skeleton): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
