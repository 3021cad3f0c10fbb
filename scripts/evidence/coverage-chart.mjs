// The chart of docs/evidence.md: which kind of test covers what, fully or in part.

/** What can go wrong, in the order of the columns. */
const COLUMNS = [
  'One rule at a time',
  'Input of any kind',
  'Orders of events',
  'Killed, paused processes',
  'A network that fails',
  'Real servers, sockets',
  'Time and memory',
];

/** For each kind of test, a mark for each column: 2 where it covers it, 1 in part, 0 not at all. */
const ROWS = [
  ['Tests of behaviour', 2, 1, 1, 0, 1, 2, 0],
  ['Vectors, of others too', 2, 1, 0, 0, 0, 1, 0],
  ['Properties', 1, 2, 1, 0, 0, 1, 0],
  ['Suites for authors', 2, 0, 1, 1, 1, 2, 0],
  ['Simulated worlds', 0, 0, 2, 2, 2, 0, 0],
  ['Killed processes', 0, 0, 1, 2, 1, 2, 0],
  ['Histories of stores', 0, 0, 2, 2, 1, 2, 0],
  ['Timing, complexity', 0, 1, 0, 0, 0, 0, 2],
  ['Soak', 0, 1, 0, 0, 1, 2, 2],
  ['Mutation', 2, 0, 0, 0, 0, 0, 0],
];

const LEFT = 170;
const CELL = 76;
const TOP = 84;
const ROW = 28;
const WIDTH = LEFT + COLUMNS.length * CELL + 16;
const STYLE = `
  .page { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #d8dee4 } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 } .faint { fill: #59636e; font-size: 11px }
  .full { fill: #0969da; stroke: #0969da } .part { fill: none; stroke: #0969da; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d } .grid { stroke: #2a313c } text { fill: #f0f6fc } .faint { fill: #9198a1 }
    .full { fill: #4493f8; stroke: #4493f8 } .part { stroke: #4493f8 }
  }`;
const TITLE = 'What each kind of test covers';
const FINDING =
  'Tests of behaviour cover single rules; properties cover input of any kind; simulated worlds cover orders of events, \
killed and paused processes and a network that fails; killed processes and histories cover them on real servers.';

/** The same as a table, for readers who cannot see the chart. */
export function coverageTable() {
  const marks = ['', 'in part', 'yes'];
  const rows = [
    ['Kind of test', ...COLUMNS],
    ['---', ...COLUMNS.map(() => '---')],
  ];
  for (const [name, ...covers] of ROWS) rows.push([name, ...covers.map((mark) => marks[mark])]);
  return `![${FINDING}](coverage.svg)\n\n${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;
}

export function coverageChart() {
  const height = TOP + ROWS.length * ROW + 44;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title finding">
<title id="title">${TITLE}</title>
<desc id="finding">${FINDING}</desc>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
<text class="title" x="16" y="28">${TITLE}</text>
${COLUMNS.map(headOf).join('\n')}
${ROWS.map(rowOf).join('\n')}
<circle class="full" cx="${LEFT + 8}" cy="${height - 20}" r="6"/><text class="faint" x="${LEFT + 20}" y="${height - 16}">covers it</text>
<circle class="part" cx="${LEFT + 98}" cy="${height - 20}" r="6"/><text class="faint" x="${LEFT + 110}" y="${height - 16}">in part</text>
</svg>
`;
}

const centreOf = (column) => LEFT + (column + 0.5) * CELL;

/** The head of a column, on two lines. */
function headOf(text, column) {
  const words = text.split(' ');
  const half = Math.ceil(words.length / 2);
  const lines = [words.slice(0, half), words.slice(half)].map((line) => line.join(' '));
  return lines
    .map(
      (line, i) =>
        `<text class="faint" x="${centreOf(column)}" y="${TOP - 24 + i * 14}" text-anchor="middle">${line}</text>`,
    )
    .join('\n');
}

function rowOf([name, ...covers], index) {
  const y = TOP + (index + 0.5) * ROW;
  const marks = covers.flatMap((mark, column) =>
    mark === 0 ? [] : [`<circle class="${mark === 2 ? 'full' : 'part'}" cx="${centreOf(column)}" cy="${y}" r="6"/>`],
  );
  return `<line class="grid" x1="16" y1="${y + ROW / 2}" x2="${WIDTH - 16}" y2="${y + ROW / 2}"/>
<text x="16" y="${y + 4}">${name}</text>
${marks.join('\n')}`;
}
