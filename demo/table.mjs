import { styleText } from 'node:util';

const COLUMNS = ['what was sent', 'what came back', 'handler', 'why'];

/**
 * Groups of rows as aligned text. A row is `{ asExpected, cells }`, with one cell for each column; `expected` is shown
 * under a row that was not.
 */
export function table(groups, { colour }) {
  const paint = (style, text) => (colour ? styleText(style, text) : text);
  const rows = groups.flatMap(({ rows }) => rows.map(({ cells }) => cells));
  const widths = COLUMNS.map((title, i) => Math.max(...[title, ...rows.map((cells) => cells[i])].map((c) => c.length)));
  const line = (cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();

  const lines = [`  ${paint('dim', line(COLUMNS))}`];
  for (const { title, rows } of groups) {
    lines.push('', paint('bold', title));
    for (const { asExpected, expected, cells } of rows) {
      lines.push(`${asExpected ? paint('green', '✓') : paint('red', '✗')} ${line(cells)}`);
      if (!asExpected) lines.push(paint('red', `  expected: ${expected}`));
    }
  }
  return lines.join('\n');
}
