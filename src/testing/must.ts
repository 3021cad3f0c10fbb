/** A case of a suite has found something wrong. */
export class BrokenRule extends Error {}

/** Throws unless it holds; the case that is running adds its rule. */
export function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (holds) return;
  const text = typeof found === 'string' ? found : JSON.stringify(found);
  throw new BrokenRule(text === undefined ? what : `${what}, got ${text}`);
}
