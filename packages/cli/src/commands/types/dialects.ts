import type { TextFormat } from './shape.js';

/** How types are written in one language. */
export interface Dialect {
  /** What stands in the file before and after the types, which are fields at that depth. */
  head: string;
  tail: string;
  depth: number;
  text(format: TextFormat | undefined): string;
  number: string;
  boolean: string;
  unknown: string;
  array(of: string, isUnion: boolean): string;
  record(of: string): string;
  union(of: readonly string[], isNullable: boolean): string;
  /** What encloses the fields of an object. */
  object: readonly [begin: string, end: string];
  field(name: string, type: string, optional: boolean): string;
  /** Whether a comment must say the format of a text, because the type does not. */
  hasComments: boolean;
}

export type Format = 'types' | 'zod' | 'valibot';

/** The first line of every file that the command writes; a file that begins in another way is never replaced. */
export const FIRST_LINE = '// Written by `service-webhooks types`. The next run replaces this file.';

const types: Dialect = {
  head: `import 'service-webhooks';\n\ndeclare module 'service-webhooks' {\n  interface EventData {`,
  tail: '  }\n}',
  depth: 2,
  text: () => 'string',
  number: 'number',
  boolean: 'boolean',
  unknown: 'unknown',
  array: (of, isUnion) => (isUnion ? `(${of})[]` : `${of}[]`),
  record: (of) => `Record<string, ${of}>`,
  union: (of, isNullable) => [...of, ...(isNullable ? ['null'] : [])].join(' | '),
  object: ['{', '}'],
  field: (name, type, optional) => `${name}${optional ? '?' : ''}: ${type};`,
  hasComments: true,
};

const zod: Dialect = {
  ...schemaModule('z', 'zod'),
  text: (format) =>
    ({ 'date-time': 'z.iso.datetime({ offset: true })', date: 'z.iso.date()', uri: 'z.url()', none: 'z.string()' })[
      format ?? 'none'
    ],
  record: (of) => `z.record(z.string(), ${of})`,
  union: (of, isNullable) => `${unionIn('z', of)}${isNullable ? '.nullable()' : ''}`,
  field: (name, type, optional) => `${name}: ${type}${optional ? '.optional()' : ''},`,
};

const valibot: Dialect = {
  ...schemaModule('v', 'valibot'),
  text(format) {
    const checks = { 'date-time': 'v.isoTimestamp()', date: 'v.isoDate()', uri: 'v.url()' };
    return format ? `v.pipe(v.string(), ${checks[format]})` : 'v.string()';
  },
  record: (of) => `v.record(v.string(), ${of})`,
  union: (of, isNullable) => (isNullable ? `v.nullable(${unionIn('v', of)})` : unionIn('v', of)),
  field: (name, type, optional) => `${name}: ${optional ? `v.optional(${type})` : type},`,
};

/** What the modules of both schema libraries have alike. */
function schemaModule(name: string, library: string) {
  return {
    head: `import * as ${name} from '${library}';\n\nexport const schemas = {`,
    tail: '};',
    depth: 1,
    number: `${name}.number()`,
    boolean: `${name}.boolean()`,
    unknown: `${name}.unknown()`,
    array: (of: string) => `${name}.array(${of})`,
    object: [`${name}.object({`, '})'],
    hasComments: false,
  } as const;
}

function unionIn(name: string, of: readonly string[]): string {
  return of.length === 1 ? String(of[0]) : `${name}.union([${of.join(', ')}])`;
}

export const DIALECTS: Readonly<Record<Format, Dialect>> = { types, zod, valibot };
