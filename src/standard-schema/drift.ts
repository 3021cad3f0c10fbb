import { ANY_FIELDS, type KnownFields, MAX_DEPTH, pathPart } from '../data-paths.js';
import type { SchemaResult } from '../data-schema.js';
import type { AnyEvent } from '../event.js';
import type { FieldsReader } from './known-fields.js';

/** A field that the schema of its event does not know. */
export interface Drift {
  /** The type of the event. */
  type: string;
  /** The path of the field, such as `data.segments[].speaker`. A key that is not the name of a field is `*`. */
  path: string;
}

/** Reports the fields of an event that its schema does not know. Never throws. */
export type DriftWatch = (event: AnyEvent, result: SchemaResult) => void;

/** The largest number of reported fields, and that of values of one event that are looked at. */
const [MAX_FIELDS, MAX_VALUES] = [1_000, 100_000];

/**
 * Returns the watch of one schema, which calls `onDrift` once for each field.
 *
 * @param known The fields that the schema knows. Where it does not say, they are those in its output, because most schemas
 *   drop what they do not know.
 */
export function watchDrift(known: FieldsReader, onDrift: (drift: Drift) => unknown): DriftWatch {
  const reported = new Set<string>();
  return ({ type, data }, result) => {
    try {
      for (const path of unknownFields(data, known() ?? inResult(result))) {
        if (reported.size === MAX_FIELDS) return;
        if (reported.has(path)) continue;
        reported.add(path);
        (async () => onDrift({ type, path }))().catch(() => {});
      }
    } catch {} // a schema that cannot be read; a notice must not fail a delivery
  };
}

function* unknownFields(data: unknown, fields: KnownFields): Generator<string> {
  let values = 0;
  yield* below(data, fields, 'data', 0);

  function* below(value: unknown, known: KnownFields, path: string, depth: number): Generator<string> {
    if (typeof value !== 'object' || value === null || known === ANY_FIELDS || depth === MAX_DEPTH) return;
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      values += 1;
      if (values > MAX_VALUES) return;
      const isItem = typeof key === 'number';
      const inner = isItem ? known.item(key) : known.field(key);
      const place = path + (isItem ? '[]' : pathPart(key, inner ? known : ANY_FIELDS));
      if (inner) yield* below((value as Record<string | number, unknown>)[key], inner, place, depth + 1);
      else yield place;
    }
  }
}

function inResult(result: SchemaResult): KnownFields {
  return result.issues ? ANY_FIELDS : inOutput(result.value);
}

function inOutput(output: unknown): KnownFields {
  if (typeof output !== 'object' || output === null) return ANY_FIELDS;
  const at = (key: string | number) => (output as Record<string | number, unknown>)[key];
  return {
    names: ANY_FIELDS.names,
    field: (key) => (Object.hasOwn(output, key) ? inOutput(at(key)) : undefined),
    item: (index) => inOutput(at(index)),
  };
}
