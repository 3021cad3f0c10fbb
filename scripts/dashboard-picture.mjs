// Writes docs/monitoring/dashboard-light.png and -dark.png: the panels of dashboard.json, drawn from what a Prometheus has
// measured. Usage: node scripts/dashboard-picture.mjs <URL of Prometheus> <minutes> [<end, in seconds since the epoch>]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, minutes = '60', end = String(Date.now() / 1000)] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../docs/monitoring');
const { panels } = JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8'));
const range = { start: Number(end) - Number(minutes) * 60, end: Number(end) };
const step = Math.max(1, Math.round((range.end - range.start) / 240));

const CELL = { width: 56, height: 30, gap: 8 };
const SERIES = ['#3274d9', '#e0752d', '#37872d', '#c4162a', '#8f3bb8', '#b8860b', '#00838f', '#6b7280'];
const THEMES = {
  light: { page: '#f4f5f5', panel: '#ffffff', border: '#d8d9da', text: '#24292e', faint: '#6c7078', grid: '#e6e7e8' },
  dark: { page: '#111217', panel: '#181b1f', border: '#2c3235', text: '#d8d9da', faint: '#9fa7b3', grid: '#2a2d31' },
};
const COLORS = {
  ...{ green: '#37872d', orange: '#e0752d', red: '#d10e5c', blue: '#3274d9', purple: '#8f3bb8', yellow: '#b8860b' },
  ...{ 'semi-dark-blue': '#1f60c4', 'light-blue': '#8ab8ff', 'dark-red': '#ad0317' },
};

const drawn = await Promise.all(panels.map(async (panel) => ({ panel, series: await measured(panel) })));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const [name, theme] of Object.entries(THEMES)) {
  const page = await browser.newPage({ viewport: { width: 24 * CELL.width + CELL.gap, height: 100 } });
  await page.setContent(pageOf(theme));
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`), fullPage: true });
}
await browser.close();

/** The series of a panel: their names, and their values by time. */
async function measured({ targets = [] }) {
  const answers = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const query = expr.replaceAll('$job', '.*').replaceAll('$__rate_interval', `${4 * step}s`);
      const parameters = new URLSearchParams({ query, step: String(step), ...mapValues(range, String) });
      const { status, data, error } = await (await fetch(`${url}/api/v1/query_range?${parameters}`)).json();
      if (status !== 'success') throw new Error(`${expr}: ${error}`);
      return data.result.map(({ metric, values }) => ({
        name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '').trim() || 'Value',
        points: values.map(([at, value]) => [at, Number(value)]).filter(([, value]) => Number.isFinite(value)),
      }));
    }),
  );
  return answers.flat().filter(({ points }) => points.length > 0);
}

function pageOf(theme) {
  const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; position: relative; height: ${bottom * CELL.height + CELL.gap}px; background: ${theme.page};
      color: ${theme.text}; font: 12px/1.3 system-ui, 'DejaVu Sans', sans-serif }
    section, h2 { position: absolute; box-sizing: border-box; margin: 0 }
    section { background: ${theme.panel}; border: 1px solid ${theme.border}; border-radius: 3px; padding: 6px 10px }
    h2 { font-size: 15px; padding-top: 6px } h3 { font-size: 12px; margin: 0 0 4px }
    .stat { display: flex; gap: 24px; justify-content: center; text-align: center; padding-top: 16px }
    .stat b { display: block; font-size: 34px; line-height: 1.2 }
    ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 14px; margin: 0; padding: 0; color: ${theme.faint};
      font-size: 11px; height: 15px; overflow: hidden } i { display: inline-block; width: 12px; height: 3px; margin: 0 5px 3px 0 }
  </style>${drawn.map(({ panel, series }) => placed(panel, contentOf(panel, series, theme))).join('')}`;
}

function placed({ type, title, gridPos: { x, y, w, h } }, content) {
  const place = `left:${x * CELL.width + CELL.gap}px;top:${y * CELL.height + CELL.gap}px;width:${w * CELL.width - CELL.gap}px;height:${h * CELL.height - CELL.gap}px`;
  if (type === 'row') return `<h2 style="${place}">${escaped(title)}</h2>`;
  return `<section style="${place}"><h3>${escaped(title)}</h3>${content}</section>`;
}

