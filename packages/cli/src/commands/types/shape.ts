/** A format of text that the schema libraries can check. */
export type TextFormat = 'date-time' | 'date' | 'uri';

/** What is known of the values at one place of `data`. */
export type Shape =
  | { kind: 'text'; format?: TextFormat | undefined }
  | { kind: 'number' | 'boolean' | 'null' | 'unknown' }
  | { kind: 'array' | 'record'; of: Shape }
  | { kind: 'object'; fields: readonly Field[] }
  | { kind: 'union'; of: readonly Shape[] };

/** A field of an object; optional where not every delivery has it. */
export interface Field {
  name: string;
  shape: Shape;
  optional: boolean;
}
