const [WIDTH, LABEL, BAR, ROW, HEAD] = [720, 270, 300, 20, 30];
const LONGEST = 4;

const STYLE = `text{font:12px system-ui,sans-serif;fill:#222}.group{font-weight:600}.bar{fill:#5b7fa6}.ok{fill:#3c8d5a}
.missed{fill:#c4552d}.spread{stroke:#222;stroke-width:1.5}.goal{stroke:#222;stroke-dasharray:3 2}.one{stroke:#999}
@media (prefers-color-scheme:dark){text{fill:#ddd}.spread,.goal{stroke:#ddd}.one{stroke:#777}}`;

/**
 * A plot of ratios as SVG: a bar to the median, a line over the middle half, a dashed line where the goal is. A bar that
 * would be longer than four is cut, its number is not.
 */
export function bars(title, ratios) {
  const scale = BAR / Math.min(LONGEST, Math.max(1.2, ...ratios.map(({ high }) => high)));
  const x = (ratio) => LABEL + Math.min(ratio * scale, BAR);
  const lines = [];
  let y = 8;
  let group;
  for (const row of ratios) {
    if (row.group !== group) {
      group = row.group;
      y += HEAD;
      lines.push(`<text class="group" x="8" y="${y - 8}">${toXml(group)}</text>`);
    }
    lines.push(...barOf(row, x, y));
    y += ROW;
  }
  const one = `<line class="one" x1="${round(x(1))}" x2="${round(x(1))}" y1="20" y2="${y}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 10}" role="img" aria-label="${toXml(title)}">`,
    `<style>${STYLE}</style>`,
    one,
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

function barOf({ name, low, median, high, goal }, x, y) {
  const color = goal === undefined ? 'bar' : goal.met ? 'ok' : 'missed';
  const at = goal && round(x(goal.atMost ?? goal.atLeast));
  return [
    `<text x="20" y="${y + 11}">${toXml(name)}</text>`,
    `<rect class="${color}" x="${LABEL}" y="${y}" width="${round(x(median) - LABEL)}" height="14"/>`,
    `<line class="spread" x1="${round(x(low))}" x2="${round(x(high))}" y1="${y + 7}" y2="${y + 7}"/>`,
    ...(goal ? [`<line class="goal" x1="${at}" x2="${at}" y1="${y - 2}" y2="${y + 16}"/>`] : []),
    `<text x="${LABEL + BAR + 10}" y="${y + 11}">${median.toFixed(2)}${goal && !goal.met ? ' missed' : ''}</text>`,
  ];
}

const round = (number) => Math.round(number * 10) / 10;
const toXml = (text) => text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
