import { printable } from './printable.js';

const STYLES = { good: 32, bad: 31, warn: 33, faint: 2, strong: 1 } as const;

/** A part of a line: text, or text in a style. Nothing is printed for undefined. */
export type Piece = string | number | false | undefined | readonly [style: keyof typeof STYLES, text: string | number];

/** Where text goes: a terminal, a pipe, a file. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Everything that commands print. Whatever is in a piece or a record, it cannot move the cursor. */
export interface Output {
  /** Whether records go out as JSON lines. */
  readonly json: boolean;
  /** A result: to programs the record, to people the lines. */
  record(record: object, ...lines: readonly (readonly Piece[])[]): void;
  /** Text as it is, for other programs: a script, a document. It has to be free of what came over the network. */
  verbatim(text: string): void;
  /** For people alone, beside the results. */
  note(...line: readonly Piece[]): void;
}

export interface OutputOptions {
  json?: boolean | undefined;
  text?: boolean | undefined;
}

/** JSON lines where they are asked for or no terminal reads along; colours where a terminal has them. */
export function createOutput(
  io: { stdout: Sink; stderr: Sink; env: Readonly<Record<string, string | undefined>> },
  options: OutputOptions,
): Output {
  const json = options.json ?? (options.text ? false : !io.stdout.isTTY);
  const colours = !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb';
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
