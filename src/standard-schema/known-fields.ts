import { ANY_FIELDS, type KnownFields } from '../data-paths.js';
import { isPromiseLike, type StandardSchemaV1 } from '../data-schema.js';

/** Returns the fields that a schema knows; undefined where the schema has no JSON Schema, or cannot describe itself. */
export type FieldsReader = () => KnownFields | undefined;

/** Returns a reader that asks the schema at its first call: Standard JSON Schema, which libraries have added. */
export function knownFieldsOf(schema: StandardSchemaV1): FieldsReader {
  let read: { fields: KnownFields | undefined } | undefined;
  return () => {
    read ??= { fields: fieldsOf(schema) };
    return read.fields;
  };
}

function fieldsOf(schema: StandardSchemaV1): KnownFields | undefined {
  const root = jsonSchemaOf(schema);
  return root && describedBy([root], { root, ids: new Map(), known: new Map() });
}

/** A JSON Schema, as a library of any kind has written it. */
type JsonSchema = Record<string, unknown>;

/** Returns the JSON Schema of what a schema accepts. */
function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema | undefined {
  interface StandardJsonSchema {
    jsonSchema?: { input(options: { target: 'draft-2020-12' }): unknown };
  }
  try {
    const json = (schema['~standard'] as StandardJsonSchema).jsonSchema?.input({ target: 'draft-2020-12' });
    if (!isPromiseLike(json)) return isObject(json) ? json : undefined;
    json.then(undefined, () => {}); // an unhandled rejection ends the process
    return undefined;
  } catch {
    return undefined;
  }
}

/** A whole JSON Schema, and the fields that were read of it by the schemas that describe them. */
interface Description {
  root: JsonSchema;
  ids: Map<JsonSchema, number>;
  known: Map<string, KnownFields>;
}

/**
 * Returns the fields that several schemas know of one value: a field of any of them is known. The same schemas have the
 * same fields, so that data that is nested in a recursive schema adds nothing.
 */
function describedBy(schemas: readonly unknown[], description: Description): KnownFields {
  const seen = new Set<unknown>();
  const parts = schemas.flatMap((schema) => partsOf(schema, description.root, seen));
  if (parts.length === 0 || parts.some(isOpen)) return ANY_FIELDS;
  const { ids, known } = description;
  for (const part of parts) if (!ids.has(part)) ids.set(part, ids.size);
  const key = parts
    .map((part) => ids.get(part))
    .sort()
    .join();
  const found = known.get(key) ?? knownIn(parts, description);
  known.set(key, found);
  return found;
}

function knownIn(parts: readonly JsonSchema[], description: Description): KnownFields {
  const named = new Map<string, KnownFields>();
  let items: KnownFields | undefined;
  const names = (key: string) => parts.some((part) => hasProperty(part, key));
  return {
    names,
    field(key) {
      const before = named.get(key);
      if (before) return before;
      const schemas = parts.flatMap((part) => fieldSchemas(part, key));
      const fields = schemas.length > 0 ? describedBy(schemas, description) : undefined;
      if (fields && names(key)) named.set(key, fields); // other keys come from the data, without limit
      return fields;
    },
    item() {
      items ??= describedBy(parts.flatMap(itemSchemas), description);
      return items;
    },
  };
}

/** Returns a schema and those that it combines or refers to. */
function partsOf(schema: unknown, root: JsonSchema, seen: Set<unknown>): JsonSchema[] {
  if (schema === true) return [{}];
  if (!isObject(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, allOf, anyOf, oneOf } = schema;
  const referred = typeof $ref === 'string' ? [referredTo($ref, root)] : [];
  const combined = [...referred, ...[allOf, anyOf, oneOf].filter(Array.isArray).flat()];
  const parts = combined.flatMap((part) => partsOf(part, root, seen));
  return combined.length > 0 ? [...parts, ...(isObject(schema['properties']) ? [schema] : [])] : [schema];
}

/** Returns the schema at a pointer such as `#/$defs/Segment`. */
function referredTo(reference: string, root: JsonSchema): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>(
    (schema, name) => (isObject(schema) ? schema[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

/** Whether a schema accepts any fields: because it says nothing about the value, or no more than that it is an object. */
function isOpen(schema: JsonSchema): boolean {
  if (schema['patternProperties'] !== undefined) return true;
  if (schema['type'] !== undefined && ![schema['type']].flat().includes('object')) return false;
  return !['properties', 'additionalProperties', 'items', 'prefixItems', 'const', 'enum'].some(
    (word) => word in schema,
  );
}

/** Returns what a schema says about a field. `additionalProperties` describes a map; next to `properties`, `{}` says nothing. */
function fieldSchemas(schema: JsonSchema, name: string): unknown[] {
  const { properties, additionalProperties } = schema;
  if (hasProperty(schema, name)) return [(properties as JsonSchema)[name]];
  const others = additionalProperties === true ? {} : additionalProperties;
  const isMap = isObject(others) && (!properties || Object.keys(others).length > 0);
  return isMap ? [others] : [];
}

function hasProperty({ properties }: JsonSchema, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name);
}

function itemSchemas({ prefixItems, items }: JsonSchema): unknown[] {
  return [...(Array.isArray(prefixItems) ? prefixItems : []), ...(items === undefined ? [] : [items])];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
