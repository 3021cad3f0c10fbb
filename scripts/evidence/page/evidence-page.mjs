import { bars } from './bars.mjs';
import { SECTIONS } from './sections.mjs';
import { WIRE_TESTS, wireTests } from './wire-tests.mjs';

const INTRO = `# Evidence

What the library was measured by, and what was thrown at it. \`npm run evidence\` makes this page of what is in
\`bench/results\`; each command below measures anew and writes its result there. A figure of speed is a ratio of two
things that took turns in one run, with the middle half of the turns behind it: it says what costs more, not how long
anything takes on your machine; where that half is wide, the machine had other work. Where a goal is missed, that is
said, with the measurement.
`;

/**
 * The files of the page, by their path under \`docs\`: the text and its plots.
 *
 * @param results what is in \`bench/results\`, by name
 */
export function evidencePage(results) {
  const unknown = Object.keys(results).filter((name) => !(name in SECTIONS));
  if (unknown.length > 0) throw new Error(`No section shows ${unknown.join(', ')}: add one to sections.mjs.`);
  const named = Object.entries(SECTIONS).map(([name, section]) => ({ name, section, result: results[name] }));
  const plots = named
    .filter(({ result }) => result?.figures.ratios)
    .map(({ name, section, result }) => [`evidence/${name}.svg`, bars(section.title, result.figures.ratios)]);
  const text = [INTRO, overview(named), ...named.map(sectionOf), wireTestsSection()].join('\n');
  return { 'evidence.md': text, ...Object.fromEntries(plots) };
}

function overview(named) {
  const rows = named.map(({ section, result }) => [
    `[${section.title}](#${anchorOf(section.title)})`,
    verdictOf(result, section),
    `\`${section.command}\``,
  ]);
  const { title, command } = WIRE_TESTS;
  rows.push([`[${title}](#${anchorOf(title)})`, 'part of the tests', `\`${command}\``]);
  return table(['what', 'found', 'to repeat it'], rows);
}

function verdictOf(result, { wanted }) {
  if (!result) return 'not measured yet';
  const short = wanted?.(result.figures) ? `, **${wanted(result.figures)}**` : '';
  const goals = goalsOf(result.figures);
  if (!result.figures.ratios) return `${result.passed ? 'held' : '**failed**'}${short}`;
  const missed = missedOf(result.figures).length;
  if (goals.length === 0) return 'no goal, for comparison';
  return missed === 0 ? `all ${goals.length} goals met` : `**${missed} of ${goals.length} goals missed**`;
}

function sectionOf({ name, section, result }) {
  const { title, intro, command, body, wanted, reason } = section;
  const head = `## ${title}\n\n${intro}\n`;
  if (!result) return `${head}\nNot measured yet: \`${command}\`.\n`;
  const { figures, bar, passed, machine } = result;
  const short = wanted?.(figures);
  return [
    head,
    ...(figures.ratios ? [`![${title}](evidence/${name}.svg)\n`, ratioTable(figures.ratios)] : []),
    ...(body ? [body(figures, table)] : []),
    ...(figures.ratios ? [] : [`The bar: ${bar}. ${passed ? 'It held.' : '**It did not hold.**'}\n`]),
    ...(reason && missedOf(figures).length > 0 ? [`Why goals are missed: ${reason}\n`] : []),
    ...(short ? [`**Short of what is wanted: ${short}.**\n`] : []),
    `To repeat it: \`${command}\`. Measured on ${machine.cores} cores, Node ${machine.node.slice(1)}.\n`,
  ].join('\n');
}

function wireTestsSection() {
  const { title, command, intro } = WIRE_TESTS;
  const rows = wireTests().map(({ what, howMany, test }) => [what, howMany, `\`${test}\``]);
  const tests = table(['what', 'how many', 'test'], rows);
  return `## ${title}\n\n${intro}\n\n${tests}\nTo repeat it: \`${command}\`.\n`;
}

function ratioTable(ratios) {
  const rows = ratios.map(({ group, name, beside, low, median, high, goal }, i) => [
    group === ratios[i - 1]?.group ? '' : group,
    name,
    beside,
    `${medianOf(median, goal)} (${two(low)} to ${two(high)})`,
    goal ? `${goal.atMost === undefined ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`}` : '',
    goal ? (goal.met ? 'met' : '**missed**') : '',
  ]);
  return table(['', 'what', 'beside', 'ratio', 'goal', ''], rows);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** Also those of a table beside the ratios. */
const goalsOf = ({ ratios = [], memory = [] }) => [...ratios, ...memory].filter(({ goal }) => goal);
const missedOf = (figures) => goalsOf(figures).filter(({ goal }) => !goal.met);
/** With a third digit where two would look like the goal that is missed. */
const medianOf = (median, goal) =>
  goal?.met === false && two(median) === two(goal.atMost ?? goal.atLeast) ? median.toFixed(3) : two(median);
const two = (number) => number.toFixed(2);
const anchorOf = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');
