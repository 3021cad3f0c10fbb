import { writeResult } from '../scripts/evidence/write-result.mjs';

/**
 * Prints ratios beside their goals and writes them to `bench/results/<name>-node-24.json`, by the line of Node; fails where a goal is missed.
 *
 * @param ratios `{ group, name, beside, low, median, high }`, with `atMost` or `atLeast` where there is a goal
 */
export function report(name, command, ratios, more = {}) {
  const rows = ratios.map(withGoal);
  for (const [i, row] of rows.entries()) {
    if (row.group !== rows[i - 1]?.group) console.log(`\n${row.group.padEnd(44)} ratio (middle half)   beside`);
    const [low, median, high] = [row.low, row.median, row.high].map((value) => value.toFixed(2));
    const verdict = row.goal ? `${row.goal.met ? 'ok' : 'MISSED'}, ${goalOf(row.goal)}` : '';
    console.log(`${row.name.padEnd(44)} ${median} (${low} to ${high})   ${row.beside}   ${verdict}`);
  }
  const [line] = process.versions.node.split('.');
  writeResult(`${name}-node-${line}`, {
    command,
    bar: 'each ratio within its goal',
    passed: rows.every(({ goal }) => goal?.met !== false),
    figures: { ratios: rows, ...more },
  });
}

function withGoal({ atMost, atLeast, ...row }) {
  const [low, median, high] = [row.low, row.median, row.high].map((value) => Number(value.toFixed(3)));
  const rounded = { ...row, low, median, high };
  if (atMost !== undefined) return { ...rounded, goal: { atMost, met: median <= atMost } };
  if (atLeast !== undefined) return { ...rounded, goal: { atLeast, met: median >= atLeast } };
  return rounded;
}

const goalOf = ({ atMost, atLeast }) => (atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`);
