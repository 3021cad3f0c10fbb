import { MAX_DEPTH, step } from '../data-paths.js';
import type { SchemaResult, StandardSchemaV1 } from '../data-schema.js';
import type { AnyEvent } from '../event.js';
import { ANY_FIELDS, type KnownFields, knownFieldsOf } from './known-fields.js';

/** A field that the schema of its event does not know. */
export interface Drift {
  /** The type of the event. */
  type: string;
  /** The path of the field, such as `data.segments[].speaker`. A key that is no field's name is `*`. */
  path: string;
}

/** Reports the fields of an event that its schema does not know. Never throws. */
export type DriftWatch = (event: AnyEvent, result: SchemaResult) => void;

const MAX_FIELDS = 1_000;

/** Returns the watch of one schema, which calls `onDrift` once for each field. */
export function watchDrift(schema: StandardSchemaV1, onDrift: (drift: Drift) => unknown): DriftWatch {
  const reported = new Set<string>();
  const knownIn = knownFieldsOf(schema);
  return ({ type, data }, result) => {
    try {
      for (const path of unknownFields(data, knownIn(result))) {
        if (reported.size === MAX_FIELDS) return;
        if (reported.has(path)) continue;
        reported.add(path);
        (async () => onDrift({ type, path }))().catch(() => {});
      }
    } catch {} // a schema that cannot be read; a notice must not fail a delivery
  };
}

function* unknownFields(value: unknown, known: KnownFields, path = 'data', depth = 0): Generator<string> {
  if (typeof value !== 'object' || value === null || known === ANY_FIELDS || depth === MAX_DEPTH) return;
  for (const [key, inner] of Object.entries(value)) {
    const isItem = Array.isArray(value);
    const place = path + (isItem ? '[]' : step(key));
    const below = isItem ? known.item(Number(key)) : known.field(key);
    if (below) yield* unknownFields(inner, below, place, depth + 1);
    else yield place;
  }
}
