/** Returns a text, or its beginning with a mark where it is longer. */
export function shortened(text: string, length = 200): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Returns a number of things: `1 request`, `2 requests`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the time of day for people: in UTC, and marked so. */
export function timeOfDay(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)}Z`;
}
