const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns `2 d 5 h`, `36 h`, `1 h 30 min`, `12 s`, `80 ms`: the two largest units, days from 2 on. */
export function durationOf(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  const isLong = ms >= 2 * DAY;
  const parts: [number, string][] = [
    [isLong ? Math.floor(ms / DAY) : 0, 'd'],
    [Math.floor((isLong ? ms % DAY : ms) / HOUR), 'h'],
    [Math.floor((ms % HOUR) / MINUTE), 'min'],
    [Math.floor((ms % MINUTE) / SECOND), 's'],
  ];
  const from = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
