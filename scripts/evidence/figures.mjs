// What docs/evidence.md says in figures, as tables: what each kind of test covers, what was found, which planted bugs the
// simulation finds, how fast it is beside stripe and octokit, and how long an acknowledgement takes.
import { coverageTable } from './coverage-chart.mjs';

const count = (number) => number.toLocaleString('en');
const largest = (numbers) => Math.max(...numbers);
const percent = (part, whole) => `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** What, by which command, and what was found, from the figures of the result with that name. */
const FINDINGS = {
  fuzz: {
    what: 'Properties of the header grammar, the envelope, the stores and the receiver, with generated input',
    command: 'npm run fuzz',
    found: ({ runs, properties }) => {
      const failed = properties.filter(({ found }) => found !== 'passed').map(({ name }) => name);
      const hold = failed.length === 0 ? 'all hold' : `these do not hold: ${failed.join('; ')}`;
      return `${properties.length} properties, ${count(runs)} inputs each; ${hold}`;
    },
  },
  simulation: {
    what: 'Worlds of one seed each, in which processes are killed and paused, and the network, stores and queues fail',
    command: 'npm run simulation',
    found: ({ apps, bugs }) => {
      const total = (name) => sum(apps.map((app) => app[name]));
      return `${count(total('seeds'))} seeds, ${count(total('attempts'))} requests, ${count(total('kills'))} kills, \
${Math.floor(total('seeds') / total('seconds'))} seeds a second: no rule is broken; ${bugs.length} planted bugs are found`;
    },
  },
  timing: {
    what: 'Whether the time of a refusal tells how much of a signature is right (after dudect)',
    command: 'npm run test:timing',
    found: ({ samples, subjects, controls }) => {
      const [ours, leaking] = [subjects, controls].map((rows) => rows.map(({ t }) => t));
      return `${count(samples)} samples a run: the largest |t| is ${largest(ours.flat())}; loops with an early exit, as a \
control, are at ${Math.min(...leaking.flat())} or more`;
    },
  },
  complexity: {
    what: 'Time over size, for input built to be slow',
    command: 'npm run test:complexity',
    found: ({ subjects }) => {
      const rows = subjects.filter(({ name }) => !name.endsWith('(control)'));
      const slow = rows.filter(({ good }) => !good).map(({ name }) => name);
      const all = slow.length === 0 ? 'none grows faster than its size' : `these grow faster: ${slow.join('; ')}`;
      return `${rows.length} inputs over four doublings; ${all}`;
    },
  },
  soak: {
    what: 'Good and hostile deliveries for a long time',
    command: 'npm run soak',
    found: ({ seconds, handled, hostile, left, unhandled }) =>
      `${Math.round(seconds / 60)} minutes, ${count(handled)} events and ${count(hostile)} hostile requests: \
${left.length} handles left, ${unhandled.length} unhandled rejections`,
  },
  mutation: {
    what: 'Changes of the source, one at a time, that no test notices (Stryker)',
    command: 'npm run test:mutation',
    found: ({ rooms }) => {
      const [mutants, killed, open] = ['mutants', 'killed', 'open'].map((name) => sum(rooms.map((room) => room[name])));
      return `${percent(killed, mutants)} of ${count(mutants)} are noticed; ${count(open)} survive without a reason`;
    },
  },
};

/** A row of the table of speed: the result, the group in it, the pair, and whether the figure is theirs over ours. */
const SPEED = [
  { what: 'Verify and parse 1 KiB', peer: 'stripe constructEvent', of: 'verify' },
  { what: 'Verify 1 KiB', peer: 'stripe verifyHeader', of: 'verifySignature' },
  { what: 'Verify 256 KiB', peer: 'stripe verifyHeader', of: 'verifySignature', size: '256 KiB' },
  { what: 'A delivery on Express, without dedupe', peer: 'stripe', of: 'dedupe: false', framework: 'Express' },
  { what: 'A delivery on Express', peer: 'stripe', of: 'memory store', framework: 'Express' },
  { what: 'A delivery on `node:http`, without dedupe', peer: 'octokit', of: 'dedupe: false', framework: 'raw Node' },
  { what: 'A delivery on `node:http`', peer: 'octokit', of: 'memory store', framework: 'raw Node' },
];
const LINES = ['24', '26'];

/** The result whose latency is on the page. */
const LATENCY = 'latency-node-24';

/** What the chart of the latency shows: its rows, and a sentence; undefined where it was not measured. */
export function latency(results) {
  const rows = results[LATENCY]?.figures.rows;
  if (rows === undefined) return undefined;
  const [bare, ...others] = rows.toSorted((a, b) => a.p50 - b.p50);
  const [fastest, slowest] = [others[0], others.at(-1)].map(({ place, p50 }) => `${p50} ms (${place})`);
  const finding = `The median time of an acknowledgement is ${bare.p50} ms with ${bare.place}, and ${fastest} to ${slowest} \
with a store or a queue.`;
  return { rows, finding };
}

/** All tables, from what is in `bench/results` by name. */
export function figures(results) {
  const findings = Object.entries(FINDINGS).map(([name, { what, command, found }]) => {
    const figures = results[name]?.figures;
    return [what, figures === undefined ? 'not measured yet' : found(figures), `\`${command}\``];
  });
  const speed = SPEED.map((row) => [row.what, peerOf(row), ...LINES.map((line) => timesOf(row, line, results))]);
  return {
    coverage: coverageTable(),
    simulation: simulationOf(results.simulation?.figures),
    findings: table(['What was tested', 'What was found', 'To repeat it'], findings),
    speed: table(['What', 'Compared with', ...LINES.map((line) => `Node ${line}`)], speed),
    latency: latencyOf(latency(results)),
  };
}

const peerOf = ({ peer, framework }) => {
  if (peer === 'stripe') return '`express.raw()` and stripe';
  return framework ? `${peer}, hand-written server` : `${peer.replace(' ', ' `')}\``;
};

/** Ours over theirs: below 1 is faster. */
function timesOf({ peer, of, framework, size = '1 KiB' }, line, results) {
  const result = results[`${framework ? 'served' : 'verify'}-node-${line}`];
  const group = framework ? `${framework}, processor time` : `${size}, secret of 24 bytes`;
  const rows = result?.figures.ratios.filter((row) => row.group === group) ?? [];
  const ours = rows.find(({ name, beside }) => name === of && beside === peer);
  if (ours) return ours.median.toFixed(2);
  const theirs = rows.find(({ name, beside }) => name === peer && beside === of);
  return theirs ? (1 / theirs.median).toFixed(2) : 'not measured yet';
}

function simulationOf(measured) {
  if (measured === undefined) return 'not measured yet';
  const rows = measured.bugs.map(({ name, rule, seed }) => [capitalised(name), `\`${rule}\``, count(seed)]);
  return table(['Planted bug', 'Rule that finds it', 'Seeds until it is found'], rows);
}

const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function latencyOf(measured) {
  if (measured === undefined) return 'not measured yet';
  const rows = measured.rows.map(({ place, p50, p95, p99, beside }) => [
    place,
    ...[p50, p95, p99].map((ms) => ms.toFixed(2)),
    `${beside.toFixed(1)} ×`,
  ]);
  const head = ['Store or queue', 'p50, ms', 'p95, ms', 'p99, ms', 'p50 compared with no dedupe'];
  return `![${measured.finding}](latency.svg)\n\n${table(head, rows)}`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
