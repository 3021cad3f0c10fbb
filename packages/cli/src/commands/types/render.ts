import { DIALECTS, type Dialect, FIRST_LINE, type Format } from './dialects.js';
import type { Field, Shape, TextFormat } from './shape.js';

const COMMENTS: Readonly<Record<TextFormat, string>> = {
  'date-time': 'A date and time in ISO 8601.',
  date: 'A date, YYYY-MM-DD.',
  uri: 'A URL.',
};

/** Returns the text of a file with the shape of each type's `data`. A field has a line of its own, for readable diffs. */
export function render(format: Format, shapes: ReadonlyMap<string, Shape>): string {
  const dialect = DIALECTS[format];
  const fields = [...shapes].map(([name, shape]) => ({ name, shape, optional: false }));
  return [FIRST_LINE, dialect.head, ...fieldsOf(fields, dialect, dialect.depth), dialect.tail, ''].join('\n');
}

function fieldsOf(fields: readonly Field[], dialect: Dialect, depth: number): string[] {
  const indent = '  '.repeat(depth);
  return fields.flatMap(({ name, shape, optional }) => {
    const comment = dialect.hasComments && commentOf(shape);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
    const line = `${indent}${dialect.field(key, typeOf(shape, dialect, depth), optional)}`;
    return comment ? [`${indent}/** ${comment} */`, line] : [line];
  });
}

function typeOf(shape: Shape, dialect: Dialect, depth: number): string {
  if (shape.kind === 'text') return dialect.text(shape.format);
  if (shape.kind === 'array') return dialect.array(typeOf(shape.of, dialect, depth), shape.of.kind === 'union');
  if (shape.kind === 'record') return dialect.record(typeOf(shape.of, dialect, depth));
  if (shape.kind === 'union') {
    const members = shape.of.filter(({ kind }) => kind !== 'null');
    const types = members.map((member) => typeOf(member, dialect, depth));
    return dialect.union(types, members.length < shape.of.length);
  }
  if (shape.kind !== 'object') return shape.kind === 'null' ? dialect.unknown : dialect[shape.kind];
  const [begin, end] = dialect.object;
  return [begin, ...fieldsOf(shape.fields, dialect, depth + 1), `${'  '.repeat(depth)}${end}`].join('\n');
}

/** Says the format of a text, also of one that may be null. */
function commentOf(shape: Shape): string | undefined {
  const texts = (shape.kind === 'union' ? shape.of : [shape]).filter((one) => one.kind === 'text');
  const format = texts[0]?.format;
  return format && COMMENTS[format];
}
