/** A field in a file of this command, in one line. */
export interface FieldLine {
  /** The event type, and the names of the objects around the field: `stt.completed.segments`. */
  path: string;
  /** The paths of the objects around the field, the outermost one first. */
  around: readonly string[];
  /** The path of the field itself. */
  field: string;
  /** The field with its type; `…` stands for the fields of an object. */
  text: string;
}

const FIELD = /^(?:'([^']+)'|([\w$]+))\??: /;
const COMMENT = /( \/\*\*.*)$/;

/** Reads the fields in a file of this command by their indentation, which the command has written. */
export function fieldLines(file: string): FieldLine[] {
  const lines: FieldLine[] = [];
  const open: { indent: number; line: FieldLine }[] = [];
  let comment = '';
  for (const whole of file.split('\n')) {
    const text = whole.trim();
    const indent = whole.length - whole.trimStart().length;
    while ((open.at(-1)?.indent ?? -1) > indent) open.pop();
    const inner = open.at(-1);
    const name = /^[})]/.test(text) ? undefined : nameIn(text);
    if (inner?.indent === indent && name === undefined) {
      inner.line.text += `…${text}`;
      if (!text.endsWith('{')) open.pop();
    } else if (name !== undefined) {
      const around = open.map(({ line }) => line.field);
      const path = around.at(-1) ?? '';
      const line = { path, around, field: path === '' ? name : `${path}.${name}`, text: `${text}${comment}` };
      lines.push(line);
      if (text.endsWith('{')) open.push({ indent, line });
    }
    comment = text.startsWith('/**') ? ` ${text}` : '';
  }
  return lines.map((line) => ({ ...line, text: withoutSeparator(line.text) }));
}

function nameIn(text: string): string | undefined {
  const [, quoted, plain] = FIELD.exec(text) ?? [];
  return quoted ?? plain;
}

function withoutSeparator(text: string): string {
  const [, comment = ''] = COMMENT.exec(text) ?? [];
  return `${text.replace(COMMENT, '').replace(/[;,]$/, '')}${comment}`;
}
