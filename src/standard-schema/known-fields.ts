import type { SchemaResult, StandardSchemaV1 } from '../data-schema.js';

/** The fields that a schema knows of a value and of the values in it. */
export interface KnownFields {
  /** Returns the fields below a field, or undefined where the schema does not know it. */
  field(name: string): KnownFields | undefined;
  item(index: number): KnownFields;
}

/** Of a value whose fields a schema leaves open, such as a map. */
export const ANY_FIELDS: KnownFields = { field: () => ANY_FIELDS, item: () => ANY_FIELDS };

/**
 * Returns how to find the fields that a schema knows: in its JSON Schema, where it has one (Standard JSON Schema). Of other
 * schemas it is the fields in the output, because most of them drop what they do not know.
 */
export function knownFieldsOf(schema: StandardSchemaV1): (result: SchemaResult) => KnownFields {
  const root = jsonSchemaOf(schema);
  if (root) return () => describedBy([root], root);
  return ({ issues, ...result }) => (issues || !('value' in result) ? ANY_FIELDS : inOutput(result.value));
}

function inOutput(output: unknown): KnownFields {
  if (!isObject(output)) return ANY_FIELDS;
  return {
    field: (name) => (Object.hasOwn(output, name) ? inOutput(output[name]) : undefined),
    item: (index) => inOutput(output[index]),
  };
}

/** The keywords of JSON Schema that are read here. */
interface JsonSchema {
  type?: string | string[];
  $ref?: string;
  allOf?: unknown[];
  anyOf?: unknown[];
  oneOf?: unknown[];
  properties?: Record<string, unknown>;
  patternProperties?: unknown;
  additionalProperties?: unknown;
  prefixItems?: unknown[];
  items?: unknown;
}

/** Returns the JSON Schema of what a schema accepts; undefined where it has none, or cannot describe itself. */
function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema | undefined {
  interface StandardJsonSchema {
    jsonSchema?: { input(options: { target: 'draft-2020-12' }): unknown };
  }
  try {
    const json = (schema['~standard'] as StandardJsonSchema).jsonSchema?.input({ target: 'draft-2020-12' });
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the fields that several schemas know of one value: a field of any of them is known. */
function describedBy(schemas: readonly unknown[], root: JsonSchema): KnownFields {
  const parts = schemas.flatMap((schema) => partsOf(schema, root));
  if (parts.length === 0 || parts.some(isOpen)) return ANY_FIELDS;
  let items: KnownFields | undefined;
  return {
    field(name) {
      const found = parts.flatMap((part) => fieldSchemas(part, name));
      return found.length > 0 ? describedBy(found, root) : undefined;
    },
    item() {
      items ??= describedBy(
        parts.flatMap((part) => [...(part.prefixItems ?? []), ...(part.items === undefined ? [] : [part.items])]),
        root,
      );
      return items;
    },
  };
}

/** Returns a schema and those that it combines or refers to. */
function partsOf(schema: unknown, root: JsonSchema, seen = new Set<unknown>()): JsonSchema[] {
  if (schema === true) return [{}];
  if (!isObject(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, allOf = [], anyOf = [], oneOf = [] } = schema as JsonSchema;
  const combined = [...allOf, ...anyOf, ...oneOf, ...($ref === undefined ? [] : [referredTo($ref, root)])];
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
  if (schema.patternProperties !== undefined) return true;
  if (schema.type !== undefined && ![schema.type].flat().includes('object')) return false;
  return !['properties', 'additionalProperties', 'items', 'prefixItems', 'const', 'enum'].some(
    (word) => word in schema,
  );
}

/** Returns what a schema says about a field. `additionalProperties` describes a map; next to `properties`, `{}` says nothing. */
function fieldSchemas({ properties, additionalProperties }: JsonSchema, name: string): unknown[] {
  if (properties && Object.hasOwn(properties, name)) return [properties[name]];
  const others = additionalProperties === true ? {} : additionalProperties;
  const isMap = isObject(others) && (!properties || Object.keys(others).length > 0);
  return isMap ? [others] : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
