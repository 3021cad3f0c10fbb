import { RECORD_VALUES } from './mark-records.js';
import type { Shape, TextFormat } from './shape.js';
import { ANY_VALUE } from './skeleton.js';

/** The part of JSON Schema that quicktype writes. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  definitions?: Record<string, JsonSchema>;
}

const UNKNOWN: Shape = { kind: 'unknown' };
const FORMATS: readonly string[] = ['date-time', 'date', 'uri'] satisfies TextFormat[];
/** The order of the members of a union. */
const KINDS = ['text', 'number', 'boolean', 'array', 'object', 'record', 'null'];

/** Returns the shape that a schema describes. */
export function shapeOfSchema(schema: JsonSchema): Shape {
  const { definitions = {} } = schema;
  const open: string[] = [];

  function shapeOf(one: JsonSchema): Shape {
    const { $ref, anyOf, type, format, items = {} } = one;
    if ($ref !== undefined) return shapeOfDefinition($ref);
    if (anyOf) return unionOf(anyOf.map(shapeOf));
    if (type === 'string')
      return { kind: 'text', format: FORMATS.includes(format ?? '') ? (format as TextFormat) : undefined };
    if (type === 'integer' || type === 'number') return { kind: 'number' };
    if (type === 'boolean' || type === 'null') return { kind: type };
    if (type === 'array') return { kind: 'array', of: elementOf(items) };
    return type === 'object' ? objectOf(one) : UNKNOWN;
  }

  function shapeOfDefinition(ref: string): Shape {
    if (open.includes(ref)) return UNKNOWN; // a type that contains itself
    open.push(ref);
    const shape = shapeOf(definitions[ref.replace('#/definitions/', '')] ?? {});
    open.pop();
    return shape;
  }

  /** What was always null may be anything: a schema for null alone would refuse the first value. */
  function elementOf(one: JsonSchema): Shape {
    const shape = shapeOf(one);
    return shape.kind === 'null' ? UNKNOWN : shape;
  }

  function objectOf({ properties = {}, required = [] }: JsonSchema): Shape {
    if (Object.hasOwn(properties, ANY_VALUE)) return UNKNOWN;
    const { [RECORD_VALUES]: values } = properties;
    if (values) return { kind: 'record', of: elementOf(values.items ?? {}) };
    const names = Object.keys(properties).sort();
    if (names.length === 0) return { kind: 'record', of: UNKNOWN };
    const fields = names.map((name) => {
      return { name, shape: elementOf(properties[name] ?? {}), optional: !required.includes(name) };
    });
    return { kind: 'object', fields };
  }

  return shapeOf(schema);
}

function unionOf(shapes: readonly Shape[]): Shape {
  if (shapes.some(({ kind }) => kind === 'unknown')) return UNKNOWN;
  const texts = shapes.filter(({ kind }) => kind === 'text');
  const others = shapes.filter(({ kind }) => kind !== 'text');
  const all = texts.length > 1 ? [{ kind: 'text' } as const, ...others] : [...texts, ...others];
  return { kind: 'union', of: all.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)) };
}