function contentOf({ type, gridPos, fieldConfig }, series, theme) {
  if (type === 'row') return '';
  const { defaults, overrides } = fieldConfig;
  const { unit, thresholds, custom } = defaults;
  if (type === 'stat') {
    const values = series.map(({ name, points }) => {
      const [, value] = points.at(-1);
      const color = thresholds.steps.findLast((one) => one.value === null || value >= one.value)?.color;
      return `<div><b style="color:${COLORS[color]}">${formatted(value, unit)}</b>${escaped(name)}</div>`;
    });
    return `<div class="stat">${values.join('')}</div>`;
  }
  const size = { width: gridPos.w * CELL.width - CELL.gap - 22, height: gridPos.h * CELL.height - CELL.gap - 54 };
  const names = series.map(
    ({ name }, index) => `<li><i style="background:${colorOf(name, index, overrides)}"></i>${escaped(name)}</li>`,
  );
  return `${chart(series, { unit, isStacked: custom.stacking.mode === 'normal', size, theme, overrides })}<ul>${names.join('')}</ul>`;
}

/** The colour that the panel gives to a series by its name, or else one of the usual ones. */
function colorOf(name, index, overrides) {
  const color = overrides.find(({ matcher }) => matcher.options === name)?.properties[0].value.fixedColor;
  return COLORS[color] ?? color ?? SERIES[index % SERIES.length];
}

function chart(series, { unit, isStacked, size, theme, overrides }) {
  const below = new Map(); // how high the series drawn before reach, by time
  const layers = series.map(({ points }) =>
    points.map(([at, value]) => {
      const from = isStacked ? (below.get(at) ?? 0) : 0;
      below.set(at, from + value);
      return { at, from, to: from + value };
    }),
  );
  const highest = Math.max(...layers.flat().map(({ to }) => to), 0);
  const top = unit === 's' && highest >= 120 ? 60 * niceTop(highest / 60) : niceTop(highest);
  const left = 64;
  const x = (at) => left + ((at - range.start) / (range.end - range.start)) * (size.width - left);
  const y = (value) => size.height - 16 - (value / top) * (size.height - 24);
  const lines = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * top);
    return `<path d="M${left} ${at}H${size.width}" stroke="${theme.grid}"/><text x="${left - 6}" y="${at + 4}" text-anchor="end">${formatted(part * top, unit)}</text>`;
  });
  const times = [0, 1, 2, 3].map((third) => {
    const at = range.start + ((range.end - range.start) * third) / 3;
    const anchor = ['start', 'middle', 'middle', 'end'][third];
    const time = new Date(at * 1000).toISOString().slice(11, 16);
    return `<text x="${x(at)}" y="${size.height - 2}" text-anchor="${anchor}">${time}</text>`;
  });
  const areas = layers.map((points, index) => {
    const color = colorOf(series[index].name, index, overrides);
    const line = points.map(({ at, to }) => `${x(at).toFixed(1)} ${y(to).toFixed(1)}`).join('L');
    const back = points.toReversed().map(({ at, from }) => `${x(at).toFixed(1)} ${y(from).toFixed(1)}`);
    return `<path d="M${line}L${back.join('L')}Z" fill="${color}" opacity="${isStacked ? 0.25 : 0.06}"/><path d="M${line}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
  });
  const none = `<text x="${size.width / 2}" y="${size.height / 2}" text-anchor="middle">No data</text>`;
  const content = series.length > 0 ? [...lines, ...times, ...areas].join('') : none;
  return `<svg width="${size.width}" height="${size.height}" fill="${theme.faint}" font-size="10">${content}</svg>`;
}

/** The next number that an axis can end at. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 4, 5, 8, 10].map((factor) => factor * power).find((top) => top >= value);
}

function formatted(value, unit) {
  if (unit === 's') {
    if (value === 0) return '0 s';
    if (value < 1) return `${Math.round(value * 1000)} ms`;
    return value < 120 ? `${Number(value.toPrecision(3))} s` : `${Number((value / 60).toPrecision(3))} min`;
  }
  return `${Number(value.toPrecision(3))}${{ reqps: ' req/s', ops: ' ops/s', cps: ' /s' }[unit] ?? ''}`;
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
