/** Returns the time of day in UTC and marked so, as the terminal, the captures and the JSON lines show it. */
export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)}Z`;
}

export function dateAndTimeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 10)} ${timeOf(ms)}`;
}

/** `1 attempt`, `2 attempts`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : several}`;
}
