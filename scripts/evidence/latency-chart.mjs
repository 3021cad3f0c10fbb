// The chart of docs/evidence.md: for each store and queue, how long an acknowledgement takes, on a scale of decades.

const WIDTH = 720;
const LEFT = 180;
const RIGHT = 24;
const TOP = 76;
const ROW = 26;
const STYLE = `
  .page { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #d8dee4 } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 } .faint { fill: #59636e; font-size: 12px }
  .range { stroke: #0969da; stroke-width: 4 } .tail { stroke: #0969da; stroke-width: 1.5 } .mark { fill: #0969da; stroke: #0969da }
  .open { fill: #ffffff; stroke: #0969da; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d } .grid { stroke: #2a313c } text { fill: #f0f6fc } .faint { fill: #9198a1 }
    .range, .tail { stroke: #4493f8 } .mark { fill: #4493f8; stroke: #4493f8 } .open { fill: #0d1117; stroke: #4493f8 }
  }`;

/** Returns the chart as SVG. `rows` are `{ place, p50, p95, p99 }`, in milliseconds; `finding` is its description. */
export function latencyChart(rows, finding) {
  const bottom = TOP + rows.length * ROW;
  const x = scaleOf(rows);
  const lines = rows.map((row, index) => rowLines(row, TOP + (index + 0.5) * ROW, x));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 56}" role="img" aria-labelledby="title finding">
<title id="title">Time of an acknowledgement by store and queue</title>
<desc id="finding">${escaped(finding)}</desc>
<style>${STYLE}
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${bottom + 55}" rx="6"/>
<text class="title" x="16" y="28">Time of an acknowledgement by store and queue</text>
${legend()}
${x.ticks.map((tick) => tickLines(tick, x.of(tick), bottom)).join('\n')}
<text class="faint" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${bottom + 40}" text-anchor="middle">milliseconds, on a logarithmic scale</text>
${lines.join('\n')}
</svg>
`;
}

/** Places of milliseconds from the decade of the shortest time to that of the longest, and the numbers on the axis. */
function scaleOf(rows) {
  const first = Math.floor(Math.log10(Math.min(...rows.map(({ p50 }) => p50))));
  const last = Math.ceil(Math.log10(Math.max(...rows.map(({ p99 }) => p99))));
  const width = WIDTH - RIGHT - LEFT;
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => Number(`1e${first + index}`));
  return {
    ticks: ticks.flatMap((tick) => (tick === ticks.at(-1) ? [tick] : [tick, 2 * tick, 5 * tick])),
    of: (ms) => rounded(LEFT + (width * (Math.log10(ms) - first)) / (last - first)),
  };
}

function tickLines(tick, x, bottom) {
  return `<line class="grid" x1="${x}" y1="${TOP}" x2="${x}" y2="${bottom}"/>
<text class="faint" x="${x}" y="${bottom + 18}" text-anchor="middle">${rounded(tick)}</text>`;
}

function rowLines({ place, p50, p95, p99 }, y, x) {
  return `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${escaped(place)}</text>
${rangeLines(x.of(p50), x.of(p95), x.of(p99), y)}`;
}

function rangeLines(p50, p95, p99, y) {
  return `<line class="range" x1="${p50}" y1="${y}" x2="${p95}" y2="${y}"/>
<line class="tail" x1="${p95}" y1="${y}" x2="${p99}" y2="${y}"/>
<circle class="mark" cx="${p50}" cy="${y}" r="5"/>
<rect class="mark" x="${rounded(p95 - 1.5)}" y="${y - 6}" width="3" height="12"/>
<circle class="open" cx="${p99}" cy="${y}" r="4"/>`;
}

/** A range with its three marks named. */
function legend() {
  const [p50, p95, p99] = [LEFT + 40, LEFT + 120, LEFT + 200];
  const names = Object.entries({ p50, p95, p99 });
  return `${rangeLines(p50, p95, p99, 48)}
${names.map(([name, x]) => `<text class="faint" x="${x}" y="66" text-anchor="middle">${name}</text>`).join('\n')}`;
}

const rounded = (number) => Number(number.toFixed(2));

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
