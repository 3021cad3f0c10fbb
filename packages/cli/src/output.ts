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
  text?: boolean | undefined;
  color?: boolean | undefined;
}

/**
 * Returns an output that prints JSON lines where they are requested or stdout is not a terminal, and colours on a
 * terminal.
 */
export function createOutput(
  io: { stdout: Sink; stderr: Sink; env: Readonly<Record<string, string | undefined>> },
  options: OutputOptions,
): Output {
  const json = options.json ?? (options.text ? false : !io.stdout.isTTY);
  const colours = options.color !== false && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb';
  const write = (sink: Sink, line: readonly Piece[]) => {
    const coloured = colours && sink.isTTY === true;
    const text = line
      .filter((piece) => piece !== undefined && piece !== false && piece !== '')
      .map((piece) => paint(piece, coloured));
    sink.write(`${text.join('  ')}\n`);
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
  return text.split(/(?<=\.) (?=[A-Z])/).map((sentence) => [`   ${sentence}`]);
}

/** Returns a number of things: `1 request`, `2 requests`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the time of day for people: in UTC, and marked so. */
export function timeOfDay(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)}Z`;
}
