import { diffArrays } from 'diff';
import { fieldLines } from './field-lines.js';

/** A field that one of two files has alone, or with another type. */
export interface ChangedLine {
  /** The event type, and the names of the objects around the field: `stt.completed.segments`. */
  path: string;
  change: 'removed' | 'added';
  /** The field with its type, as it is in the file. */
  text: string;
}

/** Returns what differs between two files of this command. The fields of an object that came or went are left out. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const parts = diffArrays(fieldLines(before), fieldLines(after), {
    comparator: (a, b) => a.path === b.path && a.text === b.text,
  });
  const changed = parts.flatMap(({ added, removed, value }) => {
    const change = added ? ('added' as const) : ('removed' as const);
    return added || removed ? value.map((line) => ({ ...line, change })) : [];
  });
  const changesOf = new Map<string, number>();
  for (const { field } of changed) changesOf.set(field, (changesOf.get(field) ?? 0) + 1);
  const isNewOrGone = (field: string) => changesOf.get(field) === 1;
  return changed
    .filter(({ around }) => !around.some(isNewOrGone))
    .sort((a, b) => Number(a.field > b.field) - Number(a.field < b.field)) // both lines of a field together
    .map(({ path, change, text }) => ({ path, change, text }));
}
