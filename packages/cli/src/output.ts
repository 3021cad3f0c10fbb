import { printable } from 'service-webhooks/printable';

const STYLES = { good: 32, bad: 31, warn: 33, faint: 2, strong: 1 } as const;

/** A part of a line: text, or text in a style. Undefined and false print nothing. */
export type Piece = string | number | false | undefined | readonly [style: keyof typeof STYLES, text: string | number];

/** A destination of text: a terminal, a pipe, a file. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Prints everything that commands print. Text in a piece or a record cannot move the cursor. */
export interface Output {
  /** Whether records are printed as JSON lines. */
  readonly json: boolean;
  /** Prints a result: the record for programs, the lines for people. */
  record(record: object, ...lines: readonly (readonly Piece[])[]): void;
  /** Prints text unchanged, for other programs: a script, a document. It must contain nothing from the network. */
  verbatim(text: string): void;
  /** Prints a line for people only, to stderr. */
  note(...line: readonly Piece[]): void;
}

export interface OutputOptions {
  json?: boolean | undefined;
  color?: boolean | undefined;
}

/** Returns an output that prints text, or JSON lines where they are requested, and colours on a terminal. */
export function createOutput(
  io: { stdout: Sink; stderr: Sink; env: Readonly<Record<string, string | undefined>> },
  { json = false, color = true }: OutputOptions,
): Output {
  const colours = color && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb';
  const write = (sink: Sink, line: readonly Piece[]) => {
    const coloured = colours && sink.isTTY === true;
    const pieces = line.filter((piece) => piece !== undefined && piece !== false && piece !== '');
    sink.write(`${wrapped(pieces, (sink.isTTY && sink.columns) || Number.POSITIVE_INFINITY, coloured)}\n`);
  };
  return {
    json,
    record(record, ...lines) {
      if (json) io.stdout.write(`${printable(JSON.stringify(record))}\n`);
      else for (const line of lines) write(io.stdout, line);
    },
    verbatim: (text) => void io.stdout.write(text),
    note(...line) {
      if (!json) write(io.stderr, line);
    },
  };
}

/** Returns a line, on several lines where it is wider than the terminal: each as far indented as the first, or by 4. */
function wrapped(line: readonly Piece[], width: number, coloured: boolean): string {
  const whole = line.map((piece) => paint(piece, false)).join('  ');
  if (whole.length <= width) return line.map((piece) => paint(piece, coloured)).join('  ');
  const indent = /^ */.exec(whole)?.[0] || '    ';
  let column = 0;
  let text = '';
  for (const piece of line) {
    for (const [index, word] of paint(piece, false).trim().split(' ').entries()) {
      const gap = text === '' ? whole.slice(0, whole.search(/\S/)) : index === 0 ? '  ' : ' ';
      const fits = text === '' || column + gap.length + word.length <= width;
      text += `${fits ? gap : `\n${indent}`}${paint(typeof piece === 'object' ? [piece[0], word] : word, coloured)}`;
      column = fits ? column + gap.length + word.length : indent.length + word.length;
    }
  }
  return text;
}

function paint(piece: Piece, coloured: boolean): string {
  if (typeof piece !== 'object') return printable(String(piece));
  const [style, text] = piece;
  const plain = printable(String(text));
  return coloured ? `\u001b[${STYLES[style]}m${plain}\u001b[0m` : plain;
}

/** Returns a text, or its beginning with a mark where it is longer. */
export function shortened(text: string, length = 200): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Returns an explanation below the line that it is about, with a line for each sentence. */
export function explanation(text: string): Piece[][] {
  return sentencesIn(text).map((sentence) => [`   ${sentence}`]);
}

/** Returns a text whose first sentence says what has happened, and the others why, below it. */
export function explained(text: string): Piece[][] {
  return sentencesIn(text).map((sentence, index) => [index === 0 ? sentence : `   ${sentence}`]);
}

function sentencesIn(text: string): string[] {
  return text.split(/(?<=\.) (?=[A-Z])/);
}

/** Returns a number of things: `1 request`, `2 requests`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the time of day for people: in UTC, and marked so. */
export function timeOfDay(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)}Z`;
}
