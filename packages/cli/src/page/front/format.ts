const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Returns the time of day in UTC and marked so, as the terminal, the captures and the JSON lines show it. */
export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)}Z`;
}

export function dateAndTimeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 10)} ${timeOf(ms)}`;
}

/** Returns `1 h 30 min`, `12 s`, `80 ms`: the two largest units. */
export function durationOf(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  const parts: [number, string][] = [
    [Math.floor(ms / HOUR), 'h'],
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

/** `1 attempt`, `2 attempts`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : several}`;
}
