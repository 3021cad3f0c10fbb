/** The error of a case that has found a broken rule. */
export class BrokenRule extends Error {}

/** Throws unless the condition is true; the running case adds its rule to the error. */
export function must(holds: boolean, what: string, found?: unknown): asserts holds {
  if (holds) return;
  const text = typeof found === 'string' ? found : JSON.stringify(found);
  throw new BrokenRule(text === undefined ? what : `${what}, got ${text}`);
}
