import { isObjectSkeleton, type Skeleton } from './skeleton.js';

/** The key of an object that stands for a record, with the values of the record. No field can have the name. */
export const RECORD_VALUES = 'record of';

/** Returns a skeleton with the objects at these paths replaced by marks, which have none of their keys. */
export function markRecords(value: Skeleton, records: ReadonlySet<string>, path = 'data'): Skeleton {
  if (Array.isArray(value)) return value.map((element) => markRecords(element, records, `${path}[]`));
  if (!isObjectSkeleton(value)) return value;
  if (records.has(path))
    return { [RECORD_VALUES]: Object.values(value).map((one) => markRecords(one, records, `${path}.*`)) };
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, markRecords(field, records, `${path}.${key}`)]),
  );
}
